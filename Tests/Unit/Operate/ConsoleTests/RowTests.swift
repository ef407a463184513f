/// Which row of the console a path is about.
import Testing

@testable import Console

@Suite struct RowTests {
  @Test(arguments: MenuEntry.allCases) func everyEntryOfTheMenuHasItsRow(entry: MenuEntry) {
    let row = ConsoleRow.find(entry.path.text)?.row
    #expect(row?.needsDevices == entry.needsDevices)
    let json = ConsoleRow.find(entry == .overview ? "/api/overview" : "/api\(entry.path.text)")?.row
    #expect(json?.needsDevices == entry.needsDevices)
  }

  @Test(arguments: [
    "/sessions/7/end", "/keys/abc/revoke", "/devices/x/confirm", "/devices/x/revoke", "/approvals/x/confirm",
    "/approvals/x/refuse", "/configuration/reload", "/drain", "/undrain", "/drain/end",
    "/api/keys/abc/revoke", "/devices/pair", "/devices/pair/x", "/devices/pair/x/end",
  ])
  func whatCanBeChanged(path: String) {
    #expect(ConsoleRow.find(path)?.row.change != nil)
  }

  @Test(arguments: [
    "/", "/sessions", "/keys", "/keys/export", "/keys/abc", "/devices", "/approvals/x", "/audit/export",
    "/refusals", "/configuration", "/search",
  ])
  func whatCanOnlyBeLookedAt(path: String) {
    let row = ConsoleRow.find(path)?.row
    #expect(row != nil && row?.change == nil)
  }

  @Test func whatStandsInAPathIsHandedOn() {
    #expect(ConsoleRow.find("/sessions/18446744073709551615")?.argument.number == .max)
    #expect(ConsoleRow.find("/keys/a-b_c")?.argument.name == "a-b_c")
    // Nothing is decoded, and an export is no key.
    #expect(ConsoleRow.find("/keys/%2E%2E")?.argument.name == "%2E%2E")
    #expect(ConsoleRow.find("/keys/export")?.argument.name == "")
  }

  @Test(arguments: [
    "", "//", "/api", "/api/", "/api/api/keys", "/overview", "/sessions/", "/sessions/07", "/sessions/+7",
    "/sessions/x", "/sessions/7/", "/sessions/7/begin", "/keys/a/b", "/keys/a/revoke/", "/audit/import",
    "/configuration/", "/drain/all", "/sign-in/x",
  ])
  func whatIsNobodys(path: String) {
    #expect(ConsoleRow.find(path) == nil)
  }
}

/// App ids and environments.
import Testing

@testable import Bytes
@testable import Identity

@Suite struct IdentityTests {
  @Test(arguments: [
    "ABCDE12345.com.example.app", "0123456789.a", "ABCDE12345.with-hyphen.and_underscore",
    "ABCDE12345." + String(repeating: "a", count: 155),
  ])
  func accepted(_ text: String) throws {
    let app = try #require(AppID(text))
    #expect(app.description == text)
  }

  @Test(arguments: [
    "", "ABCDE12345", "ABCDE12345.", "ABCDE12345..", "ABCDE12345.a..b", "ABCDE12345..a",
    ".com.example", "ABCDE1234.com.example", "ABCDE123456.com.example",
    "abcde12345.com.example", "ABCDE1234\u{212A}.com.example", "ABCDE12345.com.example ",
    "ABCDE12345.com/example",
    "ABCDE12345.\u{E9}", "ABCDE12345.a\0", "ABCDE12345.*", "ABCDE12345." + String(repeating: "a", count: 156),
  ])
  func refused(_ text: String) {
    #expect(AppID(text) == nil)
  }

  /// The lengths that Apple gives, and one less and one more.
  @Test func lengths() {
    for (count, isRight) in [(9, false), (10, true), (11, false)] {
      let team = String(repeating: "A", count: count)
      #expect(AppID.isTeamID(team) == isRight)
      #expect((AppID(teamID: team, bundleID: "a") != nil) == isRight, "a team of \(count)")
    }
    for (count, isRight) in [(0, false), (1, true), (154, true), (155, true), (156, false)] {
      let bundle = String(repeating: "a", count: count)
      #expect(AppID.isBundleID(bundle) == isRight)
      #expect((AppID(teamID: "ABCDE12345", bundleID: bundle) != nil) == isRight, "a bundle of \(count)")
    }
  }

  /// SHA-256 of the text, by `printf %s ABCDE12345.com.example.mud | sha256sum`.
  @Test func hash() throws {
    let app = try #require(AppID(teamID: "ABCDE12345", bundleID: "com.example.mud"))
    #expect(app.rpIDHash.hex == "f10c437d24f29a09f75c26cd19a32f0cc869f44b4c5021ebd0be41a747fb093b")
    #expect(app == AppID("ABCDE12345.com.example.mud"))
    #expect(app != AppID("ABCDE12345.com.example.Mud"))
  }

  @Test func environments() {
    for environment in AttestEnvironment.allCases {
      let aaguid = environment.aaguid
      #expect(aaguid.count == 16)
      let found = AttestEnvironment(aaguid: aaguid.span)
      #expect(found == environment)
      for index in aaguid.indices {
        var changed = aaguid
        changed[index] ^= 1
        let other = AttestEnvironment(aaguid: changed.span)
        #expect(other == nil)
      }
    }
  }
}

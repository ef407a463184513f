/// What is done at the console stands in the audit under the name that the operator has there.
import Bytes
import DeviceWire
import System
import Testing

@testable import Registry

@Suite struct ConsoleActorTests {
  private let registry: RegistryHarness

  init() throws {
    registry = try RegistryHarness()
  }

  private func lastRow() throws -> String {
    guard case .text(let text, _) = try registry.store.auditRows(after: 0, limit: 1000).last?.content else {
      return ""
    }
    return String(decoding: text, as: UTF8.self)
  }

  @Test func anActionNamesItsActor() throws {
    try registry.run(
      NoteOperatorAction(.sessionEnded, [.number("session", 17)]), from: .console(name: "alice", user: 1000))
    #expect(
      try lastRow()
        == #"{"actor":"alice","at":1771286400,"event":"session_ended","session":17,"uid":1000}"#)
    // A token is no user of the host.
    try registry.run(NoteOperatorAction(.drainBegun), from: .console(name: "ci", user: nil))
    #expect(try lastRow() == #"{"actor":"ci","at":1771286400,"event":"drain_begun"}"#)
  }

  /// A row that could not be written would end the process.
  @Test(arguments: [
    "a\r\nb", "\u{202E}gnp.exe", "\u{0}", "\u{FFFF}", "\u{E0001}x", String(repeating: "a", count: 64),
  ])
  func noNameBreaksTheAudit(name: String) throws {
    try registry.run(NoteOperatorAction(.drainBegun), from: .console(name: name, user: 1000))
    let row = try lastRow()
    #expect(row.contains(#""event":"drain_begun""#))
    #expect(!row.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
  }
}

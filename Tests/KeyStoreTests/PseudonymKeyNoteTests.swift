import Bytes
import System
import Testing

@testable import KeyStore

/// The note that there is a key for pseudonyms (docs/key-store.md, "The pseudonym key"): a line of the key file, durable
/// when it was said to be, and for ever.
@Suite struct PseudonymKeyNoteTests {
  private static let line = "\"pseudonymKeyMadeAt\":\"2026-02-17T00:16:40.000Z\""

  @Test func aLineBeforeTheKeys() throws {
    let bench = Bench()
    let store = try bench.open()
    #expect(store.pseudonymKeyMadeAt == nil)
    try store.notePseudonymKey(now: bench.clock.wall())
    let noted = try #require(store.pseudonymKeyMadeAt)
    #expect(noted == bench.clock.wall())
    #expect(bench.snapshotText() == "{\n\(Self.line)\n}\n")
    // A second one changes nothing.
    bench.clock.advance(.seconds(5))
    try store.notePseudonymKey(now: bench.clock.wall())
    #expect(store.pseudonymKeyMadeAt == noted)

    #expect(store.register(newKey(1)) { _ in } == .accepted(isNew: true))
    #expect(store.close())
    let lines = bench.snapshotText().split(separator: "\n")
    #expect(lines.count == 4 && lines[1] == Self.line + "," && lines[2].contains("publicKey"))
    let again = try bench.open()
    #expect(again.pseudonymKeyMadeAt == noted && again.find(identifier(1)) != nil)
    let read = try KeyStoreReader.read(storePath, files: bench.files, entropy: TestEntropy(seed: 1))
    #expect(read.pseudonymKeyMadeAt == noted && read.count == 1)
  }

  /// What the journal holds when it is noted goes into the same file.
  @Test func notedAfterARecovery() throws {
    let bench = Bench()
    let store = try bench.open()
    #expect(store.register(newKey(1)) { _ in } == .accepted(isNew: true))
    store.commitAll()
    bench.files.restart()
    let second = try bench.open()
    try second.notePseudonymKey(now: bench.clock.wall())
    #expect(second.advance(1, to: 7) == .accepted)
    second.commitAll()
    bench.files.restart()
    let third = try bench.open()
    #expect(third.find(identifier(1))?.signCount == 7 && third.pseudonymKeyMadeAt != nil)
    #expect(third.close())
    #expect(bench.files.names.filter { $0.contains("journal") }.isEmpty)
  }

  /// Whatever fails at whatever call: once it was said to be noted, it is.
  @Test(arguments: [PowerLossFiles.Fault.powerLoss, .kill, .noSpace, .inputOutput, .short], 0..<4)
  func durable(fault: PowerLossFiles.Fault, seed: UInt64) throws {
    var wasNoted = (yes: 0, no: 0)
    for call in 0..<60 {
      let bench = Bench(files: PowerLossFiles(seed: seed &* 1000 &+ UInt64(call)))
      bench.files.plan([call: fault])
      var isNoted = false
      if let store = try? bench.open() {
        isNoted = (try? store.notePseudonymKey(now: bench.clock.wall())) != nil
        _ = store.register(newKey(1)) { _ in }
        _ = store.commitOnce()
        _ = store.attemptSnapshot(recovering: false)
      }
      if fault == .powerLoss { bench.files.reboot() } else { bench.files.restart() }
      bench.files.plan([:])
      let found = try bench.open().pseudonymKeyMadeAt != nil
      #expect(found || !isNoted, "\(fault) at call \(call)")
      if isNoted { wasNoted.yes += 1 } else { wasNoted.no += 1 }
    }
    #expect(wasNoted.yes > 5 && (wasNoted.no > 5 || fault == .short))
  }

  @Test(arguments: [
    ("{\(line),\(line)}", "a member name comes twice", 50),
    ("{\"pseudonymKeyMadeAt\":\"yesterday\"}", "not a timestamp of RFC 3339", 23),
    ("{\"pseudonymKeyMadeAt\":null}", "a byte that cannot stand here", 22),
    ("{\"pseudonymKeyMadeAt\":\"2026-02-17T00:16:40.000Z", "the text ends too soon", 47),
  ])
  func refused(text: String, reason: String, offset: Int64) throws {
    let bytes = Array(text.utf8)
    let bench = Bench()
    bench.files.place(storePath, bytes)
    #expect(throws: KeyStoreError.damagedSnapshot(file: storePath, offset: offset, reason: reason)) {
      try bench.open()
    }
  }

  /// It may stand anywhere, as a file edited by hand has it.
  @Test func behindAKey() throws {
    let bench = Bench()
    let store = try bench.open()
    #expect(store.register(newKey(1)) { _ in } == .accepted(isNew: true))
    #expect(store.close())
    let text = bench.snapshotText().dropLast(3) + ",\n" + Self.line + "}"
    bench.files.place(storePath, Array(text.utf8))
    #expect(try bench.open().pseudonymKeyMadeAt == UnixTime(timestamp: "2026-02-17T00:16:40.000Z"))
  }
}

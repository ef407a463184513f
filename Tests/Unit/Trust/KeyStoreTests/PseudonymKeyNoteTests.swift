import Bytes
import Kit
import System
import Testing
import Time

@testable import KeyStore

/// The note that there is a key for pseudonyms (docs/key-store.md, "The pseudonym key"): a file beside the key file, durable
/// when it was said to be, and for ever. Older versions have it as a line of the key file.
@Suite struct PseudonymKeyNoteTests {
  private static let line = "\"pseudonymKeyMadeAt\":\"2026-02-17T00:00:00.000Z\""

  private static let path = storePath + ".pseudonym-key-made"

  @Test func aFileOfItsOwn() throws {
    let bench = Bench()
    let store = try bench.open()
    #expect(store.pseudonymKeyMadeAt == nil)
    try store.notePseudonymKey(now: bench.clock.wall())
    let noted = try #require(store.pseudonymKeyMadeAt)
    #expect(noted == bench.clock.wall())
    #expect(bench.files.contents(of: Self.path) == Array("2026-02-17T00:00:00.000Z\n".utf8))
    // A second one changes nothing.
    bench.clock.advance(.seconds(5))
    try store.notePseudonymKey(now: bench.clock.wall())
    #expect(store.pseudonymKeyMadeAt == noted)

    #expect(store.register(newKey(1)) { _ in } == .accepted(isNew: true))
    #expect(store.close())
    // All that the key file holds is keys.
    let lines = bench.snapshotText().split(separator: "\n")
    #expect(lines.count == 3 && lines[1].contains("publicKey"))
    let again = try bench.open()
    #expect(again.pseudonymKeyMadeAt == noted && again.find(identifier(1)) != nil)
    let read = try KeyStoreReader.read(storePath, files: bench.files, entropy: TestEntropy(seed: 1))
    #expect(read.pseudonymKeyMadeAt == noted && read.count == 1)
  }

  /// From the line of an older version, which stays until the file is durable, with the time that it tells.
  @Test(arguments: [PowerLossFiles.Fault.powerLoss, .kill, .noSpace, .inputOutput], 0..<4)
  func aLineBecomesAFile(fault: PowerLossFiles.Fault, seed: UInt64) throws {
    var hasMoved = (yes: 0, no: 0)
    for call in 0..<40 {
      let bench = Bench(files: PowerLossFiles(seed: seed &* 1000 &+ UInt64(call)))
      bench.files.place(storePath, Array("{\n\(Self.line)\n}\n".utf8))
      bench.clock.advance(.seconds(60))
      bench.files.plan([call: fault])
      let isMoved = (try? bench.open().notePseudonymKey(now: bench.clock.wall())) != nil
      if fault == .powerLoss { bench.files.reboot() } else { bench.files.restart() }
      bench.files.plan([:])
      let read = try KeyStoreReader.read(storePath, files: bench.files, entropy: TestEntropy(seed: 1))
      #expect(read.pseudonymKeyMadeAt?.timestamp == "2026-02-17T00:00:00.000Z", "\(fault) at call \(call)")
      if isMoved {
        #expect(bench.snapshotText() == "{\n}\n")
        hasMoved.yes += 1
      } else {
        hasMoved.no += 1
      }
    }
    #expect(hasMoved.yes > 0 && hasMoved.no > 5)
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
    ("{\"pseudonymKeyMadeAt\":\"2026-02-17T00:00:00.000Z", "the text ends too soon", 47),
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
    #expect(try bench.open().pseudonymKeyMadeAt == UnixTime(timestamp: "2026-02-17T00:00:00.000Z"))
  }
}

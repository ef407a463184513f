import Kit
import System
import Testing

@testable import KeyStore

/// A store that was there and is gone (docs/key-store.md, "A store that is gone"): a missing file is a first start only where
/// nothing shows that there was one.
@Suite struct GoneStoreTests {
  private static let mark = storePath + ".made"

  private func read(_ bench: Bench, witness: String? = nil) throws(KeyStoreError) -> Int {
    try KeyStoreReader.read(storePath, witness: witness, files: bench.files, entropy: TestEntropy(seed: 1))
      .count
  }

  @Test func aStoreThatWasMadeIsMissed() throws {
    let bench = Bench()
    let store = try bench.open()
    try store.noteMade(now: bench.clock.wall())
    #expect(bench.files.contents(of: Self.mark) == Array("2026-02-17T00:00:00.000Z\n".utf8))
    #expect(bench.snapshotText() == "{\n}\n")
    #expect(store.register(newKey(1)) { _ in } == .accepted(isNew: true))
    #expect(store.close())
    try bench.files.remove(storePath)
    let names = bench.files.names
    let gone = KeyStoreError.gone(storePath, evidence: Self.mark)
    #expect(throws: gone) { try bench.open() }
    #expect(throws: gone) { try read(bench) }
    #expect(bench.files.names == names)
    // What the message says: an empty file is an order to begin anew.
    bench.files.place(storePath, [])
    #expect(try read(bench) == 0)
    let second = try bench.open()
    try second.noteMade(now: bench.clock.wall())
    #expect(second.find(identifier(1)) == nil && second.close())
  }

  /// Stores of older versions have no mark: what the first start makes after the lock stands in for it.
  @Test(arguments: [(true, true, true), (true, false, false), (false, true, false), (false, false, false)])
  func withoutTheMark(hasLock: Bool, hasKey: Bool, isGone: Bool) throws {
    let bench = Bench()
    let key = "/store/device-pseudonym.key"
    if hasLock { bench.files.place(storePath + ".lock", Array("17\n".utf8)) }
    if hasKey { bench.files.place(key, [UInt8](repeating: 1, count: 32)) }
    let options = KeyStore.Options(witness: key)
    if isGone {
      let gone = KeyStoreError.gone(storePath, evidence: key)
      #expect(throws: gone) { try read(bench, witness: key) }
      #expect(throws: gone) { try bench.open(options) }
    } else {
      #expect(try read(bench, witness: key) == 0)
      #expect(try bench.open(options).close())
    }
  }

  /// Never a mark without a store: whatever fails at whatever call of a first start, the next one starts.
  @Test(arguments: [PowerLossFiles.Fault.powerLoss, .kill, .noSpace, .inputOutput, .short], 0..<4)
  func aFirstStartThatFails(fault: PowerLossFiles.Fault, seed: UInt64) throws {
    var wasNoted = (yes: 0, no: 0)
    for call in 0..<40 {
      let bench = Bench(files: PowerLossFiles(seed: seed &* 1000 &+ UInt64(call)))
      bench.files.plan([call: fault])
      let isNoted = (try? bench.open().noteMade(now: bench.clock.wall())) != nil
      if fault == .powerLoss { bench.files.reboot() } else { bench.files.restart() }
      bench.files.plan([:])
      #expect(!isNoted || bench.files.contents(of: Self.mark) != nil, "\(fault) at call \(call)")
      let store = try bench.open()
      try store.noteMade(now: bench.clock.wall())
      if isNoted { wasNoted.yes += 1 } else { wasNoted.no += 1 }
    }
    #expect(wasNoted.yes > 5 && (wasNoted.no > 5 || fault == .short))
  }

  /// Restored with all that lay beside it, or alone: both are a store.
  @Test func whatWasRestoredIsTaken() throws {
    for hasMark in [true, false] {
      let bench = Bench()
      if hasMark { bench.files.place(Self.mark, Array("2026-02-17T00:00:00.000Z\n".utf8)) }
      bench.files.place(storePath, Array("{}\n".utf8))
      let store = try bench.open()
      try store.noteMade(now: bench.clock.wall())
      #expect(bench.files.contents(of: Self.mark) != nil && store.close())
    }
  }
}

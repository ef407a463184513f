import Bytes
import Foundation
import Kit
import Synchronization
import Time
import Testing

@testable import KeyStore

/// Loses power, fails and shortens calls at every place, and asks after each: is everything there that was
/// acknowledged? (docs/key-store.md, "Durability")
@Suite struct PowerLossTests {
  @Test(arguments: 0..<6) func powerLossAtEveryCall(seed: Int) throws {
    try sweep(seed) { [$0: .powerLoss] }
  }

  @Test(arguments: 0..<3) func killAtEveryCall(seed: Int) throws {
    try sweep(seed) { [$0: .kill] }
  }

  @Test(arguments: 0..<3) func noSpaceAtEveryCall(seed: Int) throws {
    try sweep(seed) { [$0: .noSpace] }
  }

  @Test(arguments: 0..<3) func inputOutputErrorAtEveryCall(seed: Int) throws {
    try sweep(seed) { [$0: .inputOutput] }
  }

  @Test func shortWriteAtEveryCall() throws {
    try sweep(20) { [$0: .short] }
  }

  @Test(arguments: 0..<4) func outageThenPowerLoss(seed: Int) throws {
    try sweep(30 + seed) { call in
      var random = SplitMix(seed: UInt64(seed * 10_007 + call))
      var faults: [Int: PowerLossFiles.Fault] = [:]
      for step in 0..<Int(random.next() % 6 + 1) {
        faults[call + step] = [.inputOutput, .noSpace, .kill][seed % 3]
      }
      faults[call + faults.count + Int(random.next() % 12)] = .powerLoss
      return faults
    }
  }

  /// Faults of all kinds at random calls, and a power cut in most of the runs. `make faults` runs 10,000 of them.
  @Test(arguments: 0..<8) func randomSchedules(part: Int) throws {
    let count = Int(ProcessInfo.processInfo.environment["PORTCULLIS_SCHEDULES"] ?? "") ?? 2000
    var losses = 0
    for number in stride(from: part, to: count, by: 8) {
      let story = Story(seed: 1_000_000 + number, faults: Self.randomFaults(number))
      story.run()
      losses += story.lostPower ? 1 : 0
      do {
        try story.verify()
      } catch {
        Issue.record("schedule \(number): \(error)")
        return
      }
    }
    #expect(losses > count / 8 / 2)
  }

  private static func randomFaults(_ number: Int) -> [Int: PowerLossFiles.Fault] {
    var random = SplitMix(seed: UInt64(number) &* 0x5851_F42D_4C95_7F2D)
    var faults: [Int: PowerLossFiles.Fault] = [:]
    for _ in 0..<random.next() % 12 {
      let call = Int(random.next() % 250)
      let fault: PowerLossFiles.Fault = [.inputOutput, .noSpace, .kill, .short][Int(random.next() % 4)]
      // A disk that is full stays so for a while.
      for step in 0..<Int(random.next() % 8 + 1) { faults[call + step] = fault == .kill ? nil : fault }
      faults[call] = fault
    }
    faults[Int(random.next() % 180)] = .powerLoss
    return faults
  }

  /// Runs the story once without faults to learn how many calls it makes, then once for each of them.
  private func sweep(_ seed: Int, _ faults: (Int) -> [Int: PowerLossFiles.Fault]) throws {
    let calm = Story(seed: seed, faults: [:])
    calm.run()
    try calm.verify()
    let calls = calm.calls
    #expect(calls > 150)
    for call in 0..<calls {
      let story = Story(seed: seed, faults: faults(call))
      story.run()
      do {
        try story.verify()
      } catch {
        Issue.record("seed \(seed), call \(call): \(error)")
        return
      }
    }
  }
}

/// Random changes to a few keys, with what was acknowledged and what was attempted kept beside them.
private final class Story {
  struct Violation: Error, CustomStringConvertible { let description: String }

  /// What must be, and what may be.
  struct Expectation: Sendable {
    var mustExist = false
    var mayExist = false
    var leastCount: UInt32 = 0
    var greatestCount: UInt32 = 0
    var mustBeRevoked = false
    var mayBeRevoked = false
    /// Raised by a prune, so that an acknowledgement from before it counts no more.
    var life = 0
  }

  private final class Ledger: Sendable {
    private let all = Mutex<[Int: Expectation]>([:])

    func withLock<Result: Sendable>(_ body: (inout sending [Int: Expectation]) -> sending Result) -> Result {
      all.withLock(body)
    }
  }

  private let bench: Bench
  private var random: SplitMix
  private let expected = Ledger()
  private(set) var calls = 0
  var lostPower: Bool { bench.files.isOff }

  init(seed: Int, faults: [Int: PowerLossFiles.Fault]) {
    bench = Bench(files: PowerLossFiles(seed: UInt64(seed) &* 77 &+ UInt64(faults.keys.min() ?? 0)))
    bench.files.plan(faults)
    random = SplitMix(seed: UInt64(seed))
  }

  func run() {
    var store = try? bench.open()
    for step in 0..<110 where !bench.files.isOff {
      if bench.files.isKilled {
        store = nil
        bench.files.restart()
      }
      // A failed start is tried again, as a supervisor would.
      guard let open = store else {
        store = try? bench.open()
        continue
      }
      act(open, step)
      if step % 23 == 22 {
        if random.next() % 2 == 0 { open.close() }
        // Otherwise: kill -9.
        store = nil
      }
    }
    calls = bench.files.calls
  }

  private func act(_ store: KeyStore, _ step: Int) {
    let key = Int(random.next() % 5)
    switch random.next() % 12 {
    case 0, 1: register(store, key)
    case 2, 3, 4: advance(store, key)
    case 5 where key == 0: revoke(store, key)
    case 6 where step % 3 == 0: prune(store)
    case 7, 8: _ = store.commitOnce()
    case 9:
      bench.clock.advance(.milliseconds(Int64(random.next() % 40_000)))
      _ = store.snapshotStep()
    default: store.commitAll()
    }
  }

  private func register(_ store: KeyStore, _ key: Int) {
    // An attempt may reach the disk even if it fails, and its completion may come before it returns: say so
    // first.
    let life = expected.withLock { all in
      all[key, default: Expectation()].mayExist = true
      return all[key]?.life
    }
    _ = store.register(newKey(key, at: bench.clock.wall())) { [expected] result in
      guard result == .committed else { return }
      expected.withLock { if $0[key]?.life == life { $0[key]?.mustExist = true } }
    }
  }

  private func advance(_ store: KeyStore, _ key: Int) {
    guard let record = store.find(identifier(key)) else { return }
    let count = record.signCount + UInt32(random.next() % 3 + 1)
    let life = expected.withLock { all in
      let greatest = all[key]?.greatestCount ?? 0
      all[key]?.greatestCount = max(greatest, count)
      return all[key]?.life
    }
    _ = store.advance(key, to: count) { [expected] result in
      guard result == .committed else { return }
      expected.withLock { all in
        guard let before = all[key], before.life == life else { return }
        all[key]?.mustExist = true
        all[key]?.leastCount = max(before.leastCount, count)
      }
    }
  }

  private func revoke(_ store: KeyStore, _ key: Int) {
    expected.withLock { $0[key, default: Expectation()].mayBeRevoked = true }
    _ = store.revoke(identifier(key), now: bench.clock.wall()) { [expected] result in
      guard result == .committed else { return }
      expected.withLock { $0[key]?.mustBeRevoked = true }
    }
  }

  private func prune(_ store: KeyStore) {
    let before = (0..<5).filter { store.find(identifier($0)) != nil }
    let cutoff = UnixTime(milliseconds: bench.clock.wall().milliseconds - 60_000)
    let lives = expected.withLock { $0.mapValues(\.life) }
    _ = store.prune(unusedSince: cutoff) { _ in }
    for key in before where store.find(identifier(key)) == nil {
      expected.withLock { all in
        all[key]?.mustExist = false
        all[key]?.leastCount = 0
        all[key]?.life = (lives[key] ?? 0) + 1
      }
    }
  }

  /// After the lights come back: twice, the first recovery being interrupted too.
  func verify() throws {
    bench.files.reboot()
    bench.files.plan([Int(random.next() % 30): .powerLoss])
    if let store = try? bench.open() {
      store.commitAll()
      bench.clock.advance(.seconds(60))
      _ = store.snapshotStep()
    }
    bench.files.reboot()
    let store: KeyStore
    do {
      store = try bench.open()
    } catch {
      throw Violation(description: "does not open: \(error)")
    }
    for (key, expectation) in expected.withLock({ $0 }) { try check(key, expectation, store) }
    guard store.close() else { throw Violation(description: "does not close: \(bench.events.all.suffix(3))") }
    let left = bench.files.names
    guard left.allSatisfy({ $0 == storePath }) else { throw Violation(description: "left behind: \(left)") }
  }

  private func check(_ key: Int, _ expectation: Expectation, _ store: KeyStore) throws {
    guard let record = store.find(identifier(key)) else {
      if expectation.mustExist { throw Violation(description: "key \(key) is lost") }
      return
    }
    guard expectation.mayExist else { throw Violation(description: "key \(key) was never there") }
    guard record.signCount >= expectation.leastCount, record.signCount <= expectation.greatestCount else {
      throw Violation(
        description: "key \(key): counter \(record.signCount) is not within "
          + "\(expectation.leastCount)...\(expectation.greatestCount)")
    }
    if expectation.mustBeRevoked, record.revokedAt == nil {
      throw Violation(description: "\(key) lost its revocation")
    }
    if !expectation.mayBeRevoked, record.revokedAt != nil {
      throw Violation(description: "\(key) was not revoked")
    }
    guard record.publicKey == point(key) else {
      throw Violation(description: "key \(key) has another's point")
    }
  }
}

/// A key store of many keys: how long it loads, what a key takes, how fast one is found, and how much of the
/// time goes into snapshots while counters go up.
internal import Bytes
internal import Crypto
internal import Identity
internal import KeyStore
internal import System
internal import Time

enum StoreMeasure {
  static func file(in folder: String) -> String { "\(folder)/attested-keys.json" }

  /// Key `number`, the same in each process. No device has it: the store neither knows nor asks.
  static func key(_ number: Int) -> NewKey {
    let seed = withNumber(number, salt: 1)
    let point = P256Point(x: seed, y: withNumber(number, salt: 2))
    return NewKey(
      identifier: KeyIdentifier(SHA256.hash(point.x963.span)), publicKey: point, appID: AssertionMeasure.app,
      environment: .production, registeredAt: UnixTime(milliseconds: 1_771_286_400_000))
  }

  private static func withNumber(_ number: Int, salt: UInt8) -> Bytes32 {
    let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } + [salt]
    return SHA256.hash(bytes.span)
  }

  /// As `serve` opens it.
  static func open(
    _ folder: String, durability: KeyStore.Options.Durability,
    report: @escaping @Sendable (KeyStoreEvent) -> Void = { _ in }
  ) throws -> KeyStore {
    let options = KeyStore.Options(
      durability: durability, fingerprint: { point in SHA256.hash(point.x963.span) })
    return try KeyStore.open(path: file(in: folder), options: options, report: report)
  }

  static func make(folder: String, keys: Int) throws -> Report {
    let store = try open(folder, durability: .relaxed)
    for number in 0..<keys {
      let verdict = store.register(key(number)) { _ in }
      guard verdict == .accepted(isNew: true) else { throw Broken("key \(number): \(verdict)") }
    }
    guard store.close() else { throw Broken("the store did not close cleanly") }
    return Report(("keys", Double(keys)))
  }

  static func run(folder: String, seconds: Double) throws -> Report {
    let snapshots = Monitor<[(end: MonotonicTime, duration: Duration)]>([])
    let before = try Memory.residentBytes()
    let clock = WallClock()
    let store = try open(folder, durability: .relaxed) { event in
      guard case .snapshotWritten(_, _, let duration) = event else { return }
      snapshots.withLock { all, _ in all.append((SystemClock().monotonic(), duration)) }
    }
    let load = clock.seconds
    let resident = try Memory.residentBytes() - before
    let keys = store.statistics.keys
    let lookup = try lookups(store, keys)
    let share = try snapshotShare(store, keys, seconds: seconds, snapshots)
    guard store.close() else { throw Broken("the store did not close cleanly") }
    return Report(
      ("keys", Double(keys)), ("load_seconds", load), ("bytes_per_key", Double(resident) / Double(keys)),
      ("lookup_p50_us", lookup.median), ("lookup_p99_us", lookup.p99), ("clock_us", lookup.clock),
      ("snapshot_share", share?.share), ("snapshot_seconds", share?.duration))
  }

  /// Each one timed by itself, the clock's own time included; keys at random, so that caches do not help.
  private static func lookups(
    _ store: KeyStore, _ keys: Int
  ) throws -> (median: Double, p99: Double, clock: Double) {
    let clock = SystemClock()
    var random = SystemRandomNumberGenerator()
    let wanted = (0..<min(keys, 200_000)).map { _ in
      key(Int.random(in: 0..<keys, using: &random)).identifier
    }
    var times: [UInt64] = []
    var overhead: [UInt64] = []
    times.reserveCapacity(wanted.count)
    overhead.reserveCapacity(wanted.count)
    for identifier in wanted {
      let start = clock.monotonic().nanoseconds
      let record = store.find(identifier)
      let end = clock.monotonic().nanoseconds
      guard record != nil else { throw Broken("a key is not found") }
      times.append(end - start)
      overhead.append(clock.monotonic().nanoseconds - end)
    }
    times.sort()
    overhead.sort()
    return (
      Double(times[times.count / 2]) / 1000, Double(times[times.count * 99 / 100]) / 1000,
      Double(overhead[overhead.count / 2]) / 1000
    )
  }

  /// Counters go up at a steady rate; from the end of the first snapshot to the end of the last, what share was writing?
  /// More than one, as how long one takes, and with it the wait for the next, varies by a tenth. Nil when `seconds` have
  /// not seen as many.
  private static func snapshotShare(
    _ store: KeyStore, _ keys: Int, seconds: Double,
    _ snapshots: Monitor<[(end: MonotonicTime, duration: Duration)]>
  ) throws -> (share: Double, duration: Double)? {
    let clock = SystemClock()
    let started = clock.monotonic()
    let identifiers = (0..<min(keys, 10_000)).map { key($0).identifier }
    var counter: UInt32 = 0
    while clock.monotonic() - started < .nanoseconds(Int64(seconds * 1e9)) {
      let seen = snapshots.withLock { all, _ in all }
      if seen.count == Self.snapshots {
        let whole = (seen[seen.count - 1].end - seen[0].end).inSeconds
        let writing = seen.dropFirst().map(\.duration.inSeconds).reduce(0, +)
        return (writing / whole, writing / Double(seen.count - 1))
      }
      let turn = clock.monotonic()
      counter += 1
      try countUp(store, identifiers, to: counter)
      clock.sleep(until: turn + turnLength)
    }
    return nil
  }

  private static let snapshots = 4

  /// 10,000 admissions each tenth of a second: far more than one gate sees, so that the journal grows
  /// quickly.
  private static let turnLength = Duration.milliseconds(100)

  private static func countUp(_ store: KeyStore, _ identifiers: [KeyIdentifier], to counter: UInt32) throws {
    let now = SystemClock().wall()
    for identifier in identifiers {
      let verdict = store.advanceCounter(of: identifier, to: counter, now: now) { _ in }
      guard verdict == .accepted else { throw Broken("a counter was refused: \(verdict)") }
    }
  }
}

/// Durable counters a second on the disk at hand: one at a time, and with 64 under way, which share syncs.
internal import Bytes
internal import KeyStore
internal import System
internal import Time

enum CommitMeasure {
  private static let keys = 64

  private struct Flight {
    var underWay = 0
    var committed = 0
    var failed = 0
  }

  static func run(folder: String, seconds: Double) throws -> Report {
    let store = try StoreMeasure.open(folder, durability: .strict)
    let identifiers = (0..<keys).map { StoreMeasure.key($0).identifier }
    for number in 0..<keys {
      let flight = Monitor(Flight(underWay: 1))
      let verdict = store.register(StoreMeasure.key(number)) { _ in land(flight, .committed) }
      guard case .accepted = verdict else { throw Broken("a key was refused: \(verdict)") }
      wait(flight, until: 0)
    }
    let first = identifiers.compactMap { store.find($0)?.signCount }.max() ?? 0
    let (one, last) = try rate(store, identifiers, atOnce: 1, after: first, seconds: seconds)
    let (many, _) = try rate(store, identifiers, atOnce: keys, after: last, seconds: seconds)
    guard store.close() else { throw Broken("the store did not close cleanly") }
    return Report(("one_per_second", one), ("many_per_second", many))
  }

  /// - Returns: commits a second, and the highest counter used.
  private static func rate(
    _ store: KeyStore, _ identifiers: [KeyIdentifier], atOnce: Int, after first: UInt32, seconds: Double
  ) throws -> (Double, UInt32) {
    let flight = Monitor(Flight())
    let clock = WallClock()
    var started = 0
    var counter = first
    while clock.seconds < seconds {
      wait(flight, until: atOnce - 1)
      // A round of the keys has one counter, the next round the next.
      if started % identifiers.count == 0 { counter += 1 }
      let identifier = identifiers[started % identifiers.count]
      flight.withLock { state, _ in state.underWay += 1 }
      let verdict = store.advanceCounter(
        of: identifier, to: counter, now: SystemClock().wall()
      ) { result in land(flight, result) }
      guard verdict == .accepted else { throw Broken("a counter was refused: \(verdict)") }
      started += 1
    }
    wait(flight, until: 0)
    let elapsed = clock.seconds
    let (committed, failed) = flight.withLock { state, _ in (state.committed, state.failed) }
    guard failed == 0, committed == started else {
      throw Broken("\(committed) of \(started) commits, \(failed) failed")
    }
    return (Double(committed) / elapsed, counter)
  }

  private static func land(_ flight: Monitor<Flight>, _ result: CommitResult) {
    flight.withLock { state, wake in
      state.underWay -= 1
      if result == .committed { state.committed += 1 } else { state.failed += 1 }
      wake.one()
    }
  }

  private static func wait(_ flight: Monitor<Flight>, until count: Int) {
    flight.wait { state in state.underWay <= count ? .done(()) : .wait }
  }
}

/// Calls of the registry that change something, a second, on the disk at hand: one at a time, and with 64 under way, which
/// share syncs.
internal import Bytes
internal import Registry
internal import System
internal import Time

enum RegistryCommitMeasure {
  private static let atOnce = 64

  private struct Flight {
    var underWay = 0
    var answered = 0
    var refused = 0
  }

  /// What a vote costs the disk: a row that changes, and one of the audit.
  private struct Change: RegistryCall {
    let number: Int

    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      try transaction.store.setValue("bench \(number % 64)", Array("\(number)".utf8))
      try transaction.record(.init("bench"), .count(number))
      return .reply(.answered([]))
    }
  }

  private final class Deaf: RegistryListener {
    func hear(_ effect: RegistryEffect) {}
    func note(_ event: RegistryEvent) {}
  }

  static func run(folder: String, seconds: Double) throws -> Report {
    let registry = try Registry(
      RegistryDatabase("\(folder)/commits.db"), settings: RegistrySettings(publicURL: "https://gate.example"),
      clock: SystemClock(), entropy: KernelEntropy(), listener: Deaf())
    try registry.begin()
    defer { registry.stop() }
    let one = try rate(registry, atOnce: 1, seconds)
    let many = try rate(registry, atOnce: atOnce, seconds)
    return Report(("one_per_second", one), ("many_per_second", many))
  }

  private static func rate(_ registry: Registry, atOnce: Int, _ seconds: Double) throws -> Double {
    let flight = Monitor(Flight())
    let clock = WallClock()
    var started = 0
    while clock.seconds < seconds {
      wait(flight, until: atOnce - 1)
      flight.withLock { state, _ in state.underWay += 1 }
      let handle = registry.submit(Change(number: started), lane: .host, origin: .gate) { reply in
        flight.withLock { state, wake in
          state.underWay -= 1
          if case .answered = reply { state.answered += 1 } else { state.refused += 1 }
          wake.one()
        }
      }
      guard handle != nil else { throw Broken("the queue is full with \(atOnce) under way") }
      started += 1
    }
    wait(flight, until: 0)
    let elapsed = clock.seconds
    let (answered, refused) = flight.withLock { state, _ in (state.answered, state.refused) }
    guard refused == 0, answered == started else { throw Broken("\(answered) of \(started) answered") }
    return Double(answered) / elapsed
  }

  private static func wait(_ flight: Monitor<Flight>, until count: Int) {
    flight.wait { state in state.underWay <= count ? .done(()) : .wait }
  }
}

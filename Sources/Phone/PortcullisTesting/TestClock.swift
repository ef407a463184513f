/// A clock that stands still until a test moves it.
public import PortcullisClient

/// Time for a `GameSession` and an `AppKey`: nothing waits for anything but `advance(by:)`.
public final class TestClock: Sendable {
  private struct Sleeper {
    let number: Int
    let until: Double
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = 1_000.0
    var wall = 1_750_000_000.0
    var sleepers: [Sleeper] = []
    var cancelled: Set<Int> = []
    var numbers = 0
  }

  private let state = Locked(State())

  /// At some moment.
  public init() {}

  /// In seconds.
  public var now: Double { state.withLock { $0.now } }

  /// To be given to `GameSession` and `AppKey`.
  public var clock: GameClock {
    var clock = GameClock(
      now: { [state] in state.withLock { $0.now } },
      sleep: { [self] seconds in try await sleep(until: now + seconds) },
      wall: { [state] in state.withLock { $0.wall } })
    clock.sleepUntil = { [self] time in try await sleep(until: time) }
    return clock
  }

  /// Lets time go by: what waits for a moment up to the new one goes on.
  public func advance(by seconds: Double) {
    let woken = state.withLock { state -> [Sleeper] in
      state.now += seconds
      state.wall += seconds
      let now = state.now
      defer { state.sleepers.removeAll { $0.until <= now } }
      return state.sleepers.filter { $0.until <= now }.sorted { $0.until < $1.until }
    }
    for sleeper in woken { sleeper.continuation.resume() }
  }

  /// Sets the time of day, as a person does in the settings, and moves no other clock.
  /// - Parameter seconds: Unix time.
  public func setWall(_ seconds: Double) { state.withLock { $0.wall = seconds } }

  private func sleep(until: Double) async throws {
    let number = state.withLock { state in
      state.numbers += 1
      return state.numbers
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let outcome = state.withLock { state -> Result<Void, any Error>? in
          if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
          if until <= state.now { return .success(()) }
          state.sleepers.append(Sleeper(number: number, until: until, continuation: continuation))
          return nil
        }
        if let outcome { continuation.resume(with: outcome) }
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return nil
        }
        return state.sleepers.remove(at: index)
      }
      sleeper?.continuation.resume(throwing: CancellationError())
    }
  }
}

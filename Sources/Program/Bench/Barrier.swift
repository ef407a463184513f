/// Where threads wait for each other before each part of a load test, and get the part's pace and start.
internal import System
internal import Time

final class Barrier: Sendable {
  /// How a part begins, the same for all.
  struct Start: Sendable {
    let at: MonotonicTime
    let pace: Pace
  }

  private struct State {
    var arrived = 0
    /// How often all have been there, and what they were given the last time.
    var round = 0
    var start: Start?
  }

  private let parties: Int
  private let progress: BenchProgress
  private let state = Monitor(State())

  init(parties: Int, _ progress: BenchProgress) {
    self.parties = parties
    self.progress = progress
  }

  /// Returns once all are there.
  /// - Parameters:
  ///   - part: that begins then.
  ///   - rate: of the part, a second over all threads; 0 is none.
  func arrive(_ part: BenchProgress.Part, rate: Int) -> Start {
    let round = state.withLock { state, wake in
      let round = state.round
      state.arrived += 1
      if state.arrived == parties {
        let now = SystemClock().monotonic()
        state.arrived = 0
        state.round += 1
        state.start = Start(at: now, pace: Pace(rate: rate, from: now))
        progress.begin(part)
        wake.all()
      }
      return round
    }
    // The next round cannot open while one party is still here, so `start` is this round's.
    return state.wait { state in
      guard state.round > round, let start = state.start else { return .wait }
      return .done(start)
    }
  }
}

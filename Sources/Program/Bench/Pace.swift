/// When the next of many threads may go: an even rate, moved on as a whole when the gate asks for patience.
package import Time
internal import Synchronization

package final class Pace: Sendable {
  private struct State {
    var next: MonotonicTime
    /// Nothing starts before this, whatever the rate.
    var notBefore: MonotonicTime
  }

  private let state: Mutex<State>
  /// Zero: no rate.
  private let interval: Duration

  /// - Parameter rate: a second; 0 is none.
  package init(rate: Int, from start: MonotonicTime) {
    interval = rate > 0 ? .nanoseconds(1_000_000_000 / Int64(rate)) : .zero
    state = Mutex(State(next: start, notBefore: start))
  }

  /// The moment for which the caller's turn is due: possibly past, when the callers cannot keep up.
  package func turn(now: MonotonicTime) -> MonotonicTime {
    state.withLock { state in
      if interval == .zero { return max(now, state.notBefore) }
      let due = max(state.next, state.notBefore)
      state.next = due + interval
      return due
    }
  }

  /// No turn before `moment`.
  package func hold(until moment: MonotonicTime) {
    state.withLock { $0.notBefore = max($0.notBefore, moment) }
  }
}

/// A clock that stands still until a test moves it, however slow the machine is.
internal import Synchronization
package import Time

package final class ManualClock: Clock {
  private struct State {
    var monotonic: UInt64
    /// In milliseconds, before anything has passed.
    var wall: Int64
    /// In nanoseconds, and what looks have taken is not among it.
    var passed: UInt64 = 0
    var look: UInt64 = 0
  }

  private let state: Mutex<State>

  /// - Parameter wall: in milliseconds; 2026-02-17T00:00:00Z unless said otherwise.
  package init(nanoseconds: UInt64 = 5_000_000_000, wall: Int64 = 1_771_286_400_000) {
    state = Mutex(State(monotonic: nanoseconds, wall: wall))
  }

  package func monotonic() -> MonotonicTime {
    MonotonicTime(
      nanoseconds: state.withLock { state in
        state.monotonic += state.look
        return state.monotonic
      })
  }

  package func wall() -> UnixTime {
    UnixTime(milliseconds: state.withLock { $0.wall + Int64($0.passed / 1_000_000) })
  }

  /// Both clocks go on.
  package func advance(_ duration: Duration) {
    state.withLock { state in
      state.monotonic += duration.wholeNanoseconds
      state.passed += duration.wholeNanoseconds
    }
  }

  /// As an operator sets it, forwards or back: no time passes.
  package func setWall(by duration: Duration) {
    let (seconds, attoseconds) = duration.components
    state.withLock { $0.wall += seconds * 1000 + attoseconds / 1_000_000_000_000_000 }
  }

  /// From now on each look at the monotonic clock takes so long.
  package func slow(by duration: Duration) { state.withLock { $0.look = duration.wholeNanoseconds } }
}

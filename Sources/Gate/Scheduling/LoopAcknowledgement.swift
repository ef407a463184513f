/// What each loop has to say once in its next turn: that it turns, for the watchdog, or that it has taken a reload.
internal import Synchronization
internal import System
internal import Time

package final class LoopAcknowledgement: Sendable {
  private let missing: Mutex<Set<Int>>
  private let completed = Signal()

  package init(loops: Int) {
    missing = Mutex(Set(0..<loops))
  }

  package func acknowledge(by loop: Int) {
    let isLast = missing.withLock { missing in
      missing.remove(loop)
      return missing.isEmpty
    }
    if isLast { completed.ring() }
  }

  /// Those that have not acknowledged, in order.
  package var silentLoops: [Int] { missing.withLock { $0.sorted() } }

  package var isComplete: Bool { missing.withLock { $0.isEmpty } }

  /// Whether all have acknowledged in time. For one waiter.
  package func wait(within time: Duration) -> Bool {
    isComplete || completed.wait(until: SystemClock().monotonic() + time) || isComplete
  }
}

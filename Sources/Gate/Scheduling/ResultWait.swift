/// An answer that one thread waits for and another one gives.
internal import Synchronization
internal import System
internal import Time

/// What a thread of the store's comes to, for one that waits for it.
package final class ResultWait<Result: Sendable>: Sendable {
  private let result = Mutex<Result?>(nil)
  private let signal = Signal()

  package init() {}

  package func complete(_ result: Result) {
    self.result.withLock { $0 = result }
    signal.ring()
  }

  /// Nil when the time is over.
  package func wait(within time: Duration) -> Result? {
    let deadline = SystemClock().monotonic() + time
    while true {
      if let result = result.withLock({ $0 }) { return result }
      if !signal.wait(until: deadline) { return result.withLock { $0 } }
    }
  }
}

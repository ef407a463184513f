/// Lets one thread wait until so many things have happened on others.
internal import Synchronization
internal import System
internal import Time

package final class CountDownLatch: Sendable {
  private let missing: Mutex<Int>
  private let completed = Signal()

  package init(count: Int) {
    missing = Mutex(count)
  }

  /// One of them has happened.
  package func countDown() {
    let isLast = missing.withLock { missing in
      missing -= 1
      return missing == 0
    }
    if isLast { completed.ring() }
  }

  package var count: Int { missing.withLock { $0 } }

  /// Until all have happened or the time is over; how many are missing then. For one waiter.
  package func wait(within time: Duration) -> Int {
    if count == 0 { return 0 }
    completed.wait(until: SystemClock().monotonic() + time)
    return count
  }
}

/// One question to all loops, answered by each in its next turn: the proof that it turns, for a watchdog or a reload.
internal import Synchronization
internal import System

package final class RollCall: Sendable {
  private let missing: Mutex<Set<Int>>
  private let completed = Signal()

  init(loops: Int) {
    missing = Mutex(Set(0..<loops))
  }

  func answer(loop: Int) {
    let isLast = missing.withLock { missing in
      missing.remove(loop)
      return missing.isEmpty
    }
    if isLast { completed.ring() }
  }

  /// The loops that have not answered, in order.
  package var silentLoops: [Int] { missing.withLock { $0.sorted() } }

  package var isComplete: Bool { missing.withLock { $0.isEmpty } }

  /// Whether all have answered in time. For one waiter.
  package func wait(within time: Duration) -> Bool {
    isComplete || completed.wait(until: SystemClock().monotonic() + time) || isComplete
  }
}

extension Gate {
  /// Goes the way that all orders to loops go, through their mailboxes; a loop that has ended does not answer.
  package func callRoll() -> RollCall {
    let roll = RollCall(loops: shared.mailboxes.count)
    shared.postToAll(.rollCall(roll))
    return roll
  }
}

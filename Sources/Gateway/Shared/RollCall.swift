/// One question to all loops, answered by each in its next turn: the proof that it turns, for a watchdog.
internal import Synchronization

package final class RollCall: Sendable {
  private let missing: Mutex<Set<Int>>

  init(loops: Int) {
    missing = Mutex(Set(0..<loops))
  }

  func answer(loop: Int) {
    missing.withLock { _ = $0.remove(loop) }
  }

  /// The loops that have not answered, in order.
  package var silentLoops: [Int] { missing.withLock { $0.sorted() } }

  package var isComplete: Bool { missing.withLock { $0.isEmpty } }
}

extension Gate {
  /// Goes the way that all orders to loops go, through their mailboxes; a loop that has ended does not answer.
  package func callRoll() -> RollCall {
    let roll = RollCall(loops: shared.mailboxes.count)
    shared.postToAll(.rollCall(roll))
    return roll
  }
}

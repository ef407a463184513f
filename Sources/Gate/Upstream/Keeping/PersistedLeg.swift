/// A leg to the game that outlives the process: what its session notes in its slot, and when (docs/sessions.md, "After a
/// crash").
///
/// A kill may come between any two instructions. So whatever somebody else may act on stands in the slot before they hear of
/// it, and what the kernel may have done is marked before it is asked:
///
///     mark, read from the game, telnet, count, note with what telnet answers → the app is sent it, the game the answer
///     mark with a number of messages, send to the game, note what it took → the app is told that they are handled
package import Keeping
package import Sockets
internal import System

package final class PersistedLeg {
  package let slot: Int
  private let storeClient: DescriptorStoreClient
  /// Nil once the slot says for good what the next process is to do with it.
  private var handle: SlotHandle?
  private var description: KeptDescription
  /// How many messages the slot says are handled.
  private var handled: Int
  package private(set) var isWriting = false
  /// What waited for the game when the call was made that is under way.
  private var waiting = 0
  /// As `KeptProgress.bytesTaken`.
  package private(set) var bytesTaken: UInt64
  /// Of the conversation, when the description was written.
  package private(set) var changes: UInt32
  /// The stay is over: the next process is to close it.
  private(set) var isRetired = false
  /// It meets its first event in this process.
  private var isTried = true

  /// - Parameters:
  ///   - handle: of a slot that says the same already.
  ///   - isTakenUp: it is of the process before.
  package init(
    _ handle: consuming SlotHandle, _ description: KeptDescription, _ progress: KeptProgress,
    changes: UInt32 = 0, isTakenUp: Bool = false, storeClient: DescriptorStoreClient
  ) {
    slot = handle.index
    self.handle = consume handle
    self.description = description
    handled = progress.handled
    bytesTaken = progress.bytesTaken
    self.changes = changes
    isTried = !isTakenUp
    self.storeClient = storeClient
  }

  /// Whether the next process will have it, if this one ends in good order.
  package var isGood: Bool { !isRetired && storeClient.holds(slot) }
  /// Whether it will have it even if this one is killed now.
  package var isSafe: Bool { !isRetired && storeClient.hasConfirmed(slot) }

  // MARK: Reading

  package func willRead() { handle?.willRead() }
  package func didReadNothing() { handle?.didReadNothing() }

  /// - Parameter isWhole: telnet has had all that was read.
  package func didRead(_ progress: KeptProgress, isWhole: Bool) {
    handled = progress.handled
    if isWhole { handle?.didRead(progress) } else { handle?.note(progress) }
  }

  /// The same where the description is new as well.
  package func didRead(
    _ progress: KeptProgress, isWhole: Bool, changes: UInt32, answers: [UInt8]?,
    _ change: (inout KeptDescription) -> Void
  ) {
    _ = renew(changes, answers, change)
    handled = progress.handled
    if isWhole {
      handle?.didRead(description, progress)
    } else {
      handle?.describe(description, progress)
    }
  }

  // MARK: Writing

  /// - Parameters:
  ///   - unhandled: all messages that were taken and that the game's socket has not.
  ///   - offered: how many bytes the call gets.
  ///   - waiting: those and what waits after them.
  package func willWrite(unhandled: Int, offered: Int, waiting: Int) {
    isWriting = true
    self.waiting = waiting
    handle?.willWrite(messages: unhandled, bytes: offered)
  }

  /// So much waits after the call; returns whether the socket has taken any of it.
  package func noteTaken(left: Int) -> Bool {
    guard left < waiting else { return false }
    if bytesTaken > 0 { bytesTaken += UInt64(waiting - left) }
    return true
  }

  /// - Parameter rest: what the game is to get before anything else from now on.
  package func didWrite(_ progress: KeptProgress, rest: UnsaidRest) {
    isWriting = false
    handled = progress.handled
    if rest.isNone, description.owed.isEmpty, !description.isTorn {
      handle?.didWrite(progress)
    } else {
      description.take(rest)
      handle?.didWrite(description, progress)
    }
  }

  /// What it is to get before anything else is what it was.
  package func didWriteNothing(_ progress: KeptProgress) {
    isWriting = false
    handled = progress.handled
    handle?.didWrite(progress)
  }

  /// Without a call: messages that put nothing into the queue.
  package func noteHandled(_ progress: KeptProgress) {
    if progress.handled == handled { return }
    handled = progress.handled
    handle?.note(progress)
  }

  // MARK: The description

  /// Written again where it has changed.
  /// - Parameter answers: all that waits for the game, if telnet says it and nothing of it has left.
  package func describe(
    _ progress: KeptProgress, changes: UInt32, answers: [UInt8]? = nil,
    _ change: (inout KeptDescription) -> Void
  ) {
    guard renew(changes, answers, change) else { return }
    handled = progress.handled
    handle?.describe(description, progress)
  }

  private func renew(
    _ changes: UInt32, _ answers: [UInt8]?, _ change: (inout KeptDescription) -> Void
  ) -> Bool {
    self.changes = changes
    var description = description
    change(&description)
    description.take(answers.map { UnsaidRest(owed: $0, isWhole: true) } ?? self.description.rest)
    defer { self.description = description }
    return description != self.description
  }

  /// Around each event of a session without a connection: of the first in this process the slot knows, so that the next
  /// start does if this one dies of it.
  package func willTry() {
    if !isTried { handle?.willTry() }
  }

  package func didTry() {
    if isTried { return }
    isTried = true
    handle?.didTry()
  }

  // MARK: Ends

  /// The stay is over, whatever is still to be said to the game.
  package func retire() {
    if isRetired { return }
    isRetired = true
    handle.take()?.end()
  }

  /// All that is the session's is in the snapshot under this sequence: nothing of it changes any more.
  package func handOver(_ pack: (_ slot: Int, _ sequence: UInt64) -> Void) {
    guard let handle = handle.take() else { return }
    pack(slot, handle.sequence)
    handle.handOver()
  }

  /// The socket is about to be closed here. The store has a duplicate, so its game would not hear of that.
  package func end(_ socket: borrowing Socket) {
    if storeClient.isHandingOver, !isRetired { return }
    retire()
    socket.end()
    storeClient.release(slot)
  }
}

/// What is for the game before anything else: behind something that it has a part of already, or an answer of telnet's.
package struct UnsaidRest {
  /// The bytes, if they are few enough to be noted.
  package var owed: [UInt8] = []
  /// Nothing of it has left yet.
  package var isWhole = false
  /// It is the rest of something, and too long.
  package var isTorn = false
  /// With its last byte the game has one more message.
  package var endsMessage = false

  package init(
    owed: [UInt8] = [], isWhole: Bool = false, isTorn: Bool = false, endsMessage: Bool = false
  ) {
    self.owed = owed
    self.isWhole = isWhole
    self.isTorn = isTorn
    self.endsMessage = endsMessage
  }

  package static let none = UnsaidRest()

  var isNone: Bool { owed.isEmpty && !isTorn }
}

extension KeptDescription {
  fileprivate var rest: UnsaidRest {
    UnsaidRest(owed: owed, isWhole: owedIsWhole, isTorn: isTorn, endsMessage: owedEndsMessage)
  }

  fileprivate mutating func take(_ rest: UnsaidRest) {
    owed = rest.owed
    owedIsWhole = rest.isWhole
    isTorn = rest.isTorn
    owedEndsMessage = rest.endsMessage
  }
}

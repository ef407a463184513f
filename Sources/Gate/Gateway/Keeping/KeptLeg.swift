/// A leg to the game that outlives the process: what its session notes in its slot, and when (docs/sessions.md, "After a
/// crash").
///
/// A kill may come between any two instructions. So whatever somebody else may act on stands in the slot before they hear of
/// it, and what the kernel may have done is marked before it is asked:
///
///     mark, read from the game, telnet, count, note → the app is sent it
///     mark with a number of messages, send to the game, note what it took → the app is told that they are handled
internal import Keeping
internal import Sockets
internal import System

final class KeptLeg {
  let slot: Int
  private let keeper: Keeper
  /// Nil once the slot says for good what the next process is to do with it.
  private var handle: SlotHandle?
  private var description: KeptDescription
  /// How many messages the slot says are handled.
  private var handled: Int
  private var isWriting = false
  /// Of the conversation, when the description was written.
  private(set) var changes: UInt32
  /// The stay is over: the next process is to close it.
  private(set) var isRetired = false
  /// It meets its first event in this process.
  private var isTried = true

  /// - Parameters:
  ///   - handle: of a slot that says the same already.
  ///   - isTakenUp: it is of the process before.
  init(
    _ handle: consuming SlotHandle, _ description: KeptDescription, _ progress: KeptProgress,
    changes: UInt32 = 0, isTakenUp: Bool = false, keeper: Keeper
  ) {
    slot = handle.index
    self.handle = consume handle
    self.description = description
    handled = progress.handled
    self.changes = changes
    isTried = !isTakenUp
    self.keeper = keeper
  }

  /// Whether the next process will have it.
  var isGood: Bool { !isRetired && keeper.holds(slot) }

  // MARK: Reading

  func willRead() { handle?.willRead() }
  func didReadNothing() { handle?.didReadNothing() }

  /// - Parameter isWhole: telnet has had all that was read.
  func didRead(_ progress: KeptProgress, isWhole: Bool) {
    handled = progress.handled
    if isWhole { handle?.didRead(progress) } else { handle?.note(progress) }
  }

  // MARK: Writing

  /// - Parameter unhandled: all messages that were taken and that the game's socket has not.
  func willWrite(unhandled: Int) {
    isWriting = true
    handle?.willWrite(messages: unhandled)
  }

  /// - Parameter rest: what the game is to get before anything else, as it has a part of something.
  func didWrite(_ progress: KeptProgress, rest: UnsaidRest) {
    if isWriting {
      isWriting = false
      if rest.isNone, description.owed.isEmpty, !description.isTorn {
        handle?.didWrite(progress)
      } else {
        description.take(rest)
        handle?.didWrite(description, progress)
      }
    } else if progress.handled != handled {
      // Those that put nothing into the queue.
      handle?.note(progress)
    }
    handled = progress.handled
  }

  // MARK: The description

  /// Written again where it has changed.
  func describe(_ progress: KeptProgress, changes: UInt32, _ change: (inout KeptDescription) -> Void) {
    self.changes = changes
    var description = description
    change(&description)
    description.take(self.description.rest)
    if description == self.description { return }
    self.description = description
    handled = progress.handled
    handle?.describe(description, progress)
  }

  /// Around each event of a session without a connection: of the first in this process the slot knows, so that the next
  /// start does if this one dies of it.
  func willTry() {
    if !isTried { handle?.willTry() }
  }

  func didTry() {
    if isTried { return }
    isTried = true
    handle?.didTry()
  }

  // MARK: Ends

  /// The stay is over, whatever is still to be said to the game.
  func retire() {
    if isRetired { return }
    isRetired = true
    handle.take()?.end()
  }

  /// All that is the session's is in the luggage under this sequence: nothing of it changes any more.
  func handOver(_ pack: (_ slot: Int, _ sequence: UInt64) -> Void) {
    guard let handle = handle.take() else { return }
    pack(slot, handle.sequence)
    handle.handOver()
  }

  /// The socket is about to be closed here. The store has a duplicate, so its game would not hear of that.
  func end(_ socket: borrowing Socket) {
    if keeper.isHandingOver, !isRetired { return }
    retire()
    socket.end()
    keeper.release(slot)
  }
}

/// What waits for the game behind something that it has a part of already.
struct UnsaidRest {
  /// The rest of that part, if it is short enough to be noted.
  let owed: [UInt8]
  /// It is not.
  let isTorn: Bool
  /// With its last byte the game has one more message.
  let endsMessage: Bool

  static let none = UnsaidRest(owed: [], isTorn: false, endsMessage: false)

  var isNone: Bool { owed.isEmpty && !isTorn }
}

extension KeptDescription {
  fileprivate var rest: UnsaidRest { UnsaidRest(owed: owed, isTorn: isTorn, endsMessage: owedEndsMessage) }

  fileprivate mutating func take(_ rest: UnsaidRest) {
    owed = rest.owed
    isTorn = rest.isTorn
    owedEndsMessage = rest.endsMessage
  }
}

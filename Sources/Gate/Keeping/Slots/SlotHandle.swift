/// A session's own slot: what it does with the game's leg is noted here before and after.
///
/// On the way of a message, in this order:
///
/// | from the game | to the game |
/// |---|---|
/// | `willRead` | `willWrite(messages:bytes:)`, with those that wait already |
/// | the leg is read, telnet and ledger take it | the leg's socket gets them |
/// | `didRead`, or `didReadNothing` | `didWrite` |
/// | then alone the app is sent it | |
///
/// Each is one store or a few, without allocation or system call. What is seldom new is told by `describe`. One owner at a
/// time, on whatever thread.
internal import System

package struct SlotHandle: ~Copyable, Sendable {
  package var index: Int { writer.index }
  private var writer: SlotWriter<SharedMemory>

  init(_ writer: consuming SlotWriter<SharedMemory>) {
    self.writer = writer
  }

  // MARK: The leg

  /// Just before the leg is read.
  package mutating func willRead() { writer.willRead() }

  /// The read came to nothing.
  package mutating func didReadNothing() { writer.didReadNothing() }

  /// Telnet and ledger have taken what was read. What is not read of it yet (answers enough, a piece a turn) or is text
  /// that waits counts as read: it would be lost.
  package mutating func didRead(_ progress: KeptProgress) { writer.didRead(progress) }

  /// The same where something of the session is new that came with it: the charset, an answer that is owed.
  package mutating func didRead(_ description: KeptDescription, _ progress: KeptProgress) {
    writer.didRead(description, progress)
  }

  /// Just before the leg's socket gets anything.
  /// - Parameters:
  ///   - messages: all that were taken and are not handled.
  ///   - bytes: that are offered.
  package mutating func willWrite(messages: Int, bytes: Int) {
    writer.willWrite(messages: messages, bytes: bytes)
  }

  /// The socket has taken all, or nothing was owed before and its rest begins with a message of its own.
  package mutating func didWrite(_ progress: KeptProgress) { writer.didWrite(progress) }

  /// The socket has taken a part: `description` says what is owed, or that it is torn. Also when that is over.
  package mutating func didWrite(_ description: KeptDescription, _ progress: KeptProgress) {
    writer.didWrite(description, progress)
  }

  // MARK: The session

  /// Something of the session is new that no message tells: its ids, its connection, its client, its charset.
  package mutating func describe(_ description: KeptDescription, _ progress: KeptProgress) {
    writer.describe(description, progress)
  }

  /// The counts alone are new.
  package mutating func note(_ progress: KeptProgress) { writer.note(progress) }

  /// The session that was taken up meets its first event: should the gate die before `didTry`, that counts against it
  /// (`SlotFile.beginStart`).
  package mutating func willTry() { writer.willTry() }
  package mutating func didTry() { writer.didTry() }

  // MARK: Ends

  /// All of it went over: what `Handover` has of it under this sequence is good while nothing else is noted here.
  package consuming func handOver() { writer.handOver() }

  /// What `Handover.append` is told.
  package var sequence: UInt64 { writer.sequence }

  /// The session is over. Once the store does not have its leg any more, `SlotFile.release` makes the slot another one's.
  package consuming func end() { writer.end() }
}

/// What a conversation keeps in memory, and what of it goes where there is too little room.
internal import SessionWire
package import Time
internal import TelnetWire

extension ConversationState {
  /// Of messages that are kept.
  package var bufferedBytes: Int { outgoing.bufferedBytes }
  /// What they take, with room that is free, and what the game has said that is no message yet.
  package var heldBytes: Int { outgoing.allocatedBytes + unsaidBytes }
  private var unsaidBytes: Int { telnet.heldBytes + unread.capacity }

  /// How much more memory, or less, they take than when this was asked last.
  package mutating func takeBufferChange() -> Int {
    let bytes = heldBytes
    defer { accountedBytes = bytes }
    return bytes - accountedBytes
  }

  /// The oldest goes first; what is not whole yet is the newest.
  package mutating func evict(downTo bytes: Int) {
    outgoing.evict(downTo: max(0, bytes - unsaidBytes))
    if heldBytes > bytes { telnet.letGoOfSubnegotiation() }
  }

  /// Without a connection a subnegotiation that is not whole yet has the room of its session's messages, as it has once it
  /// is one; what is too large for that is a gap.
  mutating func makeRoomDetached(now: MonotonicTime) {
    guard !outgoing.isAttached, telnet.openBytes > 0, now >= keepsAllUntil else { return }
    if telnet.openBytes > outgoing.limit { telnet.letGoOfSubnegotiation() }
    outgoing.makeRoom(for: telnet.openBytes)
  }

  /// It came here with all that a connection would be told, and there is none.
  package mutating func keepWithinRoom(now: MonotonicTime) {
    if now < keepsAllUntil { return }
    outgoing.detach()
    makeRoomDetached(now: now)
  }

  package mutating func forgetMessages() {
    outgoing = OutgoingLedger(limit: outgoing.limit, again: AgainCache(.usual, bufferBytes: 0))
    telnet.forgetHeld()
    unread = []
    unreadUntil = .never
  }
}

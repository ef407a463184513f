/// What a conversation keeps in memory, and what of it goes where there is too little room.
internal import SessionWire
package import Time
internal import TelnetWire

extension ConversationState {
  /// Of messages that are kept.
  package var bufferedBytes: Int { ledger.outgoing.bufferedBytes }
  /// What they take, with room that is free, and what the game has said that is no message yet.
  package var heldBytes: Int { ledger.outgoing.allocatedBytes + unsaidBytes }
  private var unsaidBytes: Int { voice.telnet.heldBytes + voice.unread.capacity }

  /// How much more memory, or less, they take than when this was asked last.
  package mutating func takeBufferChange() -> Int {
    let bytes = heldBytes
    defer { ledger.accountedBytes = bytes }
    return bytes - ledger.accountedBytes
  }

  /// The oldest goes first; what is not whole yet is the newest.
  package mutating func evict(downTo bytes: Int) {
    ledger.outgoing.evict(downTo: max(0, bytes - unsaidBytes))
    if heldBytes > bytes { voice.telnet.letGoOfSubnegotiation() }
  }

  /// Without a connection a subnegotiation that is not whole yet has the room of its session's messages, as it has once it
  /// is one; what is too large for that is a gap.
  mutating func makeRoomDetached(now: MonotonicTime) {
    guard !ledger.outgoing.isAttached, voice.telnet.openBytes > 0, now >= ledger.keepsAllUntil else { return }
    if voice.telnet.openBytes > ledger.outgoing.limit { voice.telnet.letGoOfSubnegotiation() }
    ledger.outgoing.makeRoom(for: voice.telnet.openBytes)
  }

  /// It came here with all that a connection would be told, and there is none.
  package mutating func keepWithinRoom(now: MonotonicTime) {
    if now < ledger.keepsAllUntil { return }
    ledger.outgoing.detach()
    makeRoomDetached(now: now)
  }

  package mutating func forgetMessages() {
    ledger.outgoing = OutgoingLedger(limit: ledger.outgoing.limit, again: AgainCache(.usual, bufferBytes: 0))
    voice.telnet.forgetHeld()
    voice.unread = []
    voice.unreadUntil = .never
  }
}

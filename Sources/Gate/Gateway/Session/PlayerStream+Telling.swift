/// The pump's last step for sessions whose messages the gate reads itself (`PlayerStream+Messages`, step 5): what the
/// conversation has for the player, as far as that takes it.
internal import Bytes
internal import SessionWire
internal import System
internal import TLS
internal import WebSocketWire

extension PlayerStream {
  func acknowledge(
    _ state: inout ConversationState, _ client: inout ClientLeg, on loop: Loop
  ) {
    guard let message = state.dueAck(now: loop.now) else { return }
    loop.counters.messagesToPlayers.add()
    _ = client.tls.write(Self.textFrame(message).span)
  }

  /// The last number alone, once all before it is on its way: it does not count, and nobody needs it again.
  func tellNotices(
    _ state: inout ConversationState, _ client: inout ClientLeg, on loop: Loop
  ) {
    guard client.unsent.isEmpty else { return }
    var message: [UInt8] = []
    if let open = state.approvalsOpen.take() {
      GateMessage.approvals(open: open, to: &message)
      loop.counters.messagesToPlayers.add()
      _ = client.tls.write(Self.textFrame(message).span)
    }
    if state.isCodeWanted {
      state.isCodeWanted = false
      message = []
      GateMessage.codeWanted(to: &message)
      loop.counters.messagesToPlayers.add()
      _ = client.tls.write(Self.textFrame(message).span)
    }
  }

  /// What was not sent yet, so much in a turn; whether there is more.
  mutating func tell(
    _ state: inout ConversationState, _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop,
    all: Bool = false
  ) throws(ConnectionEnd) -> Bool {
    guard client.unsent.isEmpty || all else { return false }
    var sent = 0
    while state.outgoing.hasUnsent {
      if state.outgoing.isBetweenFrames {
        if sent >= Self.tellBytes, !all { return true }
        if let gap = state.outgoing.takeGap() {
          loop.counters.gapMessages.add(gap.messages ?? 0)
          for message in state.afterGap(gap) {
            loop.counters.messagesToPlayers.add()
            try encrypt(Self.textFrame(message).span, to: &client)
          }
          continue
        }
      }
      if let deflate {
        sent += try tellDeflated(deflate, &state, &client, &game, on: loop)
      } else {
        sent += try tellPiece(&state, &client, on: loop)
      }
    }
    if !state.dialect.isResumable {
      state.outgoing.acknowledge(state.outgoing.last)
      state.noteFullness(now: loop.now)
    }
    return false
  }

  private func tellPiece(
    _ state: inout ConversationState, _ client: inout ClientLeg, on loop: Loop
  ) throws(ConnectionEnd) -> Int {
    let frames = state.outgoing.unsentFrames
    let first = state.outgoing.cursorNumber
    try encrypt(frames.span, to: &client)
    state.outgoing.markSent(bytes: frames.count)
    loop.counters.messagesToPlayers.add(state.outgoing.cursorNumber - first)
    return frames.count
  }

  private func tellDeflated(
    _ deflate: DeflateSession, _ state: inout ConversationState, _ client: inout ClientLeg,
    _ game: inout GameSide,
    on loop: Loop
  ) throws(ConnectionEnd) -> Int {
    var payload: [UInt8] = []
    guard let type = state.outgoing.copyUnsentMessage(into: &payload) else {
      fatalError("OutgoingLedger: something is unsent, and no message comes next")
    }
    state.outgoing.markMessageSent()
    try sendMessage(payload, opcode: type.opcode, &client, &game, on: loop)
    return payload.count
  }

  static func textFrame(_ payload: [UInt8]) -> [UInt8] { frame(payload, opcode: .text) }

  /// So much is sent in a turn.
  private static let tellBytes = 64 * 1024
}

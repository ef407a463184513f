/// The pump's last step for sessions whose messages the gate reads itself (`PlayerStream+Messages`, step 5): what the
/// conversation has for the player, as far as that takes it.
internal import Admission
internal import Bytes
internal import Conversation
internal import SessionWire
internal import System
internal import Telemetry
internal import TLS
internal import Upstream
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
    if let open = state.notices.approvalsOpen.take() {
      GateMessage.approvals(open: open, to: &message)
      loop.counters.messagesToPlayers.add()
      _ = client.tls.write(Self.textFrame(message).span)
    }
    if state.notices.isCodeWanted {
      state.notices.isCodeWanted = false
      message = []
      GateMessage.codeWanted(to: &message)
      loop.counters.messagesToPlayers.add()
      _ = client.tls.write(Self.textFrame(message).span)
    }
  }

  /// What was not sent yet, so much in a turn; whether there is more.
  /// - Parameter all: in one turn, as there is none after it: as it lies, since to compress it would take long.
  mutating func tell(
    _ state: inout ConversationState, _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop,
    all: Bool = false
  ) throws(ConnectionEnd) -> Bool {
    guard client.unsent.isEmpty || all else { return false }
    let deflate = all ? nil : deflate
    var gathered: [UInt8] = []
    var sent = 0
    var hasMore = false
    while state.ledger.outgoing.hasUnsent, !hasMore {
      if state.ledger.outgoing.isBetweenFrames, sent >= Self.tellBytes, !all {
        hasMore = true
      } else if state.ledger.outgoing.isBetweenFrames, let gap = state.ledger.outgoing.takeGap() {
        sent += gather(gap, of: state, into: &gathered, on: loop)
      } else if let deflate {
        sent += try tellDeflated(deflate, &state, &client, &game, behind: &gathered, on: loop)
      } else {
        sent += try tellPiece(&state, &client, behind: &gathered, on: loop)
      }
      if gathered.count >= Self.recordBytes { try send(&gathered, to: &client) }
    }
    try send(&gathered, to: &client)
    if !state.dialect.isResumable {
      state.ledger.outgoing.acknowledge(state.ledger.outgoing.last)
      state.noteFullness(now: loop.now)
    }
    return hasMore
  }

  /// What is short and comes in great numbers shares records: a gap, and the few bytes that may stand between two of them.
  private func gather(
    _ gap: OutgoingLedger.Gap, of state: borrowing ConversationState, into gathered: inout [UInt8],
    on loop: Loop
  ) -> Int {
    loop.counters.gapMessages.add(gap.messages ?? 0)
    let before = gathered.count
    for message in state.afterGap(gap) {
      loop.counters.messagesToPlayers.add()
      gathered += Self.textFrame(message)
    }
    return gathered.count - before
  }

  private func send(_ gathered: inout [UInt8], to client: inout ClientLeg) throws(ConnectionEnd) {
    if gathered.isEmpty { return }
    try encrypt(gathered.span, to: &client)
    gathered = []
  }

  private func tellPiece(
    _ state: inout ConversationState, _ client: inout ClientLeg, behind gathered: inout [UInt8], on loop: Loop
  ) throws(ConnectionEnd) -> Int {
    let frames = state.ledger.outgoing.unsentFrames
    let first = state.ledger.outgoing.cursorNumber
    if gathered.isEmpty {
      try encrypt(frames.span, to: &client)
    } else {
      gathered.append(copying: frames.span)
    }
    state.ledger.outgoing.markSent(bytes: frames.count)
    loop.counters.messagesToPlayers.add(state.ledger.outgoing.cursorNumber - first)
    return frames.count
  }

  private func tellDeflated(
    _ deflate: DeflateSession, _ state: inout ConversationState, _ client: inout ClientLeg,
    _ game: inout GameSide, behind gathered: inout [UInt8], on loop: Loop
  ) throws(ConnectionEnd) -> Int {
    var payload: [UInt8] = []
    guard let type = state.ledger.outgoing.copyUnsentMessage(into: &payload) else {
      fatalError("OutgoingLedger: something is unsent, and no message comes next")
    }
    state.ledger.outgoing.markMessageSent()
    if payload.count >= DeflateSession.leastMessageBytes {
      try send(&gathered, to: &client)
      try sendMessage(payload, opcode: type.opcode, &client, &game, on: loop)
      return payload.count
    }
    loop.counters.messagesToPlayers.add()
    let frame = Self.frame(payload, opcode: type.opcode)
    gathered += frame
    return frame.count
  }

  static func textFrame(_ payload: [UInt8]) -> [UInt8] { frame(payload, opcode: .text) }

  /// So much is sent in a turn.
  private static let tellBytes = 64 * 1024
}

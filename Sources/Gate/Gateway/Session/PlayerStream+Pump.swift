/// The pump: the player's frames to the game, the game's bytes to the player, without buffers while both keep up.
///
/// Outbound (player to game)                      Inbound (game to player)
///   1. readFromPlayer   TLS records → scratch      5. readFromGame   one read → scratch, room for headers between
///   2. decode           unmasked in place          6. frame          headers written in front of what came
///   3. deliver          one send to the game       7. encrypt        records → outbox
///   4. (queue)          what the game refuses      8. settle         one send to the player, the rest queued
///
/// Reading from a side stops while anything waits for the other one: that is the backpressure, both ways.
///
/// A turn is given stream and legs as `inout`, from its beginning to its end. So the compiler proves the exclusive
/// access that the run time would else check at every use (a fifth of a message's instructions), and nothing in here
/// can end the session under a function that still works on it: an end is thrown to `Connection.pump`, which acts on
/// it.
internal import Admission
internal import Bytes
internal import Configuration
internal import Conversation
internal import Sockets
internal import System
internal import Telemetry
internal import TLS
internal import Upstream
internal import WebSocketWire

extension Connection {
  func pump(_ attachment: Attachment) {
    var hasMore = false
    var end: ConnectionEnd?
    do throws(ConnectionEnd) {
      hasMore = try attachment.stream.pump(&client, &attachment.session.game, on: loop)
    } catch {
      end = error
    }
    if let end {
      if case .tlsExcess(let excess) = end { noteExcess(excess) }
      endSession(attachment, end)
      // What the player sends before its own Close is still for the game.
      if case .session = stage { hasMore = true }
    } else if !attachment.stream.closing.delivers {
      releaseClosedGame(attachment)
    }
    loop.noteMoved(self, isMuch: attachment.stream.taken >= PlayerStream.heavyBytes, hasMore: hasMore)
    loop.noteWork(attachment.stream.taken)
    if let conversation = attachment.session.game.conversation, case .session = stage {
      noteConversed(conversation, attachment)
    }
    if hasMore { loop.continueLater(self) }
  }
}

extension PlayerStream {
  /// One turn, which is one round of either direction: then others have theirs. Whether there is more to do.
  fileprivate mutating func pump(_ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop)
    throws(ConnectionEnd) -> Bool
  {
    defer { game.countBytes(in: loop.counters) }
    pongsLeft = Self.pongsPerTurn
    (taken, handled) = (0, 0)
    client.tls.beginTurn(.session)
    try resumeBlocked(&client, &game, on: loop)
    if let conversation = game.conversation {
      if try converse(conversation, &client, &game, on: loop) { return true }
    } else if let deflate {
      if try pumpDeflated(deflate, &client, &game, on: loop) { return true }
    } else {
      if isReadingFromPlayer(client, game), client.mayHaveInput {
        try readFromPlayer(&client, &game, on: loop)
      }
      if hasMoreFromGame(client, game) { try readFromGame(&client, &game, on: loop) }
      if isReadingFromPlayer(client, game) && client.mayHaveInput || hasMoreFromGame(client, game) {
        return true
      }
    }
    return pendingPong != nil && client.unsent.isEmpty
  }

  /// Nothing is read from the player while there is no room for it in what waits for the game (or, with echo, while
  /// anything waits for the player itself), nor while too much waits for the player.
  ///
  /// These two are put in where they are called: a call would be given a copy of the stream.
  @inline(__always)
  func isReadingFromPlayer(_ client: borrowing ClientLeg, _ game: borrowing GameSide) -> Bool {
    if client.isFull || !pending.isEmpty { return false }
    if game.leg != nil { return roundBytes(behind: game.queued) > 0 }
    return client.unsent.isEmpty || !closing.isOpen
  }

  /// Nothing is read from the game while there is no room for it in what waits for the player.
  @inline(__always)
  func hasMoreFromGame(_ client: borrowing ClientLeg, _ game: borrowing GameSide) -> Bool {
    closing.isOpen && roundBytes(behind: client.unsent.count) > 0 && game.mayHaveInput
  }

  /// What may be read in one round while `queued` bytes wait for the other side, as all of it may have to wait behind
  /// them (`QUEUE_MAX_BYTES`): a record at least, where anything is read at all, and a scratch at most.
  ///
  /// Once something waits in here the kernel's send buffer is full. That waits for the same peer, and counts too, so
  /// that a slow reader's cost is bounded in all (docs/settings.md, "More about some limits").
  func roundBytes(behind queued: Int) -> Int {
    if queued == 0 { return min(max(queueBytes, Self.recordBytes), Scratch.size) }
    let room = queueBytes - Int(Connection.sendBufferBytes) - queued
    return room >= Self.recordBytes ? min(room, Scratch.size) : 0
  }

  /// Sends what waited for either side, and notes when it is read again from the player.
  private mutating func resumeBlocked(
    _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) {
    if game.waits {
      let wasReading = isReadingFromPlayer(client, game)
      if let conversation = game.conversation {
        try resumeSaying(&conversation.state, &game, now: loop.now)
      } else if case .failed(let error)? = game.leg?.resumeSending() {
        throw .session(.gameFailed(reason: Self.peerReason(error)))
      }
      if !wasReading, isReadingFromPlayer(client, game) { lastHeard = loop.now }
    }
    if !client.unsent.isEmpty { try flush(&client, loop.outbox) }
    if pendingPong != nil, client.unsent.isEmpty, let pong = pendingPong.take() {
      _ = client.tls.write(ControlFrame.pong(pong).span)
    }
  }

  private func flush(_ client: inout ClientLeg, _ outbox: Outbox) throws(ConnectionEnd) {
    if case .failed(let error) = client.flush(outbox) {
      throw .playerVanished(reason: error.description)
    }
  }

  // MARK: 1. From the player

  mutating func readFromPlayer(_ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop)
    throws(ConnectionEnd)
  {
    try loop.scratch.withBytes { (bytes) throws(ConnectionEnd) in
      try readFromPlayer(&client, &game, on: loop, into: &bytes)
    }
  }

  private mutating func readFromPlayer(
    _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop, into bytes: inout MutableSpan<UInt8>
  ) throws(ConnectionEnd) {
    var end = 0
    var last = TLSReadResult.wantsInput
    // A record holds at most 16 KiB: read while a whole one fits, so that several small ones make one send. What is
    // read in one round may have to be queued as a whole.
    let limit = max(roundBytes(behind: game.queued), Self.recordBytes)
    while end + Self.recordBytes <= limit {
      var rest = bytes._mutatingExtracting(end..<bytes.count)
      last = client.read(into: &rest)
      guard case .bytes(let count) = last else { break }
      end += count
    }
    taken += client.tls.used
    if end > 0 {
      lastHeard = loop.now
      try decode(&bytes, end: end, &client, &game, on: loop)
    }
    if let end = ConnectionEnd(last) { throw end }
  }

  // MARK: 2. Frames

  private mutating func decode(
    _ bytes: inout MutableSpan<UInt8>, end: Int, _ client: inout ClientLeg, _ game: inout GameSide,
    on loop: Loop
  ) throws(ConnectionEnd) {
    var position = 0
    var output = 0
    var messages = 0
    var ending: ConnectionEnd?
    defer { if messages > 0 { loop.counters.messagesFromPlayers.add(messages) } }
    decoding: while ending == nil {
      switch decoder.next(&bytes, position: &position, end: end, output: &output) {
      case .needMore: break decoding
      case .data(let piece):
        if piece.endsMessage { messages += 1 }
        if game.readsMessages {
          let payload = bytes.span.extracting(piece.start..<output)
          try accept(payload, type: piece.type, endsMessage: piece.endsMessage, &client, &game, on: loop)
        }
      case .ping(let payload): answerPing(payload, to: &client)
      case .pong: break
      case .close(let request): ending = .playerClosed(request.code)
      case .violation(let violation): ending = .violation(violation.closeCode, step: violation.step)
      }
    }
    if closing.delivers { try deliver(bytes.span.extracting(0..<output), to: &game) }
    if let ending { throw ending }
  }

  /// Where messages are read whole: a piece of one.
  mutating func accept(
    _ payload: Span<UInt8>, type: MessageType, endsMessage: Bool, _ client: inout ClientLeg,
    _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) {
    if let conversation = game.conversation {
      try take(payload, type: type, endsMessage: endsMessage, &conversation.state, on: loop)
    } else {
      try echo(payload, type: type, endsMessage: endsMessage, &client, &game, on: loop)
    }
  }

  /// A record may hold thousands of pings: after some answers in one turn only the newest one is kept for the next.
  mutating func answerPing(_ payload: [UInt8], to client: inout ClientLeg) {
    guard closing.isOpen else { return }
    if client.unsent.isEmpty, takesPong() {
      _ = client.tls.write(ControlFrame.pong(payload).span)
    } else {
      pendingPong = payload
    }
  }

  // MARK: 3. To the game

  mutating func deliver(_ payload: Span<UInt8>, to game: inout GameSide) throws(ConnectionEnd) {
    guard !payload.isEmpty, game.leg != nil, game.conversation == nil else { return }
    game.bytesFromPlayer += UInt64(payload.count)
    if case .failed(let error)? = game.leg?.send(payload) {
      throw .session(.gameFailed(reason: Self.peerReason(error)))
    }
  }

  // MARK: 5. From the game

  mutating func readFromGame(_ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop)
    throws(ConnectionEnd)
  {
    try loop.scratch.withBytes { (bytes) throws(ConnectionEnd) in
      try readFromGame(&client, &game, on: loop, into: &bytes)
    }
    try flush(&client, loop.outbox)
  }

  private mutating func readFromGame(
    _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop, into bytes: inout MutableSpan<UInt8>
  ) throws(ConnectionEnd) {
    let limit = max(roundBytes(behind: client.unsent.count), Self.recordBytes)
    var room = bytes._mutatingExtracting(0..<limit)
    let result = game.leg?.receive(into: &room, gapBytes: Self.headerRoom, slotBytes: Self.slotBytes)
    switch result {
    case .bytes(let count)?:
      game.bytesFromGame += UInt64(count)
      taken += count
      if game.text != nil {
        try frameText(bytes.span, count, &client, &game, on: loop)
      } else if let deflate {
        try frameDeflated(deflate, &bytes, count, &client, &game, on: loop)
      } else {
        try frame(&bytes, count, to: &client)
        loop.counters.messagesToPlayers.add((count + Self.slotBytes - 1) / Self.slotBytes)
      }
    case .wouldBlock?, nil: break
    case .ended?:
      try finishText(&client, &game, on: loop)
      throw .session(.gameClosed)
    case .failed(let error)?: throw .session(.gameFailed(reason: Self.peerReason(error)))
    }
  }

  // MARK: 7. Records

  func encrypt(_ bytes: Span<UInt8>, to client: inout ClientLeg) throws(ConnectionEnd) {
    if !client.tls.write(bytes) { throw .playerVanished(reason: "TLS write failed") }
  }

  // MARK: Measures

  /// The header of a frame with 126 to 65,535 bytes of payload.
  static let headerRoom = 4
  /// With its header, one TLS record of 16 KiB (RFC 8446 §5.1).
  static let slotBytes = recordBytes - headerRoom
  static let recordBytes = 16 * 1024
  /// Playing does not take so much in a turn; a session that does is served after the others next time.
  static let heavyBytes = recordBytes / 2

  /// What a player may know of a failure on the game's side.
  static func peerReason(_ error: SystemError) -> String {
    "the game's connection failed: \(error)"
  }
}

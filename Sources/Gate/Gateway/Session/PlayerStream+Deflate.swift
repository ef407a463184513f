/// The pump of sessions with permessage-deflate (RFC 7692): the same way as the others', with zlib in
/// between.
///
/// Outbound (player to game)                      Inbound (game to player)
///   1. readDeflated     records → scratch          5. frameDeflated   each slot compressed on its own,
///   2. inflateFrames    payload → second scratch                      or framed in place as it is
///   3. inflate          one piece, bounded         6. sendDeflated    one message
///   4. deliver          one send to the game
///
/// Few bytes can inflate to many: a round ends when the second scratch is full once, and what is not inflated
/// by then waits in the session while nothing more is read. So the game's queue grows by one scratch a round
/// at most, as without compression, and a round's work is bounded by what it may read and write.
///
/// What of a message is here goes to the game at once, as it does without compression. For that a message
/// that comes in parts keeps its inflater (11 KiB; 39 for a client that offers no `client_max_window_bits`)
/// until its last byte; between messages, and so in an idle session, there is none. Of a client that keeps its context, what
/// its next message may reach back into is copied out when a round ends, as many bytes as it has sent and 32 KiB at most.
internal import Admission
internal import Bytes
internal import Configuration
internal import Deflate
internal import Sockets
internal import System
internal import Telemetry
internal import TLS
internal import WebSocketWire

extension PlayerStream {
  /// One round in a turn, of up to 2 ms: the dearest input takes zlib 45 ns a byte.
  mutating func pumpDeflated(
    _ deflate: DeflateSession, _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) -> Bool {
    if hasMoreFromPlayer(deflate, client, game) { try readDeflated(deflate, &client, &game, on: loop) }
    if hasMoreFromGame(client, game) { try readFromGame(&client, &game, on: loop) }
    return hasMoreFromPlayer(deflate, client, game) || hasMoreFromGame(client, game)
  }

  private func hasMoreFromPlayer(
    _ deflate: DeflateSession, _ client: borrowing ClientLeg, _ game: borrowing GameSide
  ) -> Bool {
    isReadingFromPlayer(client, game) && (client.mayHaveInput || deflate.waiting != nil)
  }

  // MARK: 1. From the player

  mutating func readDeflated(
    _ deflate: DeflateSession, _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) {
    try loop.scratch.withBytes { (bytes) throws(ConnectionEnd) in
      try readDeflated(deflate, &client, &game, on: loop, into: &bytes)
    }
    deflate.incoming.rest(loop.deflation.zlib)
  }

  private mutating func readDeflated(
    _ deflate: DeflateSession, _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop,
    into bytes: inout MutableSpan<UInt8>
  ) throws(ConnectionEnd) {
    var end = 0
    var ending: ConnectionEnd?
    var piece: DeflateSession.Piece?
    if let waiting = deflate.waiting.take() {
      for index in waiting.frames.indices { bytes[index] = waiting.frames[index] }
      end = waiting.frames.count
      ending = waiting.ending
      piece = waiting.piece
    } else {
      while end < Self.deflatedReadBytes, ending == nil {
        var rest = bytes._mutatingExtracting(end..<bytes.count)
        let result = client.read(into: &rest)
        if result == .wantsInput || result == .wantsTurn { break }
        if case .bytes(let count) = result { end += count }
        ending = ConnectionEnd(result)
      }
      taken += client.tls.used
      if end > 0 { lastHeard = loop.now }
    }
    let isDone = try loop.deflation.scratch.withBytes { (plain) throws(ConnectionEnd) in
      let limit = max(roundBytes(behind: game.queued), Self.recordBytes)
      var room = plain._mutatingExtracting(0..<limit)
      return try inflateFrames(
        deflate, behind: piece, &bytes, end: end, ending, into: &room, &client, &game, on: loop)
    }
    if isDone, let ending { throw ending }
  }

  // MARK: 2. Frames

  /// False when not all is done, and the rest waits.
  private mutating func inflateFrames(
    _ deflate: DeflateSession, behind piece: DeflateSession.Piece?, _ bytes: inout MutableSpan<UInt8>,
    end: Int, _ connectionEnding: ConnectionEnd?, into plain: inout MutableSpan<UInt8>,
    _ client: inout ClientLeg, _ game: inout GameSide,
    on loop: Loop
  ) throws(ConnectionEnd) -> Bool {
    var made = 0
    var position = 0
    var messages = 0
    var ending: ConnectionEnd?
    var rest = piece
    defer {
      if messages > 0 { loop.counters.messagesFromPlayers.add(messages) }
      // A few bytes of the wire may have become a thousand times as many, and each message has zlib begin anew.
      taken += made + messages * Self.inflationShare
    }
    if let piece {
      rest = try inflate(deflate, piece.payload.span, piece, &plain, &made, &ending, &client, &game, on: loop)
    }
    decoding: while ending == nil, rest == nil {
      var output = position
      switch decoder.next(&bytes, position: &position, end: end, output: &output) {
      case .needMore: break decoding
      case .data(let piece):
        if piece.endsMessage { messages += 1 }
        let payload = bytes.span.extracting(piece.start..<output)
        rest = try inflate(
          deflate, payload, DeflateSession.Piece(piece), &plain, &made, &ending, &client, &game, on: loop)
      case .ping(let payload): answerPing(payload, to: &client)
      case .pong: break
      case .close(let request): ending = .playerClosed(request.code)
      case .violation(let violation): ending = .violation(violation.closeCode, step: violation.step)
      }
    }
    if closing.delivers { try deliver(plain.span.extracting(0..<made), to: &game) }
    if let ending { throw ending }
    guard let rest else { return true }
    var frames: [UInt8] = []
    frames.append(copying: bytes.span.extracting(position..<end))
    deflate.waiting = DeflateSession.Waiting(piece: rest, frames: frames, ending: connectionEnding)
    return false
  }

  // MARK: 3. Payload

  /// Puts what becomes of `payload` behind `made`; returns what had no room.
  private mutating func inflate(
    _ deflate: DeflateSession, _ payload: Span<UInt8>, _ piece: DeflateSession.Piece,
    _ plain: inout MutableSpan<UInt8>, _ made: inout Int, _ ending: inout ConnectionEnd?,
    _ client: inout ClientLeg, _ game: inout GameSide,
    on loop: Loop
  ) throws(ConnectionEnd) -> DeflateSession.Piece? {
    let start = made
    var used = payload.count
    var isWhole = true
    if piece.isCompressed {
      let outcome = deflate.incoming.take(
        payload, type: piece.type, endsMessage: piece.endsMessage, from: loop.deflation.zlib, into: &plain,
        at: &made)
      switch outcome {
      case .taken: break
      case .outputFull(let count): (used, isWhole) = (count, false)
      case .violation(let violation):
        isWhole = false
        ending = .violation(violation.closeCode, step: violation.step)
      }
    } else {
      used = min(payload.count, plain.count - made)
      for index in 0..<used { plain[made + index] = payload[index] }
      made += used
      isWhole = used == payload.count
    }
    if game.readsMessages {
      let endsMessage = piece.endsMessage && isWhole
      try accept(
        plain.span.extracting(start..<made), type: piece.type, endsMessage: endsMessage, &client, &game,
        on: loop)
    }
    return isWhole || ending != nil ? nil : piece.with(payload.extracting(used..<payload.count))
  }

  // MARK: 5. Frames to the player

  /// Like `frame(_:_:)`, each message compressed on its own if that makes it shorter.
  func frameDeflated(
    _ deflate: DeflateSession, _ bytes: inout MutableSpan<UInt8>, _ count: Int, _ client: inout ClientLeg,
    _ game: inout GameSide,
    on loop: Loop
  ) throws(ConnectionEnd) {
    var left = count
    var start = Self.headerRoom
    while left > 0 {
      let part = min(left, Self.slotBytes)
      let isSent = try sendDeflated(
        deflate, bytes.span.extracting(start..<start + part), opcode: .binary, &client, &game, on: loop)
      if !isSent {
        let header = start - FrameHeader.size(payload: part)
        FrameHeader.write(opcode: .binary, payload: part, into: &bytes, at: header)
        try encrypt(bytes.span.extracting(header..<start + part), to: &client)
      }
      loop.counters.messagesToPlayers.add()
      left -= part
      start += Self.headerRoom + Self.slotBytes
    }
  }

  // MARK: 6. One message

  /// False when the message is short, or would not get shorter: it then goes out as it is.
  func sendDeflated(
    _ deflate: DeflateSession, _ payload: Span<UInt8>, opcode: Opcode, _ client: inout ClientLeg,
    _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) -> Bool {
    if payload.count < DeflateSession.leastMessageBytes { return false }
    let room = Self.largestHeader + payload.count + Self.tailBytes
    // With echo, the scratch is where the message has just been inflated to.
    if room <= Scratch.size, game.leg != nil {
      return try loop.deflation.scratch.withBytes { (packed) throws(ConnectionEnd) in
        try sendDeflated(deflate, payload, opcode, by: &packed, &client, &game, on: loop)
      }
    }
    var bytes = [UInt8](repeating: 0, count: room)
    var packed = bytes.mutableSpan
    return try sendDeflated(deflate, payload, opcode, by: &packed, &client, &game, on: loop)
  }

  private func sendDeflated(
    _ deflate: DeflateSession, _ payload: Span<UInt8>, _ opcode: Opcode, by packed: inout MutableSpan<UInt8>,
    _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) -> Bool {
    let windowBits = deflate.serverWindowBits
    var output = packed._mutatingExtracting(Self.largestHeader..<packed.count)
    guard let count = loop.deflation.zlib.compress(payload, windowBits: windowBits, into: &output) else {
      return false
    }
    let start = Self.largestHeader - FrameHeader.size(payload: count)
    FrameHeader.write(opcode: opcode, rsv1: true, payload: count, into: &packed, at: start)
    try encrypt(packed.span.extracting(start..<Self.largestHeader + count), to: &client)
    return true
  }

  // MARK: Measures

  /// No further record is read in a round after so many bytes.
  private static let deflatedReadBytes = recordBytes
  private static let largestHeader = 10
  /// What it costs to begin a message anew: about as much as so many bytes.
  private static let inflationShare = 128
  /// What zlib writes and RFC 7692 §7.2.1 has cut off.
  private static let tailBytes = 4
}

extension DeflateSession.Piece {
  fileprivate init(_ piece: DataPiece) {
    self.init(payload: [], type: piece.type, isCompressed: piece.isCompressed, endsMessage: piece.endsMessage)
  }

  /// The same with `rest` as its payload.
  fileprivate func with(_ rest: Span<UInt8>) -> DeflateSession.Piece {
    var piece = DeflateSession.Piece(
      payload: [], type: type, isCompressed: isCompressed, endsMessage: endsMessage)
    piece.payload.append(copying: rest)
    return piece
  }
}

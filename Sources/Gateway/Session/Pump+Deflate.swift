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
/// until its last byte; between messages, and so in an idle session, there is none.
internal import Bytes
internal import Configuration
internal import Deflate
internal import Sockets
internal import System
internal import TLS
internal import WebSocketWire

extension Connection {
  /// One round in a turn, of up to 2 ms: the dearest input takes zlib 45 ns a byte.
  func pumpDeflated() {
    guard stage == .session, let deflate else { return }
    if isReadingFromPlayer, client.mayHaveInput || deflate.waiting != nil { readDeflated(deflate) }
    guard stage == .session else { return }
    if isReadingFromGame, gameMayHaveInput { readFromGame() }
    guard stage == .session else { return }
    let hasMoreFromPlayer = isReadingFromPlayer && (client.mayHaveInput || deflate.waiting != nil)
    if hasMoreFromPlayer || isReadingFromGame && gameMayHaveInput { loop.continueLater(self) }
  }

  // MARK: 1. From the player

  private func readDeflated(_ deflate: DeflateSession) {
    loop.scratch.withBytes { bytes in readDeflated(deflate, &bytes) }
  }

  private func readDeflated(_ deflate: DeflateSession, _ bytes: inout MutableSpan<UInt8>) {
    var end = 0
    var ending: SessionEnd?
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
        if result == .wantsInput { break }
        if case .bytes(let count) = result { end += count }
        ending = SessionEnd(result)
      }
      if end > 0 { session?.lastHeard = loop.now }
    }
    // What is inflated in one round may have to be queued as a whole.
    let limit = min(Scratch.size, max(loop.settings.limits.queueBytes, Self.recordBytes))
    let isDone = loop.deflation.scratch.withBytes { plain in
      var room = plain._mutatingExtracting(0..<limit)
      return inflateFrames(deflate, behind: piece, &bytes, end: end, ending, into: &room)
    }
    if isDone, stage == .session, let ending { endSession(ending) }
  }

  // MARK: 2. Frames

  /// False when not all is done, and the rest waits.
  private func inflateFrames(
    _ deflate: DeflateSession, behind piece: DeflateSession.Piece?, _ bytes: inout MutableSpan<UInt8>,
    end: Int,
    _ connectionEnding: SessionEnd?, into plain: inout MutableSpan<UInt8>
  ) -> Bool {
    var made = 0
    var position = 0
    var ending: SessionEnd?
    var rest = piece
    if let piece { rest = inflate(deflate, piece.payload.span, piece, &plain, &made, &ending) }
    decoding: while ending == nil, rest == nil {
      var output = position
      guard let event = session?.decoder.next(&bytes, position: &position, end: end, output: &output) else {
        return true
      }
      switch event {
      case .needMore: break decoding
      case .data(let piece):
        let payload = bytes.span.extracting(piece.start..<output)
        rest = inflate(deflate, payload, DeflateSession.Piece(piece), &plain, &made, &ending)
      case .ping(let payload): answerPing(payload)
      case .pong: break
      case .close(let request): ending = .playerClosed(request.code)
      case .violation(let violation): ending = .violation(violation.closeCode, step: violation.step)
      }
    }
    if session?.closing.delivers ?? false { deliver(plain.span.extracting(0..<made)) }
    guard stage == .session else { return true }
    if let ending {
      endSession(ending)
      return true
    }
    guard let rest else { return true }
    var frames: [UInt8] = []
    frames.append(copying: bytes.span.extracting(position..<end))
    deflate.waiting = DeflateSession.Waiting(piece: rest, frames: frames, ending: connectionEnding)
    return false
  }

  // MARK: 3. Payload

  /// Puts what becomes of `payload` behind `made`; returns what had no room.
  private func inflate(
    _ deflate: DeflateSession, _ payload: Span<UInt8>, _ piece: DeflateSession.Piece,
    _ plain: inout MutableSpan<UInt8>, _ made: inout Int, _ ending: inout SessionEnd?
  ) -> DeflateSession.Piece? {
    let start = made
    var taken = payload.count
    var isWhole = true
    if piece.isCompressed {
      let outcome = deflate.incoming.take(
        payload, type: piece.type, endsMessage: piece.endsMessage, from: loop.deflation.zlib, into: &plain,
        at: &made)
      switch outcome {
      case .taken: break
      case .outputFull(let count): (taken, isWhole) = (count, false)
      case .violation(let violation):
        isWhole = false
        ending = .violation(violation.closeCode, step: violation.step)
      }
    } else {
      taken = min(payload.count, plain.count - made)
      for index in 0..<taken { plain[made + index] = payload[index] }
      made += taken
      isWhole = taken == payload.count
    }
    if backend == nil {
      echo(plain.span.extracting(start..<made), type: piece.type, endsMessage: piece.endsMessage && isWhole)
    }
    return isWhole || ending != nil ? nil : piece.with(payload.extracting(taken..<payload.count))
  }

  // MARK: 5. Frames to the player

  /// Like `frame(_:_:)`, each message compressed on its own if that makes it shorter.
  func frameDeflated(_ bytes: inout MutableSpan<UInt8>, _ count: Int) {
    var left = count
    var start = Self.headerRoom
    while left > 0, stage == .session {
      let part = min(left, Self.slotBytes)
      if !sendDeflated(bytes.span.extracting(start..<start + part), opcode: .binary) {
        let header = start - FrameHeader.size(payload: part)
        FrameHeader.write(opcode: .binary, payload: part, into: &bytes, at: header)
        encrypt(bytes.span.extracting(header..<start + part))
      }
      left -= part
      start += Self.headerRoom + Self.slotBytes
    }
  }

  // MARK: 6. One message

  /// False when the message is short, or would not get shorter: it then goes out as it is.
  func sendDeflated(_ payload: Span<UInt8>, opcode: Opcode) -> Bool {
    if payload.count < DeflateSession.leastMessageBytes { return false }
    let room = Self.largestHeader + payload.count + Self.tailBytes
    // With echo, the scratch is where the message has just been inflated to.
    if room <= Scratch.size, backend != nil {
      return loop.deflation.scratch.withBytes { packed in sendDeflated(payload, opcode, by: &packed) }
    }
    var bytes = [UInt8](repeating: 0, count: room)
    var packed = bytes.mutableSpan
    return sendDeflated(payload, opcode, by: &packed)
  }

  private func sendDeflated(
    _ payload: Span<UInt8>, _ opcode: Opcode, by packed: inout MutableSpan<UInt8>
  ) -> Bool {
    guard let windowBits = deflate?.serverWindowBits else { return false }
    var output = packed._mutatingExtracting(Self.largestHeader..<packed.count)
    guard let count = loop.deflation.zlib.compress(payload, windowBits: windowBits, into: &output) else {
      return false
    }
    let start = Self.largestHeader - FrameHeader.size(payload: count)
    FrameHeader.write(opcode: opcode, rsv1: true, payload: count, into: &packed, at: start)
    encrypt(packed.span.extracting(start..<Self.largestHeader + count))
    return true
  }

  // MARK: Measures

  /// No further record is read in a round behind so many bytes.
  private static let deflatedReadBytes = recordBytes
  private static let largestHeader = 10
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

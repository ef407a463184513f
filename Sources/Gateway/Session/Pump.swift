/// The pump: the player's frames to the game, the game's bytes to the player, without buffers while both keep up.
///
/// Outbound (player to game)                      Inbound (game to player)
///   1. readFromPlayer   TLS records → scratch      5. readFromGame   readv → scratch, room for headers between
///   2. decode           unmasked in place          6. frame          headers written in front of what came
///   3. deliver          one send to the game       7. encrypt        records → outbox
///   4. (queue)          what the game refuses      8. settle         one send to the player, the rest queued
///
/// Reading from a side stops while anything waits for the other one: that is the backpressure, both ways.
internal import Bytes
internal import Configuration
internal import Sockets
internal import System
internal import TLS
internal import WebSocketWire

extension Connection {
  /// One round of either direction in a turn; then others have theirs.
  func pump() {
    guard stage == .session else { return }
    resumeBlocked()
    if isDeflating { return pumpDeflated() }
    if isReadingFromPlayer, client.mayHaveInput { readFromPlayer() }
    guard stage == .session else { return }
    if isReadingFromGame, gameMayHaveInput { readFromGame() }
    if stage == .session, isReadingFromPlayer && client.mayHaveInput || isReadingFromGame && gameMayHaveInput
    {
      loop.continueLater(self)
    }
  }

  /// Nothing is read from the player while the game (or, with echo, the player itself) takes nothing.
  var isReadingFromPlayer: Bool {
    if backend != nil { return backendQueueIsEmpty }
    return client.unsent.isEmpty || !(session?.closing.isOpen ?? false)
  }

  var isReadingFromGame: Bool {
    backend != nil && client.unsent.isEmpty && session?.closing.isOpen ?? false
  }

  var gameMayHaveInput: Bool { backend?.mayHaveInput ?? false }
  private var backendQueueIsEmpty: Bool { backend?.unsent.isEmpty ?? true }

  /// Sends what waited for either side, and notes when nothing waits any more.
  private func resumeBlocked() {
    if !backendQueueIsEmpty {
      switch backend?.resumeSending() {
      case .drained?:
        session?.lastHeard = loop.now
      case .blocked?, nil: break
      case .failed(let error)?: return endSession(.gameFailed(reason: Self.peerReason(error)))
      }
    }
    if !client.unsent.isEmpty, case .failed(let error) = client.flush(loop.outbox) {
      return endSession(.playerVanished(reason: error.description))
    }
    session?.pongsLeft = Session.pongsPerTurn
    if client.unsent.isEmpty, let pong = session?.pendingPong {
      session?.pendingPong = nil
      _ = client.tls.write(ControlFrame.pong(pong).span)
    }
  }

  // MARK: 1. From the player

  private func readFromPlayer() {
    loop.scratch.withBytes { bytes in readFromPlayer(&bytes) }
  }

  private func readFromPlayer(_ bytes: inout MutableSpan<UInt8>) {
    var end = 0
    var last = TLSReadResult.wantsInput
    // A record holds at most 16 KiB: read while a whole one fits, so that several small ones make one send. What is
    // read in one round may have to be queued as a whole.
    let limit = min(bytes.count, max(loop.settings.limits.queueBytes, Self.recordBytes))
    while end + Self.recordBytes <= limit {
      var rest = bytes._mutatingExtracting(end..<bytes.count)
      last = client.read(into: &rest)
      guard case .bytes(let count) = last else { break }
      end += count
    }
    if end > 0 {
      session?.lastHeard = loop.now
      decode(&bytes, end: end)
    }
    if stage == .session, let end = SessionEnd(last) { endSession(end) }
  }

  // MARK: 2. Frames

  private func decode(_ bytes: inout MutableSpan<UInt8>, end: Int) {
    var position = 0
    var output = 0
    var ending: SessionEnd?
    decoding: while ending == nil {
      guard let event = session?.decoder.next(&bytes, position: &position, end: end, output: &output) else {
        return
      }
      switch event {
      case .needMore: break decoding
      case .data(let piece):
        if backend == nil { echo(piece, bytes.span.extracting(piece.start..<output)) }
      case .ping(let payload): answerPing(payload)
      case .pong: break
      case .close(let request): ending = .playerClosed(request.code)
      case .violation(let violation): ending = .violation(violation.closeCode, step: violation.step)
      }
    }
    if session?.closing.delivers ?? false { deliver(bytes.span.extracting(0..<output)) }
    if let ending, stage == .session { endSession(ending) }
  }

  /// A record may hold thousands of pings: after some answers in one turn only the newest one is kept for the next.
  func answerPing(_ payload: [UInt8]) {
    guard session?.closing.isOpen ?? false else { return }
    if client.unsent.isEmpty, session?.takesPong() ?? false {
      _ = client.tls.write(ControlFrame.pong(payload).span)
    } else {
      session?.pendingPong = payload
      if client.unsent.isEmpty { loop.continueLater(self) }
    }
  }

  // MARK: 3. To the game

  func deliver(_ payload: Span<UInt8>) {
    guard !payload.isEmpty, backend != nil else { return }
    session?.bytesFromPlayer += UInt64(payload.count)
    switch backend?.send(payload) {
    case .drained?, .blocked?, nil: break
    case .failed(let error)?: endSession(.gameFailed(reason: Self.peerReason(error)))
    }
  }

  // MARK: 5. From the game

  func readFromGame() {
    loop.scratch.withBytes { bytes in readFromGame(&bytes) }
    if case .failed(let error) = client.flush(loop.outbox) {
      endSession(.playerVanished(reason: error.description))
    }
  }

  private func readFromGame(_ bytes: inout MutableSpan<UInt8>) {
    let limit = min(bytes.count, max(loop.settings.limits.queueBytes, Self.recordBytes))
    var room = bytes._mutatingExtracting(0..<limit)
    let result = backend?.receive(into: &room, gapBytes: Self.headerRoom, slotBytes: Self.slotBytes)
    switch result {
    case .bytes(let count)?:
      session?.bytesFromGame += UInt64(count)
      if session?.text != nil {
        frameText(bytes.span, count)
      } else if isDeflating {
        frameDeflated(&bytes, count)
      } else {
        frame(&bytes, count)
      }
    case .wouldBlock?, nil: break
    case .ended?:
      finishText()
      endSession(.gameClosed)
    case .failed(let error)?: endSession(.gameFailed(reason: Self.peerReason(error)))
    }
  }

  // MARK: 6. Frames to the player

  /// Each slot that came full is a message whose frame fills one TLS record to the last byte; the rest is one more.
  private func frame(_ bytes: inout MutableSpan<UInt8>, _ count: Int) {
    let fullSlots = count / Self.slotBytes
    for slot in 0..<fullSlots {
      FrameHeader.write(
        opcode: .binary, payload: Self.slotBytes, into: &bytes, at: slot * (Self.headerRoom + Self.slotBytes))
    }
    let end = fullSlots * (Self.headerRoom + Self.slotBytes)
    if end > 0 { encrypt(bytes.span.extracting(0..<end)) }
    let rest = count - fullSlots * Self.slotBytes
    guard rest > 0 else { return }
    let start = end + Self.headerRoom - FrameHeader.size(payload: rest)
    FrameHeader.write(opcode: .binary, payload: rest, into: &bytes, at: start)
    encrypt(bytes.span.extracting(start..<end + Self.headerRoom + rest))
  }

  /// The same in text mode, where bytes may have to be replaced or held back: this way has a buffer of its own.
  private func frameText(_ bytes: Span<UInt8>, _ count: Int) {
    var text: [UInt8] = []
    var left = count
    var start = Self.headerRoom
    while left > 0 {
      let part = min(left, Self.slotBytes)
      session?.text?.repair(bytes.extracting(start..<start + part), into: &text)
      left -= part
      start += Self.headerRoom + Self.slotBytes
    }
    if !text.isEmpty { sendMessage(text, opcode: .text) }
  }

  /// The game has ended within a code point: what was held back goes out as U+FFFD.
  private func finishText() {
    var text: [UInt8] = []
    session?.text?.finish(into: &text)
    if !text.isEmpty { sendMessage(text, opcode: .text) }
  }

  /// A message with a buffer of its own.
  private func sendMessage(_ payload: [UInt8], opcode: Opcode) {
    if isDeflating, sendDeflated(payload.span, opcode: opcode) { return }
    var frame = [UInt8](repeating: 0, count: FrameHeader.size(payload: payload.count))
    var header = frame.mutableSpan
    FrameHeader.write(opcode: opcode, payload: payload.count, into: &header, at: 0)
    frame += payload
    encrypt(frame.span)
  }

  // MARK: 7. Records

  func encrypt(_ bytes: Span<UInt8>) {
    if !client.tls.write(bytes) { endSession(.playerVanished(reason: "TLS write failed")) }
  }

  // MARK: Echo

  /// `BACKEND=echo:`: each message goes back whole, with its type.
  func echo(_ piece: DataPiece, _ payload: Span<UInt8>) {
    echo(payload, type: piece.type, endsMessage: piece.endsMessage)
  }

  func echo(_ payload: Span<UInt8>, type: MessageType, endsMessage: Bool) {
    guard session?.closing.isOpen ?? false else { return }
    session?.bytesFromPlayer += UInt64(payload.count)
    session?.echo.append(copying: payload)
    guard endsMessage, let message = session?.echo else { return }
    session?.echo = []
    session?.bytesFromGame += UInt64(message.count)
    sendMessage(message, opcode: type.opcode)
  }

  // MARK: Measures

  /// The header of a frame with 126 to 65,535 bytes of payload.
  static let headerRoom = 4
  /// With its header, one TLS record of 16 KiB (RFC 8446 §5.1).
  static let slotBytes = recordBytes - headerRoom
  static let recordBytes = 16 * 1024

  /// What a player may know of a failure on the game's side.
  private static func peerReason(_ error: SystemError) -> String {
    "the game's connection failed: \(error)"
  }
}

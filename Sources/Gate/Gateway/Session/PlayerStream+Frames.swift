/// The pump's frames to the player (`PlayerStream+Pump`, step 6): the game's bytes as they came, repaired as text, or a message
/// with a buffer of its own.
internal import Admission
internal import Bytes
internal import Telemetry
internal import TLS
internal import WebSocketWire

extension PlayerStream {
  /// Each slot that came full is a message whose frame fills one TLS record to the last byte; the rest is one more.
  func frame(
    _ bytes: inout MutableSpan<UInt8>, _ count: Int, to client: inout ClientLeg
  ) throws(ConnectionEnd) {
    let fullSlots = count / Self.slotBytes
    for slot in 0..<fullSlots {
      FrameHeader.write(
        opcode: .binary, payload: Self.slotBytes, into: &bytes, at: slot * (Self.headerRoom + Self.slotBytes))
    }
    let end = fullSlots * (Self.headerRoom + Self.slotBytes)
    if end > 0 { try encrypt(bytes.span.extracting(0..<end), to: &client) }
    let rest = count - fullSlots * Self.slotBytes
    guard rest > 0 else { return }
    let start = end + Self.headerRoom - FrameHeader.size(payload: rest)
    FrameHeader.write(opcode: .binary, payload: rest, into: &bytes, at: start)
    try encrypt(bytes.span.extracting(start..<end + Self.headerRoom + rest), to: &client)
  }

  /// The same in text mode, where bytes may have to be replaced or held back: this way has a buffer of its own.
  mutating func frameText(
    _ bytes: Span<UInt8>, _ count: Int, _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) {
    var repaired: [UInt8] = []
    var left = count
    var start = Self.headerRoom
    while left > 0 {
      let part = min(left, Self.slotBytes)
      game.text?.repair(bytes.extracting(start..<start + part), into: &repaired)
      left -= part
      start += Self.headerRoom + Self.slotBytes
    }
    if !repaired.isEmpty { try sendMessage(repaired, opcode: .text, &client, &game, on: loop) }
  }

  /// The game has ended within a code point: what was held back goes out as U+FFFD.
  mutating func finishText(_ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop)
    throws(ConnectionEnd)
  {
    var repaired: [UInt8] = []
    game.text?.finish(into: &repaired)
    if !repaired.isEmpty { try sendMessage(repaired, opcode: .text, &client, &game, on: loop) }
  }

  /// A message with a buffer of its own.
  func sendMessage(
    _ payload: [UInt8], opcode: Opcode, _ client: inout ClientLeg, _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) {
    loop.counters.messagesToPlayers.add()
    if let deflate, try sendDeflated(deflate, payload.span, opcode: opcode, &client, &game, on: loop) {
      return
    }
    try encrypt(Self.frame(payload, opcode: opcode).span, to: &client)
  }

  static func frame(_ payload: [UInt8], opcode: Opcode) -> [UInt8] {
    var frame = [UInt8](repeating: 0, count: FrameHeader.size(payload: payload.count))
    var header = frame.mutableSpan
    FrameHeader.write(opcode: opcode, payload: payload.count, into: &header, at: 0)
    frame += payload
    return frame
  }

  // MARK: Echo

  /// `BACKEND=echo:`: each message goes back whole, with its type.
  mutating func echo(
    _ payload: Span<UInt8>, type: MessageType, endsMessage: Bool, _ client: inout ClientLeg,
    _ game: inout GameSide, on loop: Loop
  ) throws(ConnectionEnd) {
    guard closing.isOpen else { return }
    game.bytesFromPlayer += UInt64(payload.count)
    assembly.append(copying: payload)
    guard endsMessage else { return }
    let message = assembly
    assembly = []
    game.bytesFromGame += UInt64(message.count)
    try sendMessage(message, opcode: type.opcode, &client, &game, on: loop)
  }
}

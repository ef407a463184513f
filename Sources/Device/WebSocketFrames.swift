/// Frames as a client sends and receives them (RFC 6455 §5): masked on the way out, never on the way in.
internal import Bytes

enum WebSocketOpcode: UInt8 {
  case continuation = 0x0
  case text = 0x1
  case binary = 0x2
  case close = 0x8
  case ping = 0x9
  case pong = 0xA

  var isControl: Bool { rawValue & 0x8 != 0 }
}

enum ClientFrame {
  /// One final frame. `mask` is 4 bytes.
  static func encode(_ opcode: WebSocketOpcode, _ payload: [UInt8], mask: [UInt8]) -> [UInt8] {
    var frame = [0x80 | opcode.rawValue]
    switch payload.count {
    case ...125: frame.append(0x80 | UInt8(payload.count))
    case ...0xFFFF: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default: frame += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    frame += mask
    frame.reserveCapacity(frame.count + payload.count)
    for (index, byte) in payload.enumerated() { frame.append(byte ^ mask[index & 3]) }
    return frame
  }
}

/// Puts messages together from a server's frames.
struct ServerFrames {
  enum Event: Equatable {
    case text(String)
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(code: UInt16?, reason: String)
  }

  /// More than any gate sends in one message.
  static let largestMessage = 16 << 20

  private var message: [UInt8] = []
  private var messageOpcode: WebSocketOpcode?

  /// The frame at the start of `bytes`: how long it is, and what it completes. Nil: more bytes are needed.
  mutating func next(_ bytes: [UInt8]) throws(GateClientError) -> (length: Int, event: Event?)? {
    guard bytes.count >= 2 else { return nil }
    guard bytes[0] & 0x70 == 0, let opcode = WebSocketOpcode(rawValue: bytes[0] & 0x0F) else {
      throw .protocolViolation("reserved bits or opcode")
    }
    guard bytes[1] & 0x80 == 0 else { throw .protocolViolation("a masked frame from the server") }
    let isFinal = bytes[0] & 0x80 != 0
    let (headLength, payloadLength): (Int, UInt64)
    switch bytes[1] {
    case 126: (headLength, payloadLength) = (4, Self.number(bytes.dropFirst(2).prefix(2)))
    case 127: (headLength, payloadLength) = (10, Self.number(bytes.dropFirst(2).prefix(8)))
    default: (headLength, payloadLength) = (2, UInt64(bytes[1]))
    }
    guard bytes.count >= headLength else { return nil }
    if opcode.isControl, !isFinal || payloadLength > 125 { throw .protocolViolation("a control frame too long or split") }
    guard payloadLength <= UInt64(Self.largestMessage - message.count) else {
      throw .protocolViolation("a message beyond \(Self.largestMessage) bytes")
    }
    let length = headLength + Int(payloadLength)
    guard bytes.count >= length else { return nil }
    return (length, try accept(opcode, isFinal, bytes[headLength..<length]))
  }

  private mutating func accept(
    _ opcode: WebSocketOpcode, _ isFinal: Bool, _ payload: ArraySlice<UInt8>
  ) throws(GateClientError) -> Event? {
    switch opcode {
    case .ping: return .ping(Array(payload))
    case .pong: return .pong(Array(payload))
    case .close: return try Self.close(payload)
    case .continuation:
      guard messageOpcode != nil else { throw .protocolViolation("a continuation of nothing") }
    case .text, .binary:
      guard messageOpcode == nil else { throw .protocolViolation("a message inside another") }
      messageOpcode = opcode
    }
    message += payload
    guard isFinal else { return nil }
    let whole = message
    let isText = messageOpcode == .text
    (message, messageOpcode) = ([], nil)
    return isText ? .text(try Self.text(whole[...])) : .binary(whole)
  }

  private static func close(_ payload: ArraySlice<UInt8>) throws(GateClientError) -> Event {
    if payload.isEmpty { return .close(code: nil, reason: "") }
    guard payload.count >= 2 else { throw .protocolViolation("half a close code") }
    return .close(code: UInt16(number(payload.prefix(2))), reason: try text(payload.dropFirst(2)))
  }

  private static func text(_ bytes: ArraySlice<UInt8>) throws(GateClientError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .protocolViolation("text that is not UTF-8") }
    return text
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

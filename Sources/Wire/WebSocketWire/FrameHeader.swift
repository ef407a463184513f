/// Writes frames (RFC 6455 §5.2): unmasked as a server sends them, masked as a client does.

/// The header of an unmasked frame, in its shortest form.
package enum FrameHeader {
  /// How many bytes the header of a frame with `payload` bytes takes: 2, 4 or 10.
  package static func size(payload: Int) -> Int {
    payload < 126 ? 2 : payload <= 0xFFFF ? 4 : 10
  }

  /// Writes `size(payload:)` bytes at `index`.
  package static func write(
    opcode: Opcode, fin: Bool = true, rsv1: Bool = false, payload: Int, into buffer: inout MutableSpan<UInt8>,
    at index: Int
  ) {
    buffer[index] = firstByte(opcode, fin: fin, rsv1: rsv1)
    switch size(payload: payload) {
    case 2: buffer[index + 1] = UInt8(payload)
    case 4:
      buffer[index + 1] = 126
      writeBigEndian(payload, bytes: 2, into: &buffer, at: index + 2)
    default:
      buffer[index + 1] = 127
      writeBigEndian(payload, bytes: 8, into: &buffer, at: index + 2)
    }
  }

  fileprivate static func firstByte(_ opcode: Opcode, fin: Bool, rsv1: Bool) -> UInt8 {
    (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0) | opcode.rawValue
  }

  private static func writeBigEndian(
    _ number: Int, bytes: Int, into buffer: inout MutableSpan<UInt8>, at index: Int
  ) {
    for offset in 0..<bytes {
      buffer[index + offset] = UInt8(truncatingIfNeeded: number >> ((bytes - 1 - offset) * 8))
    }
  }
}

/// Whole control frames, unmasked (RFC 6455 §5.5).
package enum ControlFrame {
  /// Of any control frame's payload.
  package static let payloadLimit = 125

  package static func ping(_ payload: [UInt8] = []) -> [UInt8] { frame(.ping, payload) }

  package static func pong(_ payload: [UInt8]) -> [UInt8] { frame(.pong, payload) }

  /// Without a code the payload is empty. A reason too long for the frame is cut between characters.
  package static func close(_ code: CloseCode?, reason: String = "") -> [UInt8] {
    frame(.close, closePayload(code, reason: reason))
  }

  /// The payload of a Close frame, before masking.
  package static func closePayload(_ code: CloseCode?, reason: String = "") -> [UInt8] {
    guard let code else { return [] }
    var payload = [UInt8(code.rawValue >> 8), UInt8(code.rawValue & 0xFF)]
    for scalar in reason.unicodeScalars {
      let encoded = Array(String(scalar).utf8)
      if payload.count + encoded.count > payloadLimit { break }
      payload += encoded
    }
    return payload
  }

  private static func frame(_ opcode: Opcode, _ payload: [UInt8]) -> [UInt8] {
    guard payload.count <= payloadLimit else { fatalError("ControlFrame: more than 125 bytes") }
    return [FrameHeader.firstByte(opcode, fin: true, rsv1: false), UInt8(payload.count)] + payload
  }
}

/// Masked frames of a client: the software device and the tests speak them.
package enum ClientFrame {
  package static func encode(
    _ opcode: Opcode, _ payload: [UInt8], mask key: MaskingKey, fin: Bool = true, rsv1: Bool = false
  ) -> [UInt8] {
    let headerSize = FrameHeader.size(payload: payload.count)
    var frame = [UInt8](repeating: 0, count: headerSize)
    var header = frame.mutableSpan
    FrameHeader.write(opcode: opcode, fin: fin, rsv1: rsv1, payload: payload.count, into: &header, at: 0)
    header[1] |= 0x80
    frame += key.wireBytes
    let start = frame.count
    frame += payload
    var masked = key
    var bytes = frame.mutableSpan
    masked.apply(in: &bytes, from: start, to: start, count: payload.count)
    return frame
  }
}

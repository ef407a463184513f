/// Reads one frame header (RFC 6455 §5.2) byte by byte, and judges each byte as soon as it is there.
struct HeaderReader: Sendable {
  private(set) var length = 0
  private(set) var key = MaskingKey()
  private(set) var opcode = Opcode.continuation
  private(set) var isFinal = false
  private(set) var isCompressed = false
  private var place = Place.first
  private var isMasked = false
  /// Of the extended length, or of the key, as the place says.
  private var bytesDue: UInt8 = 0

  private enum Place: Sendable {
    case first, second, shortLength, longLength, key, complete
  }

  var isComplete: Bool { place == .complete }

  /// What the header is read against: the state of the message around it and what the endpoint allows.
  struct Context {
    var isInsideMessage: Bool
    var acceptsCompressed: Bool
    var expectsMask: Bool
    var frameBytes: Int
    /// What the message may still grow by.
    var messageBytes: Int

    /// For a compressed message: zlib's stored blocks take 5 bytes more for each 127 at worst.
    mutating func allowOverhead() {
      frameBytes += frameBytes >> 4 + 64
      messageBytes += messageBytes >> 4 + 64
    }
  }

  /// The rule that `byte` breaks, or nil.
  mutating func take(_ byte: UInt8, _ context: Context) -> WebSocketViolation? {
    switch place {
    case .first: return takeFirst(byte, context)
    case .second: return takeSecond(byte, context)
    case .shortLength, .longLength: return takeLength(byte, context)
    case .key:
      key.append(byte)
      bytesDue -= 1
      if bytesDue == 0 { place = .complete }
      return nil
    case .complete: fatalError("HeaderReader: a byte after the header's end")
    }
  }

  private mutating func takeFirst(_ byte: UInt8, _ context: Context) -> WebSocketViolation? {
    let known = Opcode(rawValue: byte & 0x0F)
    isFinal = byte & 0x80 != 0
    isCompressed = byte & 0x40 != 0
    guard byte & 0x30 == 0 else { return .reservedBits }
    // RFC 7692 §6: RSV1 on the first frame of a message, and only when agreed.
    if isCompressed, !context.acceptsCompressed || (known != .text && known != .binary) {
      return .reservedBits
    }
    guard let known else { return .unknownOpcode }
    opcode = known
    switch known {
    case .close, .ping, .pong:
      if !isFinal { return .fragmentedControl }
    case .continuation:
      if !context.isInsideMessage { return .unexpectedContinuation }
    case .text, .binary:
      if context.isInsideMessage { return .unfinishedMessage }
    }
    place = .second
    return nil
  }

  private mutating func takeSecond(_ byte: UInt8, _ context: Context) -> WebSocketViolation? {
    isMasked = byte & 0x80 != 0
    guard isMasked == context.expectsMask else { return isMasked ? .masked : .unmasked }
    length = 0
    let short = Int(byte & 0x7F)
    if opcode.isControl {
      if short > 125 { return .controlTooLong }
      if opcode == .close, short == 1 { return .closeLength }
    }
    switch short {
    case 126: (place, bytesDue) = (.shortLength, 2)
    case 127: (place, bytesDue) = (.longLength, 8)
    default:
      length = short
      if !opcode.isControl, let violation = excess(of: length, context) { return violation }
      beginKey()
    }
    return nil
  }

  private mutating func takeLength(_ byte: UInt8, _ context: Context) -> WebSocketViolation? {
    if place == .longLength, bytesDue == 8, byte & 0x80 != 0 { return .lengthTopBit }
    length = length << 8 | Int(byte)
    bytesDue -= 1
    if place == .shortLength, bytesDue == 0, length < 126 { return .nonMinimalLength }
    // Six zero bytes leave less than 65,536, which has a shorter form.
    if place == .longLength, bytesDue == 2, length == 0 { return .nonMinimalLength }
    // The bytes still due can only add to it.
    if let violation = excess(of: length << (Int(bytesDue) * 8), context) { return violation }
    if bytesDue == 0 { beginKey() }
    return nil
  }

  /// The tighter of the two limits is named, so that the verdict does not depend on which byte gives it.
  private func excess(of length: Int, _ context: Context) -> WebSocketViolation? {
    if isCompressed {
      // Where a compressed message begins; for its other frames the context has it already.
      var context = context
      context.allowOverhead()
      return excess(of: length, within: context)
    }
    return excess(of: length, within: context)
  }

  private func excess(of length: Int, within context: Context) -> WebSocketViolation? {
    if context.messageBytes < context.frameBytes {
      return length > context.messageBytes ? .messageTooLarge : nil
    }
    return length > context.frameBytes ? .frameTooLarge : nil
  }

  private mutating func beginKey() {
    key = MaskingKey()
    (place, bytesDue) = isMasked ? (.key, 4) : (.complete, 0)
  }
}

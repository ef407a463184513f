/// The rules of RFC 6455 that a peer can break, each with the code that ends the connection and its word for
/// the log.
package enum WebSocketViolation: String, Error, CaseIterable, Sendable {
  case reservedBits = "reserved_bits"
  case unknownOpcode = "unknown_opcode"
  case fragmentedControl = "fragmented_control"
  case unexpectedContinuation = "unexpected_continuation"
  case unfinishedMessage = "unfinished_message"
  case unmasked
  case masked
  case controlTooLong = "control_too_long"
  case closeLength = "close_length"
  case closeCode = "close_code"
  case closeReason = "close_reason"
  case nonMinimalLength = "non_minimal_length"
  case lengthTopBit = "length_top_bit"
  case frameTooLarge = "frame_too_large"
  case messageTooLarge = "message_too_large"
  case tooManyEmptyFragments = "too_many_empty_fragments"
  case invalidText = "invalid_text"
  case unfinishedText = "unfinished_text"
  /// A compressed message that is no deflate data, or stops within a block (RFC 7692 §7.2.2).
  case invalidDeflate = "invalid_deflate"

  package var closeCode: CloseCode {
    switch self {
    case .reservedBits, .unknownOpcode, .fragmentedControl, .unexpectedContinuation, .unfinishedMessage,
      .unmasked,
      .masked, .controlTooLong, .closeLength, .closeCode, .nonMinimalLength, .lengthTopBit:
      .protocolError
    case .closeReason, .invalidText, .unfinishedText, .invalidDeflate: .invalidPayload
    case .frameTooLarge, .messageTooLarge, .tooManyEmptyFragments: .messageTooBig
    }
  }

  /// The word for the log.
  package var step: String { rawValue }
}

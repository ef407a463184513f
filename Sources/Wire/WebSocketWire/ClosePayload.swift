/// The payload of Close frames (RFC 6455 §5.5.1): two bytes of code, then a reason in UTF-8.
internal import Bytes

enum ClosePayload {
  /// The rule broken by what has come of a payload; one of a single byte was refused with its header.
  static func violation(in payload: [UInt8], isWhole: Bool) -> WebSocketViolation? {
    guard payload.count >= 2 else { return nil }
    guard code(payload) != nil else { return .closeCode }
    var reason = UTF8Validator()
    guard reason.accept(payload.span.extracting(2..<payload.count)) else { return .closeReason }
    return isWhole && !reason.isComplete ? .closeReason : nil
  }

  /// Of a payload without violation.
  static func request(_ payload: [UInt8]) -> CloseRequest {
    guard payload.count >= 2 else { return CloseRequest(code: nil, reason: "") }
    return CloseRequest(code: code(payload), reason: String(decoding: payload[2...], as: UTF8.self))
  }

  private static func code(_ payload: [UInt8]) -> CloseCode? {
    CloseCode(UInt16(payload[0]) << 8 | UInt16(payload[1]))
  }
}

/// Why a request head was refused: the broken rule, what the peer is told, and whether the connection may go
/// on.
package import PortcullisProtocol

package struct RequestRefusal: Error, Equatable, Sendable {
  package let rule: Rule
  /// The length of the head when it is whole, its framing is beyond doubt, no body follows and the peer wants
  /// to keep the connection; nil when the connection has to close after the answer.
  package let consumed: Int?
  /// A response to HEAD has no body (RFC 9110 §9.3.2).
  package let isHead: Bool

  package var code: RefusalCode { rule.code }
  package var status: Status { rule.code.status }
  package var connectionMayLive: Bool { consumed != nil }
  /// The word for the log.
  package var step: String { rule.rawValue }

  init(_ rule: Rule, consumed: Int? = nil, isHead: Bool = false) {
    self.rule = rule
    self.consumed = consumed
    self.isHead = isHead
  }

  /// The rules of RFC 9112 and docs/protocol.md, "HTTP", each by the name the log knows it by.
  package enum Rule: String, CaseIterable, Sendable {
    // Syntax, judged byte by byte.
    case emptyLine = "empty_line"
    case bareLineFeed = "bare_line_feed"
    case bareCarriageReturn = "bare_carriage_return"
    case method
    case target
    case version
    case unknownVersion = "unknown_version"
    case fieldName = "field_name"
    case spaceBeforeColon = "space_before_colon"
    case foldedLine = "folded_line"
    case fieldValue = "field_value"
    // Limits.
    case requestLineLength = "request_line_length"
    case headLength = "head_length"
    case fieldCount = "field_count"
    // Meaning, judged when the head is whole: framing first.
    case hostMissing = "host_missing"
    case hostRepeated = "host_repeated"
    case host
    case contentLengthRepeated = "content_length_repeated"
    case contentLength = "content_length"
    case lengthWithTransferEncoding = "length_with_transfer_encoding"
    case transferEncodingVersion = "transfer_encoding_version"
    /// Anything but `chunked`, once.
    case transferEncoding = "transfer_encoding"
    case bodyOnGet = "body_on_get"
    case fieldRepeated = "field_repeated"
    case expectation

    var code: RefusalCode {
      switch self {
      case .emptyLine, .bareLineFeed, .bareCarriageReturn, .method, .target, .version, .fieldName,
        .spaceBeforeColon, .foldedLine, .fieldValue, .hostMissing, .hostRepeated, .host,
        .contentLengthRepeated,
        .contentLength, .lengthWithTransferEncoding, .transferEncodingVersion, .bodyOnGet, .fieldRepeated:
        .badRequest
      case .unknownVersion: .versionNotSupported
      case .requestLineLength: .uriTooLong
      case .headLength, .fieldCount: .headersTooLarge
      case .transferEncoding: .notImplemented
      case .expectation: .expectationFailed
      }
    }
  }
}

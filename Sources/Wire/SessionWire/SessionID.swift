/// The name of a session, which is also what it is resumed by: 128 random bits, known to the app alone, and so never
/// logged and never kept but as a hash.
internal import Bytes

package struct SessionID: Equatable, Sendable, CustomStringConvertible {
  package let bytes: [16 of UInt8]

  /// From a source of randomness.
  package init(_ bytes: [16 of UInt8]) {
    self.bytes = bytes
  }

  /// 22 characters of base64url without padding, spare bits zero; nil for anything else.
  package init?(text: Span<UInt8>) {
    guard text.count == Self.textBytes, let decoded = Base64.decode(text), decoded.count == Self.count else {
      return nil
    }
    bytes = InlineArray { index in decoded[index] }
  }

  package var text: String { Base64.encodeURL(bytes.span) }

  /// Not the identifier: descriptions end up in logs.
  package var description: String { "a session's id" }

  package static func == (left: Self, right: Self) -> Bool {
    equalInConstantTime(left.bytes.span, right.bytes.span)
  }

  package static let count = 16
  package static let textBytes = 22
}

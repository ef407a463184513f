/// The name of a P-256 key in JOSE: SHA-256 of its canonical JWK (RFC 7638 §3).
package import Bytes
internal import Crypto

package struct KeyThumbprint: Hashable, Sendable {
  package let hash: Bytes32

  package init(_ point: P256Point) {
    hash = SHA256.hash(Array("{\(Self.requiredMembers(of: point))}".utf8).span)
  }

  /// From 43 characters of base64url, else nil.
  package init?(_ text: String) {
    guard let bytes = Base64URL.decode(Array(text.utf8).span), let hash = Bytes32(bytes) else { return nil }
    self.hash = hash
  }

  /// 43 characters.
  package var text: String { Base64URL.encode(hash.array) }

  /// In the order and without the white space that RFC 7638 §3.3 prescribes; nothing in it needs an escape.
  static func requiredMembers(of point: P256Point) -> String {
    #""crv":"P-256","kty":"EC","x":"\#(Base64URL.encode(point.x.array))","y":"\#(Base64URL.encode(point.y.array))""#
  }
}

/// Base64url as JOSE has it (RFC 7515 §2): one alphabet, no padding, spare bits zero, so that bytes have one text.
enum Base64URL {
  static func encode(_ bytes: [UInt8]) -> String { Base64.encodeURL(bytes.span) }

  static func decode(_ text: Span<UInt8>) -> [UInt8]? { Base64.decodeURL(text) }
}

/// What opens the console: 256 random bits, shown once and kept as their SHA-256.
package import Bytes
internal import Crypto
internal import System
package import Time

package struct AccessSecret: Equatable, Sendable {
  /// Base64url without padding: as it stands in an address, a cookie or a header.
  package let text: String
  /// What is kept of it.
  package let hash: Bytes32

  package init(_ entropy: some Entropy) {
    let bytes = entropy.bytes(32)
    text = Base64.encodeURL(bytes.span)
    hash = SHA256.hash(bytes.span)
  }

  /// Of what a peer shows; nil where it has not the form of one.
  package static func hash(of text: some StringProtocol) -> Bytes32? {
    guard text.utf8.count == length else { return nil }
    guard let bytes = Base64.decodeURL(Array(text.utf8).span), bytes.count == 32 else { return nil }
    return SHA256.hash(bytes.span)
  }

  private static let length = 43
}

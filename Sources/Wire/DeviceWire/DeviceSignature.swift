/// A signature by a device's key: ECDSA on P-256 over SHA-256 of a message, in DER (RFC 3279 §2.2.3).
internal import Bytes
package import Crypto

package struct DeviceSignature: Equatable, Sendable {
  /// The strict form: a SEQUENCE of two INTEGERs, positive and minimal, and nothing else.
  package let der: [UInt8]

  package init?(_ der: [UInt8]) {
    guard ECDSASignature.isWellFormed(der.span, coordinateBytes: 32) else { return nil }
    self.der = der
  }

  package init?(base64 text: String) {
    guard text.utf8.count <= Self.longestBase64, let der = Base64.decode(Array(text.utf8).span) else {
      return nil
    }
    self.init(der)
  }

  /// Whether the key's owner signed exactly this message. A high s is as good as a low one: that a message counts once
  /// is seen to by what it is about, not by the signature's value.
  package func isValid(
    for message: DeviceMessage, by key: DevicePublicKey, verifier: P256Verifier
  ) -> Bool {
    verifier.isValidSignature(der.span, digest: message.hash, by: key.point)
  }

  /// Of 72 bytes.
  private static let longestBase64 = 96
}

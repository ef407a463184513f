/// The public keys of a device: points on P-256, in the two forms in which phones have them.
package import Bytes
package import Crypto

package struct DevicePublicKey: Hashable, Sendable {
  /// On the curve.
  package let point: P256Point

  /// From the 65 bytes of an uncompressed point (X9.63), or the 91 of a `SubjectPublicKeyInfo` with the named curve
  /// (RFC 5480 §2); nil for anything else, and for what is not on the curve.
  package init?(_ bytes: Span<UInt8>, checkedBy verifier: P256Verifier) {
    guard let point = P256Point(subjectPublicKeyInfo: bytes) ?? P256Point(x963: bytes) else { return nil }
    self.init(point, checkedBy: verifier)
  }

  /// From base64 of either form.
  package init?(base64 text: String, checkedBy verifier: P256Verifier) {
    guard text.utf8.count <= Self.longestBase64, let bytes = Base64.decode(Array(text.utf8).span) else {
      return nil
    }
    self.init(bytes.span, checkedBy: verifier)
  }

  /// Only from the 65 bytes.
  package init?(x963 bytes: Span<UInt8>, checkedBy verifier: P256Verifier) {
    guard let point = P256Point(x963: bytes) else { return nil }
    self.init(point, checkedBy: verifier)
  }

  /// Only from the 91 bytes.
  package init?(spki bytes: Span<UInt8>, checkedBy verifier: P256Verifier) {
    guard let point = P256Point(subjectPublicKeyInfo: bytes) else { return nil }
    self.init(point, checkedBy: verifier)
  }

  package init?(_ point: P256Point, checkedBy verifier: P256Verifier) {
    guard verifier.isOnCurve(point) else { return nil }
    self.point = point
  }

  /// 91 bytes.
  package var spki: [UInt8] { point.subjectPublicKeyInfo }

  /// SHA-256 of the SPKI, in whichever form the key came.
  package var hash: Bytes32 { SHA256.hash(spki.span) }

  /// Of 91 bytes, with padding.
  private static let longestBase64 = 124
}

/// What a device enrols with: the key that signs without asking anybody, and the one that a person unlocks.
package struct DeviceKeys: Hashable, Sendable {
  package let device: DevicePublicKey
  package let approval: DevicePublicKey?

  /// Nil where both are one: such an approval would prove no person.
  package init?(device: DevicePublicKey, approval: DevicePublicKey?) {
    guard approval != device else { return nil }
    self.device = device
    self.approval = approval
  }
}

/// Verifies ECDSA signatures by P-256 keys (FIPS 186-4 §6.4), one key after another in the same place.
package import Bytes

/// One to a thread.
package final class P256Verifier {
  private let key = HeldKey(.p256)
  /// What `key` has; nil before the first one, and once OpenSSL has refused one.
  private var point: P256Point?

  package init() {}

  package func isOnCurve(_ point: P256Point) -> Bool {
    withCleanErrorQueue { hold(point) }
  }

  /// Whether `signature`, strict DER of 8 to 72 bytes, is over a message whose SHA-256 is `digest` and by the key
  /// with this point: never when that is not on the curve.
  package func isValidSignature(_ signature: Span<UInt8>, digest: Bytes32, by point: P256Point) -> Bool {
    isValidSignature(signature, digest: digest) { hold(point) }
  }

  /// The same for a key whose y has to be found first, which costs a third of a verification more.
  package func isValidSignature(
    _ signature: Span<UInt8>, digest: Bytes32, by point: CompressedP256Point
  ) -> Bool {
    isValidSignature(signature, digest: digest) {
      self.point = nil
      return key.put(point.encoded)
    }
  }

  private func isValidSignature(
    _ signature: Span<UInt8>, digest: Bytes32, holding: () -> Bool
  ) -> Bool {
    guard ECDSASignature.isWellFormed(signature, coordinateBytes: 32) else { return false }
    let digest = digest.inlineArray
    return withCleanErrorQueue { holding() && key.isValid(signature, digest: digest.span) }
  }

  private func hold(_ point: P256Point) -> Bool {
    if self.point == point { return true }
    self.point = nil
    guard key.put(point.x963) else { return false }
    self.point = point
    return true
  }
}

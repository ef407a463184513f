/// Verifies ECDSA signatures by P-256 keys (FIPS 186-4 §6.4), one key after another in the same place.
package import Bytes
internal import COpenSSL

/// One to a thread. For OpenSSL 3.0, making a key from its point costs 40 % of a verification; putting the point into
/// a key that is there already, 2 %.
@safe package final class P256Verifier {
  /// An `EVP_PKEY*` whose point changes, and an `EVP_PKEY_CTX*` that is initialized for verification by it.
  private let key: OpaquePointer
  private let context: OpaquePointer
  /// What `key` has; nil before the first one, and once OpenSSL has refused one.
  private var point: P256Point?

  package init() {
    guard
      let (key, context) = unsafe withCleanErrorQueue({ () -> (OpaquePointer, OpaquePointer)? in
        guard let key = unsafe portcullis_p256_without_point() else { return nil }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else {
          unsafe EVP_PKEY_free(key)
          return nil
        }
        guard unsafe EVP_PKEY_verify_init(context) == 1 else {
          unsafe EVP_PKEY_CTX_free(context)
          unsafe EVP_PKEY_free(key)
          return nil
        }
        return unsafe (key, context)
      })
    else { fatalError("OpenSSL: no key for P-256") }
    unsafe self.key = key
    unsafe self.context = context
  }

  deinit {
    unsafe EVP_PKEY_CTX_free(context)
    unsafe EVP_PKEY_free(key)
  }

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
      return put(point.encoded)
    }
  }

  private func isValidSignature(
    _ signature: Span<UInt8>, digest: Bytes32, holding: () -> Bool
  ) -> Bool {
    guard ECDSASignature.isWellFormed(signature, coordinateBytes: 32) else { return false }
    let digest = digest.inlineArray
    return withCleanErrorQueue {
      guard holding() else { return false }
      // Both buffers are the spans' own and are only read before the call returns.
      return unsafe signature.withUnsafeBufferPointer { signature in
        unsafe digest.span.withUnsafeBufferPointer { digest in
          unsafe EVP_PKEY_verify(
            context, signature.baseAddress, signature.count, digest.baseAddress, digest.count) == 1
        }
      }
    }
  }

  private func hold(_ point: P256Point) -> Bool {
    if self.point == point { return true }
    self.point = nil
    guard put(point.x963) else { return false }
    self.point = point
    return true
  }

  /// - Parameter bytes: a point as SEC 1 encodes it, whole or compressed.
  private func put(_ bytes: [UInt8]) -> Bool {
    // The bytes are only read before the call returns; it checks that they are on the curve.
    unsafe bytes.span.withUnsafeBufferPointer { buffer in
      unsafe EVP_PKEY_set1_encoded_public_key(key, buffer.baseAddress, buffer.count) == 1
    }
  }
}

/// A P-256 public key that verifies ECDSA signatures (FIPS 186-4 §6.4); any number of threads may use it at
/// once.
package import Bytes
internal import COpenSSL

package enum PublicKeyError: Error, Equatable, Sendable {
  case pointNotOnCurve
}

/// Kept in this form, a verification costs one `EVP_PKEY_verify`; building it from the point costs about 15
/// µs.
@safe package final class P256VerificationKey: @unchecked Sendable {
  package let point: P256Point
  /// `EVP_PKEY_CTX*`, initialized for verification. It is only ever duplicated (0.2 µs, against 3 µs for a
  /// new one), never used itself, hence safe to share; it keeps the `EVP_PKEY` alive.
  private let prepared: OpaquePointer

  package init(_ point: P256Point) throws(PublicKeyError) {
    self.point = point
    let bytes = point.x963
    guard
      let prepared = unsafe withCleanErrorQueue({ () -> OpaquePointer? in
        // The point is 65 bytes, as the shim expects, and is only read before the call returns.
        let key = unsafe bytes.span.withUnsafeBufferPointer { buffer in
          unsafe portcullis_p256_from_point(buffer.baseAddress)
        }
        guard let key = unsafe key else { return nil }
        defer { unsafe EVP_PKEY_free(key) }
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return nil }
        guard unsafe EVP_PKEY_verify_init(context) == 1 else {
          unsafe EVP_PKEY_CTX_free(context)
          return nil
        }
        return unsafe context
      })
    else { throw .pointNotOnCurve }
    unsafe self.prepared = prepared
  }

  deinit {
    unsafe EVP_PKEY_CTX_free(prepared)
  }

  /// Whether `signature`, strict DER of 8 to 72 bytes, is this key's over a message whose SHA-256 is
  /// `digest`.
  package func isValidSignature(_ signature: Span<UInt8>, digest: Bytes32) -> Bool {
    guard ECDSASignature.isWellFormed(signature, coordinateBytes: 32) else { return false }
    let digest = digest.inlineArray
    return withCleanErrorQueue {
      guard let context = unsafe EVP_PKEY_CTX_dup(prepared) else { return false }
      defer { unsafe EVP_PKEY_CTX_free(context) }
      // Both buffers are the spans' own and are only read before the call returns.
      return unsafe signature.withUnsafeBufferPointer { signature in
        unsafe digest.span.withUnsafeBufferPointer { digest in
          unsafe EVP_PKEY_verify(
            context, signature.baseAddress, signature.count, digest.baseAddress, digest.count) == 1
        }
      }
    }
  }
}

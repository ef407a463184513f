/// A public key whose point changes, and which verifies ECDSA signatures (FIPS 186-4 §6.4).
internal import COpenSSL
internal import System

/// For OpenSSL 3.0, making a key from its point costs 40 % of a verification on P-256; putting the point into a key that
/// is there already, 2 %. The caller keeps the error queue clean (`withCleanErrorQueue`).
@safe final class HeldKey {
  /// An `EVP_PKEY*`, and an `EVP_PKEY_CTX*` that is initialized for verification by it.
  private let key: OpaquePointer
  private let context: OpaquePointer

  init(_ curve: SigningKey.Curve) {
    let made = unsafe withCleanErrorQueue { () -> (OpaquePointer, OpaquePointer)? in
      let empty =
        switch curve {
        case .p256: unsafe portcullis_p256_without_point()
        case .p384: unsafe portcullis_p384_without_point()
        }
      guard let key = unsafe empty, let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil),
        unsafe EVP_PKEY_verify_init(context) == 1
      else { return nil }
      return unsafe (key, context)
    }
    guard let (key, context) = unsafe made else { fatalError("OpenSSL: no key of the curve") }
    unsafe self.key = key
    unsafe self.context = context
  }

  deinit {
    unsafe EVP_PKEY_CTX_free(context)
    unsafe EVP_PKEY_free(key)
  }

  /// - Parameter point: as SEC 1 encodes it, whole or compressed.
  /// - Returns: false where it is not on the curve; then what the key has is not to be relied on.
  func put(_ point: [UInt8]) -> Bool {
    // The bytes are only read before the call returns; it checks that they are on the curve.
    unsafe EVP_PKEY_set1_encoded_public_key(key, point, point.count) == 1
  }

  func isValid(_ signature: Span<UInt8>, digest: Span<UInt8>) -> Bool {
    defer { Thread.preemptionPoint() }
    // Both buffers are the spans' own and are only read before the call returns.
    return unsafe signature.withUnsafeBufferPointer { signature in
      unsafe digest.withUnsafeBufferPointer { digest in
        unsafe EVP_PKEY_verify(
          context, signature.baseAddress, signature.count, digest.baseAddress, digest.count) == 1
      }
    }
  }
}

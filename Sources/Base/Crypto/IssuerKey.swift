/// Public keys by which certificates are signed, and the verification of such signatures: ECDSA on P-256 and P-384
/// (FIPS 186-4 §6.4), RSA with PKCS#1 v1.5 (RFC 8017 §8.2.2).
package import Bytes
internal import COpenSSL
internal import System

/// A key as its certificate has it; whether a point is on its curve shows when it is used.
package enum IssuerKey: Equatable, Sendable {
  /// Uncompressed, 65 bytes.
  case p256(point: [UInt8])
  /// Uncompressed, 97 bytes.
  case p384(point: [UInt8])
  /// Most significant byte first, without leading zeros.
  case rsa(modulus: [UInt8], exponent: [UInt8])

  package enum Family: Sendable { case ecdsa, rsa }

  package var family: Family {
    switch self {
    case .p256, .p384: .ecdsa
    case .rsa: .rsa
    }
  }
}

package enum SignatureDigest: Sendable {
  case sha256, sha384, sha512

  /// An `EVP_MD*`, of OpenSSL's own.
  var algorithm: OpaquePointer? {
    switch self {
    case .sha256: unsafe EVP_sha256()
    case .sha384: unsafe EVP_sha384()
    case .sha512: unsafe EVP_sha512()
    }
  }
}

/// One to a thread: the points of ECDSA keys are put into keys that are there already.
@safe package final class IssuerSignatureVerifier {
  /// Made at first use.
  private var p256: HeldKey?
  private var p384: HeldKey?

  package init() {}

  /// Whether the owner of `key` signed `message`. An ECDSA signature is strict DER, an RSA signature has the modulus's
  /// length and is below it, and what it holds is compared whole with the one encoding there is.
  package func isValid(
    _ signature: Span<UInt8>, over message: Span<UInt8>, _ digest: SignatureDigest, by key: IssuerKey
  ) -> Bool {
    switch key {
    case .p256(let point):
      guard ECDSASignature.isWellFormed(signature, coordinateBytes: 32) else { return false }
      return Self.isValid(signature, Self.hash(message, digest), by: Self.held(&p256, .p256), point)
    case .p384(let point):
      guard ECDSASignature.isWellFormed(signature, coordinateBytes: 48) else { return false }
      return Self.isValid(signature, Self.hash(message, digest), by: Self.held(&p384, .p384), point)
    case .rsa(let modulus, let exponent):
      return signature.count == modulus.count
        && Self.isValidRSA(signature, over: message, digest, modulus, exponent)
    }
  }

  package func isOnCurve(_ point: P256Point) -> Bool {
    withCleanErrorQueue { Self.held(&p256, .p256).put(point.x963) }
  }

  private static func isValid(
    _ signature: Span<UInt8>, _ hash: [UInt8], by key: HeldKey, _ point: [UInt8]
  ) -> Bool {
    withCleanErrorQueue { key.put(point) && key.isValid(signature, digest: hash.span) }
  }

  private static func held(_ place: inout HeldKey?, _ curve: SigningKey.Curve) -> HeldKey {
    if let key = place { return key }
    let key = HeldKey(curve)
    place = key
    return key
  }

  private static func hash(_ message: Span<UInt8>, _ digest: SignatureDigest) -> [UInt8] {
    // Room for the longest; OpenSSL writes as many as `count` says afterwards.
    var hash = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
    var count: UInt32 = 0
    let done = unsafe message.withUnsafeBufferPointer { message in
      unsafe EVP_Digest(message.baseAddress, message.count, &hash, &count, digest.algorithm, nil)
    }
    expectSuccess(done, "EVP_Digest")
    hash.removeLast(hash.count - Int(count))
    return hash
  }

  private static func isValidRSA(
    _ signature: Span<UInt8>, over message: Span<UInt8>, _ digest: SignatureDigest, _ modulus: [UInt8],
    _ exponent: [UInt8]
  ) -> Bool {
    defer { Thread.preemptionPoint() }
    return withCleanErrorQueue {
      guard let key = unsafe portcullis_rsa_public(modulus, modulus.count, exponent, exponent.count) else {
        return false
      }
      defer { unsafe EVP_PKEY_free(key) }
      guard let context = unsafe EVP_MD_CTX_new() else { fatalError("OpenSSL: EVP_MD_CTX_new failed") }
      defer { unsafe EVP_MD_CTX_free(context) }
      // The padding of PKCS#1 v1.5 is what OpenSSL begins with.
      guard unsafe EVP_DigestVerifyInit(context, nil, digest.algorithm, nil, key) == 1 else { return false }
      // Both buffers are the spans' own and are only read before the call returns.
      return unsafe signature.withUnsafeBufferPointer { signature in
        unsafe message.withUnsafeBufferPointer { message in
          unsafe EVP_DigestVerify(
            context, signature.baseAddress, signature.count, message.baseAddress, message.count) == 1
        }
      }
    }
  }
}

/// Key pairs and signatures for a test PKI, by OpenSSL.
package import Bytes
internal import COpenSSL

@safe package final class TestKey: @unchecked Sendable {
  private let key: OpaquePointer

  private init(_ key: OpaquePointer?) {
    guard let key = unsafe key else { fatalError("no key") }
    unsafe self.key = key
  }

  deinit {
    unsafe EVP_PKEY_free(key)
  }

  package static func p256() -> TestKey { unsafe TestKey(portcullis_p256_generate()) }
  package static func p384() -> TestKey { unsafe TestKey(portcullis_p384_generate()) }

  /// Uncompressed.
  package var point: [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 133)
    var count = 0
    guard unsafe EVP_PKEY_get_octet_string_param(key, "pub", &bytes, bytes.count, &count) == 1 else {
      fatalError("no point")
    }
    return Array(bytes[..<count])
  }

  package var p256Point: P256Point {
    guard let point = P256Point(x963: point.span) else { fatalError("not on P-256") }
    return point
  }

  package var subjectPublicKeyInfo: [UInt8] {
    var encoded: UnsafeMutablePointer<UInt8>?
    let count = unsafe i2d_PUBKEY(key, &encoded)
    guard count > 0, let start = unsafe encoded else { fatalError("no SubjectPublicKeyInfo") }
    defer { unsafe portcullis_openssl_free(start) }
    return unsafe Array(UnsafeBufferPointer(start: start, count: Int(count)))
  }

  /// ECDSA over SHA-256 or SHA-384 of `message`, in DER.
  package func sign(_ message: [UInt8], sha384: Bool = false) -> [UInt8] {
    guard let context = unsafe EVP_MD_CTX_new() else { fatalError("no context") }
    defer { unsafe EVP_MD_CTX_free(context) }
    var signature = [UInt8](repeating: 0, count: 128)
    var count = signature.count
    let digest = unsafe sha384 ? EVP_sha384() : EVP_sha256()
    guard unsafe EVP_DigestSignInit(context, nil, digest, nil, key) == 1,
      unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1
    else { fatalError("no signature") }
    return Array(signature[..<count])
  }
}

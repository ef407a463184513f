/// A private key on P-256 or P-384 that signs (FIPS 186-5 §6.4), is kept as PKCS#8 (RFC 5958), and frees
/// itself.
internal import Bytes
internal import COpenSSL

/// `Sendable` unchecked: the key behind the pointer is never changed once made, and OpenSSL guards what it
/// caches.
@safe package struct SigningKey: ~Copyable, @unchecked Sendable {
  package enum Curve: Sendable { case p256, p384 }

  package let curve: Curve
  /// Owned: made or read by a factory below, freed once in `deinit`.
  let key: OpaquePointer

  /// Takes the key over.
  init(owning key: OpaquePointer, _ curve: Curve) {
    unsafe self.key = unsafe key
    self.curve = curve
  }

  deinit { unsafe EVP_PKEY_free(key) }

  package static func generate(_ curve: Curve) throws(IssuingError) -> SigningKey {
    ERR_clear_error()
    let made =
      switch curve {
      case .p256: unsafe portcullis_p256_generate()
      case .p384: unsafe portcullis_p384_generate()
      }
    guard let key = unsafe made else { throw .failed("generate a key") }
    return unsafe SigningKey(owning: key, curve)
  }

  /// From PKCS#8 in PEM, unencrypted.
  package static func read(pem: [UInt8]) throws(IssuingError) -> SigningKey {
    let der = try PEMBlock.decode("PRIVATE KEY", pem)
    ERR_clear_error()
    // d2i reads at most `count` bytes of the array, which outlives the call, and keeps no pointer into it.
    let decoded = unsafe der.withUnsafeBufferPointer { bytes in
      var next = bytes.baseAddress
      return unsafe d2i_AutoPrivateKey(nil, &next, bytes.count)
    }
    guard let key = unsafe decoded else { throw .failed("read a private key") }
    guard unsafe EVP_PKEY_is_a(key, "EC") == 1 else {
      unsafe EVP_PKEY_free(key)
      throw .unsupportedKey
    }
    switch unsafe EVP_PKEY_get_bits(key) {
    case 256: return unsafe SigningKey(owning: key, .p256)
    case 384: return unsafe SigningKey(owning: key, .p384)
    default:
      unsafe EVP_PKEY_free(key)
      throw .unsupportedKey
    }
  }

  /// PKCS#8 in PEM, unencrypted: the caller sees to the file's mode.
  package func pem() throws(IssuingError) -> String {
    ERR_clear_error()
    guard let information = unsafe EVP_PKEY2PKCS8(key) else { throw .failed("write a private key") }
    defer { unsafe PKCS8_PRIV_KEY_INFO_free(information) }
    let der = unsafe try encoded("write a private key") { into in
      unsafe i2d_PKCS8_PRIV_KEY_INFO(information, into)
    }
    return PEMBlock.encode("PRIVATE KEY", der)
  }

  /// `SubjectPublicKeyInfo` in DER (RFC 5480 §2), the point uncompressed.
  package func subjectPublicKeyInfo() throws(IssuingError) -> [UInt8] {
    ERR_clear_error()
    return unsafe try encoded("write a public key") { into in unsafe i2d_PUBKEY(key, into) }
  }

  /// The public point as X9.63 writes it, uncompressed: 65 bytes on P-256, 97 on P-384.
  package func publicPoint() throws(IssuingError) -> [UInt8] {
    ERR_clear_error()
    return unsafe try encoded("read the public point") { into in
      Int32(clamping: unsafe EVP_PKEY_get1_encoded_public_key(key, into))
    }
  }

  /// ECDSA over the digest of `message`, as DER of r and s.
  package func sign(_ message: [UInt8], _ digest: SignatureDigest = .sha256) throws(IssuingError) -> [UInt8] {
    ERR_clear_error()
    guard let context = unsafe EVP_MD_CTX_new() else { throw .failed("sign") }
    defer { unsafe EVP_MD_CTX_free(context) }
    guard unsafe EVP_DigestSignInit(context, nil, digest.algorithm, nil, key) == 1 else {
      throw .failed("sign")
    }
    // 104 bytes hold any DER signature on P-384; `count` says so to OpenSSL and comes back as what it wrote.
    var signature = [UInt8](repeating: 0, count: 104)
    var count = signature.count
    guard unsafe EVP_DigestSign(context, &signature, &count, message, message.count) == 1 else {
      throw .failed("sign")
    }
    return Array(signature.prefix(count))
  }
}

/// What one of OpenSSL's encoders writes into memory of its own making; the memory is wiped and freed.
func encoded(
  _ operation: String, _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32
) throws(IssuingError) -> [UInt8] {
  var memory: UnsafeMutablePointer<UInt8>? = nil
  let count = unsafe Int(encode(&memory))
  guard count > 0, let memory = unsafe memory else { throw .failed(operation) }
  // The encoder returned the number of bytes that it allocated and filled.
  let bytes = unsafe Array(UnsafeBufferPointer(start: memory, count: count))
  unsafe OPENSSL_cleanse(memory, count)
  unsafe portcullis_openssl_free(memory)
  return bytes
}

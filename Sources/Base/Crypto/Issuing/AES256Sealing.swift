/// Encrypts as the senders of JOSE's `A256KW` and `A256GCM` do (RFC 7518 §4.4 and §5.3), for development and tests.
internal import COpenSSL

package enum AES256Sealing {
  package struct Sealed: Equatable, Sendable {
    /// As long as what was sealed.
    package let ciphertext: [UInt8]
    /// 16 bytes.
    package let tag: [UInt8]
  }

  /// RFC 3394 with the default initial value: 8 bytes more than `key`, which has a multiple of 8.
  package static func wrap(_ key: [UInt8], under wrappingKey: [UInt8]) throws(IssuingError) -> [UInt8] {
    guard wrappingKey.count == 32, key.count >= 16, key.count % 8 == 0 else { throw .unsupportedKey }
    let context = try Context("wrap a key")
    // OpenSSL's ciphers that wrap keys are refused without it.
    unsafe EVP_CIPHER_CTX_set_flags(context.handle, Int32(EVP_CIPHER_CTX_FLAG_WRAP_ALLOW))
    try context.check(
      unsafe EVP_EncryptInit_ex(context.handle, EVP_aes_256_wrap(), nil, wrappingKey, nil))
    var output = [UInt8](repeating: 0, count: key.count + 8)
    var written: Int32 = 0
    // The output holds the key and its check of 8 bytes, which is all that this cipher writes.
    try context.check(
      unsafe EVP_EncryptUpdate(context.handle, &output, &written, key, Int32(key.count)))
    guard Int(written) == output.count else { throw .failed("wrap a key") }
    return output
  }

  /// - Parameter vector: 12 bytes, never twice with one key.
  package static func seal(
    _ plaintext: [UInt8], key: [UInt8], vector: [UInt8], authenticating additional: [UInt8]
  ) throws(IssuingError) -> Sealed {
    guard key.count == 32, vector.count == 12, !plaintext.isEmpty else { throw .unsupportedKey }
    let context = try Context("encrypt")
    try context.check(unsafe EVP_EncryptInit_ex(context.handle, EVP_aes_256_gcm(), nil, key, vector))
    var written: Int32 = 0
    try context.check(
      unsafe EVP_EncryptUpdate(context.handle, nil, &written, additional, Int32(additional.count)))
    // A counter mode writes as much as it reads, and nothing at its end.
    var ciphertext = [UInt8](repeating: 0, count: plaintext.count)
    try context.check(
      unsafe EVP_EncryptUpdate(context.handle, &ciphertext, &written, plaintext, Int32(plaintext.count)))
    var tag = [UInt8](repeating: 0, count: 16)
    try context.check(unsafe EVP_EncryptFinal_ex(context.handle, &tag, &written))
    try context.check(unsafe EVP_CIPHER_CTX_ctrl(context.handle, EVP_CTRL_AEAD_GET_TAG, 16, &tag))
    return Sealed(ciphertext: ciphertext, tag: tag)
  }

  /// One encryption; frees itself.
  @safe private struct Context: ~Copyable {
    let handle: OpaquePointer
    private let operation: String

    init(_ operation: String) throws(IssuingError) {
      ERR_clear_error()
      guard let handle = unsafe EVP_CIPHER_CTX_new() else { throw .failed(operation) }
      unsafe self.handle = handle
      self.operation = operation
    }

    deinit { unsafe EVP_CIPHER_CTX_free(handle) }

    func check(_ result: Int32) throws(IssuingError) {
      guard result == 1 else { throw .failed(operation) }
    }
  }
}

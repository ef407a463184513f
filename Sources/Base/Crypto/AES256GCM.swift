/// AES-256-GCM (NIST SP 800-38D) with nonces of 96 bits and whole tags.
package import Bytes
internal import COpenSSL

package enum AES256GCM {
  package static let nonceBytes = 12
  package static let tagBytes = 16

  package struct Sealed: Sendable {
    /// As long as what is in it.
    package let ciphertext: [UInt8]
    /// 16 bytes.
    package let tag: [UInt8]
  }

  /// - Parameter nonce: 12 bytes that the key never sees again.
  package static func seal(
    _ plaintext: Span<UInt8>, nonce: Span<UInt8>, additionalData: Span<UInt8>, key: Bytes32
  ) -> Sealed {
    guard nonce.count == nonceBytes else { fatalError("AES256GCM: a nonce of \(nonce.count) bytes") }
    let context = begin(nonce, additionalData, key, encrypting: 1)
    guard let ciphertext = context.update(plaintext, spareBytes: 0), context.finish() else {
      fatalError("OpenSSL: nothing was sealed")
    }
    var tag: [UInt8] = .init(repeating: 0, count: tagBytes)
    var span = tag.mutableSpan
    // The count given is the buffer's own.
    unsafe span.withUnsafeMutableBytes { buffer in
      unsafe expectSuccess(
        EVP_CIPHER_CTX_ctrl(
          context.handle, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), buffer.baseAddress),
        "EVP_CTRL_AEAD_GET_TAG")
    }
    return Sealed(ciphertext: ciphertext, tag: tag)
  }

  /// The plaintext; nil unless nonce and tag have their lengths and all of it is what was sealed under this key. A
  /// shorter tag, which the mode would allow, is never taken: it is for a sender to choose, and for a forger.
  package static func open(
    _ ciphertext: Span<UInt8>, tag: Span<UInt8>, nonce: Span<UInt8>, additionalData: Span<UInt8>,
    key: Bytes32
  ) -> [UInt8]? {
    guard nonce.count == nonceBytes, tag.count == tagBytes else { return nil }
    return withCleanErrorQueue {
      let context = begin(nonce, additionalData, key, encrypting: 0)
      guard let plaintext = context.update(ciphertext, spareBytes: 0) else { return nil }
      var tag = tag.array
      var span = tag.mutableSpan
      // OpenSSL copies the tag, and compares it in constant time in the last call.
      unsafe span.withUnsafeMutableBytes { buffer in
        unsafe expectSuccess(
          EVP_CIPHER_CTX_ctrl(
            context.handle, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), buffer.baseAddress),
          "EVP_CTRL_AEAD_SET_TAG")
      }
      return context.finish() ? plaintext : nil
    }
  }

  private static func begin(
    _ nonce: Span<UInt8>, _ additionalData: Span<UInt8>, _ key: Bytes32, encrypting: Int32
  ) -> CipherContext {
    let context = CipherContext()
    let key = key.inlineArray
    // 12 bytes of nonce are OpenSSL's default for this mode, and all that is given here.
    unsafe key.span.withUnsafeBufferPointer { key in
      unsafe nonce.withUnsafeBufferPointer { nonce in
        unsafe expectSuccess(
          EVP_CipherInit_ex2(
            context.handle, cipher.handle, key.baseAddress, nonce.baseAddress, encrypting, nil),
          "EVP_CipherInit_ex2")
      }
    }
    context.authenticate(additionalData)
    return context
  }

  private static let cipher = FetchedCipher("AES-256-GCM")
}

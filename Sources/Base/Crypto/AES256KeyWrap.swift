/// AES Key Wrap (RFC 3394) under 256 bits, with the default initial value: a key of 256 bits that travels under another.
package import Bytes
internal import COpenSSL

package enum AES256KeyWrap {
  /// Of a wrapped key of 32 bytes.
  package static let wrappedBytes = 40

  /// 40 bytes.
  package static func wrap(_ key: Bytes32, under wrapping: Bytes32) -> [UInt8] {
    guard let wrapped = transform(key.inlineArray.span, under: wrapping, encrypting: 1) else {
      fatalError("OpenSSL: no key was wrapped")
    }
    return wrapped
  }

  /// Nil unless there are exactly 40 bytes, and the initial value comes out of them (§2.2.3).
  package static func unwrap(_ wrapped: Span<UInt8>, under wrapping: Bytes32) -> Bytes32? {
    guard wrapped.count == wrappedBytes else { return nil }
    return transform(wrapped, under: wrapping, encrypting: 0).flatMap { Bytes32($0) }
  }

  private static func transform(
    _ input: Span<UInt8>, under key: Bytes32, encrypting: Int32
  ) -> [UInt8]? {
    let context = CipherContext()
    let key = key.inlineArray
    // It is made of a block cipher but is none: OpenSSL wants to hear that this is meant.
    unsafe EVP_CIPHER_CTX_set_flags(context.handle, EVP_CIPHER_CTX_FLAG_WRAP_ALLOW)
    return withCleanErrorQueue {
      unsafe key.span.withUnsafeBufferPointer { key in
        unsafe expectSuccess(
          EVP_CipherInit_ex2(context.handle, cipher.handle, key.baseAddress, nil, encrypting, nil),
          "EVP_CipherInit_ex2")
      }
      return context.update(input, spareBytes: 16)
    }
  }

  private static let cipher = FetchedCipher("AES-256-WRAP")
}

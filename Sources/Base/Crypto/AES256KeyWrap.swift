/// AES Key Wrap (RFC 3394) under 256 bits, with the default initial value: a key of 256 bits that travels under another.
package import Bytes

package enum AES256KeyWrap {
  /// Of a wrapped key of 32 bytes.
  package static let wrappedBytes = 40

  /// 40 bytes.
  package static func wrap(_ key: Bytes32, under wrapping: Bytes32) -> [UInt8] {
    guard let wrapped = transform(key.inlineArray.span, under: wrapping, encrypting: true) else {
      fatalError("OpenSSL: no key was wrapped")
    }
    return wrapped
  }

  /// Nil unless there are exactly 40 bytes, and the initial value comes out of them (§2.2.3).
  package static func unwrap(_ wrapped: Span<UInt8>, under wrapping: Bytes32) -> Bytes32? {
    guard wrapped.count == wrappedBytes else { return nil }
    return transform(wrapped, under: wrapping, encrypting: false).flatMap { Bytes32($0) }
  }

  private static func transform(
    _ input: Span<UInt8>, under key: Bytes32, encrypting: Bool
  ) -> [UInt8]? {
    let context = CipherContext()
    context.allowWrapping()
    return withCleanErrorQueue {
      context.begin(cipher, key: key, encrypting: encrypting)
      return context.update(input, spareBytes: 16)
    }
  }

  private static let cipher = FetchedCipher("AES-256-WRAP")
}

/// AES-256-GCM (NIST SP 800-38D) with nonces of 96 bits and whole tags.
package import Bytes

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
    let context = begin(nonce, additionalData, key, encrypting: true)
    guard let ciphertext = context.update(plaintext, spareBytes: 0), context.finish() else {
      fatalError("OpenSSL: nothing was sealed")
    }
    return Sealed(ciphertext: ciphertext, tag: context.tag(count: tagBytes))
  }

  /// The plaintext; nil unless nonce and tag have their lengths and all of it is what was sealed under this key. A
  /// shorter tag, which the mode would allow, is never taken: it is for a sender to choose, and for a forger.
  package static func open(
    _ ciphertext: Span<UInt8>, tag: Span<UInt8>, nonce: Span<UInt8>, additionalData: Span<UInt8>,
    key: Bytes32
  ) -> [UInt8]? {
    guard nonce.count == nonceBytes, tag.count == tagBytes else { return nil }
    return withCleanErrorQueue {
      let context = begin(nonce, additionalData, key, encrypting: false)
      guard let plaintext = context.update(ciphertext, spareBytes: 0) else { return nil }
      context.expect(tag: tag)
      return context.finish() ? plaintext : nil
    }
  }

  /// - Parameter nonce: 12 bytes, which are OpenSSL's default for this mode.
  private static func begin(
    _ nonce: Span<UInt8>, _ additionalData: Span<UInt8>, _ key: Bytes32, encrypting: Bool
  ) -> CipherContext {
    let context = CipherContext()
    context.begin(cipher, key: key, nonce: nonce, encrypting: encrypting)
    context.authenticate(additionalData)
    return context
  }

  private static let cipher = FetchedCipher("AES-256-GCM")
}

/// The outer token: encrypted for the operator with A256KW and A256GCM (RFC 7516; RFC 7518 §4.4, §5.3).
internal import Bytes
internal import Crypto

enum PlayEnvelope {
  struct Opened {
    let contents: [UInt8]
    /// Those of the pair that opened it, and no others are to be used further in.
    let keys: PlayKeys
  }

  static func open(_ token: Span<UInt8>, keys: [PlayKeys]) throws(PlayRejection) -> Opened {
    guard let parts = JOSEPart.split(token, into: 5) else { throw .envelopeParts }
    guard let decoded = JOSEPart.decode(parts, of: token) else { throw .envelopeBase64 }
    let (wrappedKey, nonce, ciphertext, tag) = (decoded[1], decoded[2], decoded[3], decoded[4])
    guard let header = JOSEHeader(decoded[0]) else { throw .envelopeHeader }
    guard header.names("A256KW", as: "alg") else { throw .envelopeAlgorithm }
    guard header.names("A256GCM", as: "enc") else { throw .envelopeEncryption }
    guard wrappedKey.count == AES256KeyWrap.wrappedBytes else { throw .wrappedKeyLength }
    guard nonce.count == AES256GCM.nonceBytes else { throw .nonceLength }
    guard tag.count == AES256GCM.tagBytes else { throw .tagLength }
    for pair in keys {
      guard let key = AES256KeyWrap.unwrap(wrappedKey.span, under: pair.decryption) else { continue }
      // The header as it came is what the tag covers: another spelling of the same is another token.
      let contents = AES256GCM.open(
        ciphertext.span, tag: tag.span, nonce: nonce.span, additionalData: token.extracting(parts[0]),
        key: key)
      guard let contents else { throw .authentication }
      return Opened(contents: contents, keys: pair)
    }
    throw .unwrap
  }
}

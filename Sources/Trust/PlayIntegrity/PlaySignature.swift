/// The inner token: signed by Google with ES256 (RFC 7515; RFC 7518 §3.4).
internal import Bytes
internal import Crypto

enum PlaySignature {
  /// The payload's bytes.
  static func verify(
    _ token: Span<UInt8>, by key: P256Point, _ verifier: P256Verifier
  ) throws(PlayRejection) -> [UInt8] {
    guard isASCII(token), let parts = JOSEPart.split(token, into: 3) else { throw .signatureParts }
    guard let decoded = JOSEPart.decode(parts, of: token) else { throw .signatureBase64 }
    let (payload, ending) = (decoded[1], decoded[2])
    guard let header = JOSEHeader(decoded[0]) else { throw .signatureHeader }
    guard header.names("ES256", as: "alg") else { throw .signatureAlgorithm }
    guard let signature = ES256Signature(ending.span) else { throw .signatureLength }
    let digest = SHA256.hash(token.extracting(..<parts[1].upperBound))
    guard verifier.isValidSignature(signature, digest: digest, by: key) else { throw .signature }
    return payload
  }

  private static func isASCII(_ text: Span<UInt8>) -> Bool {
    for index in text.indices where text[index] >= 0x80 { return false }
    return true
  }
}

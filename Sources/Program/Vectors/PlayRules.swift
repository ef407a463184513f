/// The rule behind each word of a Play Integrity token's steps, for people (docs/android.md, "Play Integrity").
package import PlayIntegrity

extension PlayRejection {
  package var rule: String {
    switch self {
    case .size: "the token has at most 16,384 bytes"
    case .envelopeParts:
      "it has five parts between dots (tokens of standard requests, which only Google opens, have not)"
    case .envelopeBase64: "each part is base64url without padding"
    case .envelopeHeader: "the header is a JSON object without crit, zip and b64"
    case .envelopeAlgorithm: "alg is A256KW"
    case .envelopeEncryption: "enc is A256GCM"
    case .wrappedKeyLength: "the wrapped key has 40 bytes"
    case .nonceLength: "the initialization vector has 12 bytes"
    case .tagLength: "the tag has 16 bytes"
    case .unwrap:
      "one of the decryption keys opens it (they are of that app, and have not been changed since)"
    case .authentication: "header and contents are as they were encrypted"
    case .signatureParts: "inside are three parts of ASCII between dots"
    case .signatureBase64: "each of them is base64url without padding"
    case .signatureHeader: "the inner header is a JSON object without crit, zip and b64"
    case .signatureAlgorithm: "its alg is ES256"
    case .signatureLength: "the signature has 64 bytes"
    case .signature: "Google signed it, with the verification key beside that decryption key"
    case .payload: "the payload is a JSON object, with no name twice"
    case .requestPackage: "requestPackageName is a known app"
    case .nonce: "the nonce is the one that was given out (a standard request has none)"
    case .timestamp: "timestampMillis is a time"
    case .future: "it was made at most 60 s ahead of this clock"
    case .stale: "it was made no longer ago than is allowed"
    case .appVerdict: "appRecognitionVerdict is PLAY_RECOGNIZED"
    case .appPackage: "packageName is requestPackageName"
    case .certificateDigest: "each certificate's digest is listed for that app"
    case .deviceVerdict: "deviceRecognitionVerdict is a list of labels"
    case .level: "the highest label is at least the required one"
    }
  }
}

/// The steps by which a Play Integrity token of a classic request is judged, in the order in which they are told
/// (docs/android.md, "Play Integrity").

/// The first step that does not hold, by the word that logs, audit and `verify` have for it. The phone learns only that
/// its evidence was rejected.
package enum PlayRejection: String, Error, CaseIterable, Sendable {
  case size

  // The envelope (RFC 7516), which shows that Google made the token for an app of ours.
  case envelopeParts = "jwe_parts"
  case envelopeBase64 = "jwe_b64"
  case envelopeHeader = "jwe_header"
  case envelopeAlgorithm = "jwe_alg"
  case envelopeEncryption = "jwe_enc"
  case wrappedKeyLength = "jwe_key_len"
  case nonceLength = "jwe_iv_len"
  case tagLength = "jwe_tag_len"
  /// Under none of the keys: the token of another app, or of before or after a change of keys.
  case unwrap = "jwe_unwrap"
  case authentication = "jwe_auth"

  // The signature inside (RFC 7515), which shows that it was Google.
  case signatureParts = "jws_parts"
  case signatureBase64 = "jws_b64"
  case signatureHeader = "jws_header"
  case signatureAlgorithm = "jws_alg"
  case signatureLength = "jws_sig_len"
  case signature = "jws_signature"

  // What Google says.
  case payload
  case requestPackage = "request_package"
  case nonce
  case timestamp
  case future
  case stale
  case appVerdict = "app_verdict"
  case appPackage = "app_package"
  case certificateDigest = "cert_digest"
  case deviceVerdict = "device_verdict"
  case level

  /// After the nonce: Google has said it of a phone that asked for just these keys and this challenge.
  package var isOfWhoAsked: Bool {
    Self.allCases.drop { $0 != .nonce }.dropFirst().contains(self)
  }
}

/// Judges tokens of Play Integrity's classic requests, offline: what the operator's keys open, Google has signed, and
/// the policy takes (docs/android.md, "Play Integrity").
package import Bytes
package import Crypto
package import DeviceWire
package import Time

/// One to a thread.
package final class PlayVerifier {
  private let verifier: P256Verifier

  package init(_ verifier: P256Verifier = P256Verifier()) {
    self.verifier = verifier
  }

  package static let largestToken = 16_384

  /// Whether it looks like one that only Google can open: base64url of one piece, where those of classic requests have dots.
  package static func isOfStandardRequest(_ token: Span<UInt8>) -> Bool {
    token.count >= leastOpaque && Base64.decodeURL(token) != nil
  }

  /// Real ones have hundreds; what is shorter is anything.
  private static let leastOpaque = 64

  /// How old a token may be. A challenge lives two minutes and is spent once: what this adds is that no token was kept for
  /// later, and the clocks of Google and of this host may be some way apart.
  package static let maximumAge: Duration = .seconds(300)

  /// - Parameters:
  ///   - nonce: what `play-nonce` hashes to: the phone has asked with its base64url.
  ///   - keys: pairs in the order in which they are tried.
  ///   - maximumAge: how long ago Google may have made the token.
  package func verify(
    _ token: Span<UInt8>, nonce: Bytes32, keys: [PlayKeys], apps: [AndroidApp], now: UnixTime,
    maximumAge: Duration, required: PlayLevel
  ) throws(PlayRejection) -> PlayVerdict {
    try open(token, keys: keys)
      .judge(nonce: nonce, apps: apps, now: now, maximumAge: maximumAge, required: required)
  }

  /// What Google has signed for the holder of one of the pairs of keys; whether it is wanted is for `judge`.
  package func open(_ token: Span<UInt8>, keys: [PlayKeys]) throws(PlayRejection) -> PlayPayload {
    guard token.count <= Self.largestToken else { throw .size }
    let envelope = try PlayEnvelope.open(token, keys: keys)
    let payload = try PlaySignature.verify(envelope.contents.span, by: envelope.keys.verification, verifier)
    return try PlayPayload(payload.span)
  }
}

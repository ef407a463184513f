/// The nonces by which sessions are resumed without a challenge (docs/sessions.md, "Resuming"): made of their ids, so that
/// nothing is kept, and a restart voids none.
package import Bytes
internal import Crypto
package import SessionWire

package final class ResumeNonces: Sendable {
  /// What their key is derived by.
  package static let derivation = "portcullis/resume/v1"
  package static let keyBytes = 32

  private let tagger: HMACSHA256

  /// - Parameter key: `keyBytes`, the caller's to wipe.
  package init(key: [UInt8]) {
    guard key.count == Self.keyBytes else { fatalError("ResumeNonces: a key of \(key.count) bytes") }
    tagger = HMACSHA256(key: key.span)
  }

  /// The one that may be signed instead of a challenge, to resume the session of this id and for nothing else.
  package func nonce(of id: SessionID) -> Bytes32 {
    let message = Self.word + id.bytes.span.array
    return tagger.authenticate(message.span)
  }

  package func isNonce(_ nonce: Bytes32, of id: SessionID) -> Bool {
    let (named, own) = (nonce.inlineArray, self.nonce(of: id).inlineArray)
    return equalInConstantTime(named.span, own.span)
  }

  private static let word = Array("resume".utf8)
}

/// Challenges in two steps (docs/protocol.md, "Challenges"): a gate checks one when verification begins, and what is made by it
/// spends it.
///
/// Checking uses a challenge up at this gate: of all that present it here one goes on. Where gates share a store, another one
/// may have taken it meanwhile; so `Unspent` goes with the counter or the key to the store, whose answer may be that it is
/// lost (`CommitResult.Loss.spent`). One gate on files has nobody to ask: its check spends.
package import Bytes
package import KeyStore
package import Time

package protocol Challenges: Sendable {
  /// Nil when this loop has issued as many as it may in this second.
  func issue(loop: Int, for scope: ChallengeScope) -> Challenge?
  /// Judges tag and time, and takes the challenge away at this gate: of all calls with one nonce, exactly one returns.
  func check(_ nonce: Bytes32, for scope: ChallengeScope) throws(NonceRefusal) -> Unspent
  /// Takes a `check` back: the challenge is good again, for as long as it would have been.
  /// - Parameter unspent: nothing was done by it.
  func restore(_ unspent: Unspent)
}

extension Challenges {
  package func issue(loop: Int) -> Challenge? { issue(loop: loop, for: .door) }
  package func check(_ nonce: Bytes32) throws(NonceRefusal) -> Unspent { try check(nonce, for: .door) }
}

package struct Challenge: Equatable, Sendable {
  package let nonce: Bytes32
  package let expires: UnixTime
}

/// Why a presented nonce does not count.
package enum NonceRefusal: String, Error, Sendable {
  /// Not issued by this process, or not for this.
  case unknown = "nonce_unknown"
  case expired = "nonce_expired"
  /// From further ahead of this gate's clock than another gate's may be.
  case early = "nonce_early"
  /// A session's own, and the session is not there, or not this credential's.
  case sessionless = "nonce_sessionless"
  case used = "nonce_used"
}

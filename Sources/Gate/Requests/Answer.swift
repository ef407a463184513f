/// What work beside the loop has come to: the answer to the request that asked for it.
package import Admission
package import Bytes
package import KeyStore
package import Registry

package enum Answer: Sendable {
  /// What the store knows of the key that is evidence. Held elsewhere, as it is long.
  indirect case found(KeyFinding)
  /// The key, or its counter, is durable.
  case registered(KeyIdentifier)
  case refused(Refusal)
  /// Of a device, judged by the pool.
  case evidence(VerifiedEvidence)
  /// Its body, which was on its way, has made room for another.
  case bodyDropped
  /// To a request about devices.
  case registry(Reply)
}

/// A challenge on its way: the gate that checked it does not know yet whether it was used elsewhere.
package import Bytes
package import Time

/// It goes with the change that is made by it, so that a store that several gates share spends it in the same step.
package struct Unspent: Equatable, Sendable {
  package let nonce: Bytes32
  /// By the clock of the gate that issued it.
  package let issuedAt: MonotonicTime

  package init(nonce: Bytes32, issuedAt: MonotonicTime) {
    self.nonce = nonce
    self.issuedAt = issuedAt
  }
}

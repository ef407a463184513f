/// What a gateway has found out about keys before the registry is asked.
package import Bytes

/// A challenge of the right purpose that was taken away from all others: made by whoever issues them, and by nobody else.
package struct SpentNonce: Equatable, Sendable {
  package let bytes: Bytes32

  package init(spent bytes: Bytes32) {
    self.bytes = bytes
  }
}

/// Evidence whose signatures, chain and counter were judged; what it says about a device is the registry's business.
package enum VerifiedEvidence: Equatable, Sendable {
  /// The genuine app has named these keys in what its App Attest key signed.
  case appAttest(KeyIdentifier)
}

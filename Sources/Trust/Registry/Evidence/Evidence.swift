/// What a gateway has found out about keys before the registry is asked.
package import Bytes
package import DeviceWire

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
  /// Google has said the same of an Android app, in a token whose nonce names the keys, and how far it trusts the phone.
  case playIntegrity(PlayTrust)
  /// The device key itself was attested, and the approval key where it says so.
  case androidKey(AndroidKeyEvidence)

  package var platform: DevicePlatform {
    switch self {
    case .appAttest: .ios
    case .playIntegrity, .androidKey: .android
    }
  }
}

/// What chains of Android Key Attestation have shown.
package struct AndroidKeyEvidence: Equatable, Sendable {
  /// The approval key is in hardware as well, which lets it sign only after it has seen a person.
  package let attestsApprovalKey: Bool
  /// Of all certificates of all chains, each once.
  package let serials: Set<AndroidSerial>

  package init(attestsApprovalKey: Bool, serials: Set<AndroidSerial>) {
    self.attestsApprovalKey = attestsApprovalKey
    self.serials = serials
  }
}

/// The serial number of a certificate, in big-endian bytes, the fewest that it takes.
package struct AndroidSerial: Hashable, Sendable {
  package let bytes: [UInt8]

  package init(_ bytes: [UInt8]) {
    let significant = Array(bytes.drop { $0 == 0 })
    self.bytes = significant.isEmpty ? [0] : significant
  }
}

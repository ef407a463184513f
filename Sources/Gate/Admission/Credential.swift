/// What a player is let in by.
package import Bytes
internal import Crypto
package import DeviceWire
package import Identity
package import TLS

package enum Credential: Equatable, Sendable {
  case assertion(KeyIdentifier)
  /// - Parameters:
  ///   - publicKey: SHA-256 of its `SubjectPublicKeyInfo`; it stays when a certificate is renewed with its key.
  ///   - terms: nil where an earlier program has kept the session, and did not note them.
  indirect case clientCertificate(subject: String, publicKey: Bytes32, terms: CertificateTerms?)
  /// Held elsewhere, as it is long, and sessions without devices are not to pay for it.
  indirect case device(ActiveDevices.Device)
  /// `REQUIRE_APP_AUTH=false`.
  case none

  package var keyID: KeyIdentifier? {
    if case .assertion(let keyID) = self { return keyID }
    return nil
  }

  /// Whether a key in hardware, or what an app made there, stands behind it.
  package var isAttested: Bool {
    switch self {
    case .assertion, .device: true
    case .clientCertificate, .none: false
    }
  }

  package var deviceID: DeviceID? {
    if case .device(let device) = self { return device.id }
    return nil
  }

  /// In which lists of the register its sessions are; each bounds them. A device's stand in its own, and in that of the App
  /// Attest key that vouched for it when they were begun, so that both count together.
  package var owners: [KeyIdentifier] {
    switch self {
    case .assertion(let keyID): [keyID]
    case .device(let device): [device.attestedKey, Self.owner(device.id)].compactMap { $0 }
    case .clientCertificate, .none: []
    }
  }

  /// In whose list sessions of this device are.
  package static func owner(_ device: DeviceID) -> KeyIdentifier {
    KeyIdentifier(SHA256.hash((Array("device".utf8) + device.bytes).span))
  }

  /// Whether who is let in by one may go on with a session of the other. Certificates are the same that have one key.
  package func isSame(as other: Credential) -> Bool {
    switch (self, other) {
    case (.assertion(let one), .assertion(let other)): one == other
    case (.clientCertificate(_, let one, _), .clientCertificate(_, let other, _)): one == other
    case (.device(let one), .device(let other)): one.id == other.id
    case (.none, .none): true
    case (.assertion, _), (.clientCertificate, _), (.device, _), (.none, _): false
    }
  }

  /// By which the game knows the device; nil where there is no credential to make it of.
  package func pseudonym(under key: PseudonymKey) -> DevicePseudonym? {
    switch self {
    case .assertion(let keyID): key.pseudonym(ofKey: keyID)
    case .clientCertificate(_, let publicKey, _): key.pseudonym(ofCertificateKey: publicKey)
    case .device(let device): key.pseudonym(ofDevice: device.id.bytes)
    case .none: nil
    }
  }

  /// The word for the log.
  package var word: String {
    switch self {
    case .assertion: "assertion"
    case .clientCertificate: "client_certificate"
    case .device: "device"
    case .none: "none"
    }
  }
}

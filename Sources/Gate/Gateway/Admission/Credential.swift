/// What a player is let in by.
internal import Bytes
internal import Identity

enum Credential: Equatable, Sendable {
  case assertion(KeyIdentifier)
  /// - Parameter publicKey: SHA-256 of its `SubjectPublicKeyInfo`; it stays when a certificate is renewed with its key.
  case clientCertificate(subject: String, publicKey: Bytes32)
  /// `REQUIRE_APP_AUTH=false`.
  case none

  var keyID: KeyIdentifier? {
    if case .assertion(let keyID) = self { return keyID }
    return nil
  }

  /// Whether who is let in by one may go on with a session of the other. Certificates are the same that have one key.
  func isSame(as other: Credential) -> Bool {
    switch (self, other) {
    case (.assertion(let one), .assertion(let other)): one == other
    case (.clientCertificate(_, let one), .clientCertificate(_, let other)): one == other
    case (.none, .none): true
    case (.assertion, _), (.clientCertificate, _), (.none, _): false
    }
  }

  /// By which the game knows the device; nil where there is no credential to make it of.
  func pseudonym(under key: PseudonymKey) -> DevicePseudonym? {
    switch self {
    case .assertion(let keyID): key.pseudonym(ofKey: keyID)
    case .clientCertificate(_, let publicKey): key.pseudonym(ofCertificateKey: publicKey)
    case .none: nil
    }
  }

  /// The word for the log.
  var word: String {
    switch self {
    case .assertion: "assertion"
    case .clientCertificate: "client_certificate"
    case .none: "none"
    }
  }
}

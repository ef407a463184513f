/// Why an attestation is refused: one case for each rule of docs/app-attest.md, "Attestation".
package import Bytes
package import CBOR
package import Crypto
package import X509

package enum AttestationError: Error, Equatable, Sendable {
  /// The key identifier in front of the object is not base64 of 32 bytes.
  case malformedKeyIdentifier

  case tooLarge
  case cbor(CBORError)
  /// CBOR, but not the map it should be.
  case format
  case formatName
  case certificateCount
  case certificateTooLarge(CertificateRole)
  case certificate(CertificateRole, DERError)
  case duplicateExtension(CertificateRole)

  case issuerName(CertificateRole)
  case validity(CertificateRole)
  case authority(CertificateRole)
  case keyUsage(CertificateRole)
  case criticalExtension(CertificateRole)
  case signatureAlgorithm(CertificateRole)
  case intermediateKey
  case leafKey
  case signature(CertificateRole, CertificateError)

  case nonceExtension
  case nonce
  case keyIdentifier
  case authenticatorData
  case relyingParty
  case leafAppID
  case signCount
  case aaguid
  case credentialID
  case coseKey
  case extensions
  case launchPolicy
}

/// The word for the log, in the order of the steps.
package enum AttestationStep: String, Sendable, CaseIterable {
  case keyIdentifierInput = "input.key_id"
  case size
  case cbor
  case format
  case formatName = "fmt"
  case certificateCount = "x5c_count"
  case certificate = "cert_der"
  case duplicateExtension = "cert_ext_dup"
  case issuerName = "chain_issuer"
  case validity = "chain_validity"
  case authority = "chain_ca"
  case keyUsage = "chain_keyusage"
  case criticalExtension = "cert_critical"
  case signatureAlgorithm = "cert_sigalg"
  case leafKey = "leaf_key"
  case signature = "chain_signature"
  case nonceExtension = "nonce_ext"
  case nonce
  case keyIdentifier = "key_id"
  case authenticatorData = "authdata"
  case relyingParty = "rp_id"
  case leafAppID = "leaf_app_id"
  case signCount = "counter"
  case aaguid
  case credentialID = "credential_id"
  case coseKey = "cose_key"
  case extensions
  case launchPolicy = "launch_policy"

  /// After nonce and app: any developer's app may have a key attested for this challenge, and only ours comes further.
  package var isOfWhoAsked: Bool {
    Self.allCases.drop { $0 != .leafAppID }.dropFirst().contains(self)
  }
}

extension AttestationError {
  package var step: AttestationStep {
    switch self {
    case .malformedKeyIdentifier: .keyIdentifierInput
    case .tooLarge: .size
    case .cbor: .cbor
    case .format: .format
    case .formatName: .formatName
    case .certificateCount: .certificateCount
    case .certificate, .certificateTooLarge: .certificate
    case .duplicateExtension: .duplicateExtension
    case .issuerName: .issuerName
    case .validity: .validity
    case .authority, .intermediateKey: .authority
    case .keyUsage: .keyUsage
    case .criticalExtension: .criticalExtension
    case .signatureAlgorithm: .signatureAlgorithm
    case .leafKey: .leafKey
    case .signature: .signature
    case .nonceExtension: .nonceExtension
    case .nonce: .nonce
    case .keyIdentifier: .keyIdentifier
    case .authenticatorData: .authenticatorData
    case .relyingParty: .relyingParty
    case .leafAppID: .leafAppID
    case .signCount: .signCount
    case .aaguid: .aaguid
    case .credentialID: .credentialID
    case .coseKey: .coseKey
    case .extensions: .extensions
    case .launchPolicy: .launchPolicy
    }
  }
}

extension KeyIdentifier {
  /// From text that came with an attestation.
  package init(attestationInput text: Span<UInt8>) throws(AttestationError) {
    guard let identifier = KeyIdentifier(base64: text) else { throw .malformedKeyIdentifier }
    self = identifier
  }
}

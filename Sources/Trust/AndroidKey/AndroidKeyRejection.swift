/// The steps by which an Android key attestation is judged, in the order in which they are told, and the rule behind each
/// word (docs/android.md, "Key attestation").

package enum AndroidKeyRejection: String, Error, CaseIterable, Sendable {
  case chainLength = "chain_length"
  case certificate = "cert_der"
  case duplicateExtension = "cert_ext_dup"
  case criticalExtension = "cert_critical"
  case signatureAlgorithm = "cert_sigalg"
  case root
  case issuerName = "chain_issuer"
  case signature = "chain_signature"
  case validity = "chain_validity"
  case leafAuthority = "leaf_ca"
  case authority = "chain_ca"
  case extensionPosition = "extension_position"
  case extensionMissing = "extension_missing"
  case revocationStale = "revocation_stale"
  case revoked
  case description = "description_der"
  case challenge
  case levelMismatch = "level_mismatch"
  case level
  case levelOfChain = "level_chain"
  case origin
  case rootOfTrust = "root_of_trust"
  case deviceLocked = "device_locked"
  case bootState = "boot_state"
  case purpose
  case key
  case allApplications = "all_applications"
  case applicationID = "app_id"
  case package = "app_package"
  case digest = "app_digest"
  case userVerification = "uv"
  case patch = "os_patch"
  case keyBinding = "key_binding"

  package var rule: String {
    switch self {
    case .chainLength: "the chain has 3 to 10 certificates"
    case .certificate: "each certificate is strict DER of version 3, of at most 8,192 bytes"
    case .duplicateExtension: "no certificate has an extension twice"
    case .criticalExtension: "no certificate has a critical extension that is not read here"
    case .signatureAlgorithm: "signatures are ECDSA or RSA with SHA-2, named alike inside and outside"
    case .root: "the last certificate's key is a pinned root's, and no other's is"
    case .issuerName: "each certificate names the next one's subject as its issuer"
    case .signature: "each certificate is signed by the next one's key, on P-256, P-384 or RSA"
    case .validity: "the certificates between leaf and root are valid at this time"
    case .leafAuthority: "the leaf is no authority"
    case .authority: "from the third on, certificates are authorities that allow what is below them"
    case .extensionPosition: "no certificate but the leaf describes a key"
    case .extensionMissing: "the leaf describes its key"
    case .revocationStale: "there is a revocation list, and it is fresh"
    case .revoked: "no certificate of the chain is on the revocation list"
    case .description: "the description of the key is DER of its form"
    case .challenge: "the challenge is the one that was given out"
    case .levelMismatch: "attestation and key come from the same level of security"
    case .level: "the level is that of a trusted environment or StrongBox, and what is required"
    case .levelOfChain: "a chain that names StrongBox speaks for StrongBox, and no other"
    case .origin: "the key was generated in the hardware"
    case .rootOfTrust: "the hardware says how the device was started"
    case .deviceLocked: "the boot loader is locked"
    case .bootState: "what was started is verified"
    case .purpose: "the key signs, and attests no other keys"
    case .key: "the key is on P-256"
    case .allApplications: "the key is not for all applications"
    case .applicationID: "the description names an application"
    case .package: "the application's package is known"
    case .digest: "all that signed the application is known"
    case .userVerification: "where it is required, a person unlocks the key at each use, by biometrics"
    case .patch: "the device's patch level is not older than required"
    case .keyBinding: "the attested key is the one that is being registered"
    }
  }
}

/// Verifies attestations (docs/app-attest.md, "Attestation"; Apple, "Validating apps that connect to your server"); any
/// number of threads may use one verifier at once.
package import Bytes
internal import Crypto
internal import Identity
package import Time
internal import X509

package final class AttestationVerifier: Sendable {
  package let root: AttestationRoot
  private let chains: ChainVerifier

  package init(root: AttestationRoot) {
    self.root = root
    chains = ChainVerifier(root: root)
  }

  /// Throws the first rule that is broken, in the order of docs/app-attest.md, "Attestation". `clientDataHash` must be
  /// SHA-256 of a nonce that was issued here; `keyID` is what the app calls the key. `time` judges the certificates.
  package func verify(
    _ attestation: Span<UInt8>, keyID: KeyIdentifier, clientDataHash: Bytes32, at time: UnixTime,
    policy: AttestationPolicy
  ) throws(AttestationError) -> ValidatedAttestation {
    let clientDataHash = clientDataHash.inlineArray
    return try verify(
      attestation, keyID: keyID, verbatimClientDataHash: clientDataHash.span, at: time, policy: policy)
  }

  /// The same, with bytes of any number where the hash belongs: Apple's Attestation Object Validation Guide
  /// puts the challenge itself there, so its samples can only be verified like this. The gate never does.
  package func verify(
    _ attestation: Span<UInt8>, keyID: KeyIdentifier, verbatimClientDataHash: Span<UInt8>, at time: UnixTime,
    policy: AttestationPolicy
  ) throws(AttestationError) -> ValidatedAttestation {
    let object = try UnverifiedAttestation(attestation)
    let leaf = try chains.verify(
      leaf: attestation.extracting(object.leaf), intermediate: attestation.extracting(object.intermediate),
      at: time)
    let data = attestation.extracting(object.authenticatorData)

    try Self.checkNonce(leaf, data, verbatimClientDataHash)
    let point = leaf.publicKey
    guard SHA256.hash(point.x963.span).equalsInConstantTime(keyID.digest) else { throw .keyIdentifier }

    guard let authenticatorData = AuthenticatorData(data) else { throw .authenticatorData }
    guard let appID = policy.app(rpIDHash: authenticatorData.rpIDHash) else { throw .relyingParty }
    guard let owner = leaf.certificate.extensionValue(AppleIdentifiers.keyOwner),
      KeyOwner.names(appID, leaf.certificate.der.span, owner)
    else { throw .leafAppID }
    guard authenticatorData.signCount == 0 else { throw .signCount }

    let environment = try Self.checkCredential(authenticatorData, data, keyID, point, policy)

    let rest = data.extracting(CredentialData.publicKey.upperBound..<data.count)
    guard let launch = authenticatorData.launchInformation(rest) else { throw .extensions }
    guard policy.launch.allows(launch) else { throw .launchPolicy }

    return ValidatedAttestation(
      keyID: keyID, publicKey: point, appID: appID, environment: environment,
      validationCategory: launch.validationCategory, bundleVersion: launch.bundleVersion,
      receipt: attestation.extracting(object.receipt).array)
  }

  /// Step 3. The extension's DER has one form: SEQUENCE { [1] { OCTET STRING of 32 bytes } }.
  private static func checkNonce(
    _ leaf: ValidatedLeaf, _ data: Span<UInt8>, _ clientDataHash: Span<UInt8>
  ) throws(AttestationError) {
    let head: [UInt8] = [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20]
    guard let value = leaf.certificate.extensionValue(AppleIdentifiers.nonce) else {
      throw .nonceExtension
    }
    let encoded = leaf.certificate.der.span.extracting(value)
    guard encoded.startsWith(head), let nonce = Bytes32(encoded.extracting(head.count..<encoded.count))
    else { throw .nonceExtension }
    guard nonce.equalsInConstantTime(SHA256.hash(data, clientDataHash)) else { throw .nonce }
  }

  /// Steps 7 and 8, each part as soon as the bytes are long enough to hold it.
  private static func checkCredential(
    _ head: AuthenticatorData, _ data: Span<UInt8>, _ keyID: KeyIdentifier, _ point: P256Point,
    _ policy: AttestationPolicy
  ) throws(AttestationError) -> AttestEnvironment {
    guard head.announcesCredential, data.count >= CredentialData.identifierLength.upperBound
    else { throw .authenticatorData }
    guard let environment = AttestEnvironment(aaguid: data.extracting(CredentialData.aaguid)),
      policy.environments.contains(environment)
    else { throw .aaguid }

    guard data.extracting(CredentialData.identifierLength).isEqual(to: [0x00, 0x20]),
      data.count >= CredentialData.identifier.upperBound,
      let credentialID = Bytes32(data.extracting(CredentialData.identifier))
    else { throw .authenticatorData }
    guard credentialID.equalsInConstantTime(keyID.digest) else { throw .credentialID }

    guard data.count >= CredentialData.publicKey.upperBound,
      equalInConstantTime(data.extracting(CredentialData.publicKey), CredentialData.coseKey(point).span)
    else { throw .coseKey }
    return environment
  }
}

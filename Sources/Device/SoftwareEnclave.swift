/// Stands in for the Secure Enclave: one App Attest key, its attestation and its counted assertions (SPEC §4).
package import Bytes
internal import Crypto
package import System

package final class SoftwareEnclave {
  package let appID: String
  package let environment: AttestationEnvironment
  package let keyIdentifier: KeyIdentifier
  /// The public key, as the server keeps it.
  package let point: P256Point
  /// Said in attestations and assertions when set, as by iOS 27; older systems say nothing.
  package let launch: LaunchInformation?
  /// Of the last assertion.
  package private(set) var signCount: UInt32
  private let key: SigningKey
  /// Nil for a key that lives only as long as the process.
  private let stateFile: EnclaveStateFile?

  private init(
    _ key: consuming SigningKey, _ point: P256Point, appID: String, environment: AttestationEnvironment,
    launch: LaunchInformation?, signCount: UInt32, stateFile: EnclaveStateFile?
  ) {
    self.key = key
    self.point = point
    self.appID = appID
    self.environment = environment
    self.launch = launch
    self.signCount = signCount
    self.stateFile = stateFile
    keyIdentifier = KeyIdentifier(sha256(point.x963))
  }

  // MARK: Life cycle

  /// A new key.
  /// - Parameters:
  ///   - path: where to keep it; nothing is written over.
  package static func generate(
    appID: String, environment: AttestationEnvironment, launch: LaunchInformation? = nil, keptIn path: String? = nil
  ) throws(DeviceError) -> SoftwareEnclave {
    let enclave: SoftwareEnclave
    let pem: String
    do throws(IssuingError) {
      let key = try SigningKey.generate(.p256)
      pem = try key.pem()
      let point = try point(of: key)
      enclave = SoftwareEnclave(
        key, point, appID: appID, environment: environment, launch: launch, signCount: 0,
        stateFile: path.map { EnclaveStateFile(path: $0) })
    } catch {
      throw .issuing(error)
    }
    try enclave.stateFile?.create(
      EnclaveState(
        privateKey: pem, keyIdentifier: enclave.keyIdentifier, signCount: 0, appID: appID, environment: environment,
        launch: launch))
    return enclave
  }

  /// The key that `generate` left at `path`.
  package static func load(from path: String) throws(DeviceError) -> SoftwareEnclave {
    let stateFile = EnclaveStateFile(path: path)
    let state = try stateFile.read()
    let enclave: SoftwareEnclave
    do throws(IssuingError) {
      let key = try SigningKey.read(pem: Array(state.privateKey.utf8))
      let point = try point(of: key)
      enclave = SoftwareEnclave(
        key, point, appID: state.appID, environment: state.environment, launch: state.launch,
        signCount: state.signCount, stateFile: stateFile)
    } catch {
      throw .unusable(path: path, reason: error.description)
    }
    guard enclave.keyIdentifier == state.keyIdentifier else {
      throw .unusable(path: path, reason: "keyId is not that of privateKey")
    }
    return enclave
  }

  // MARK: What the app asks for

  /// `DCAppAttestService.attestKey`: the CBOR object for registration.
  package func attest(
    clientDataHash: Bytes32, by authority: TestAttestationAuthority, now: UnixTime
  ) throws(DeviceError) -> [UInt8] {
    let authenticatorData = AuthenticatorData(appID: appID, signCount: 0, launch: launch)
      .attestation(environment, keyIdentifier, point)
    let nonce = sha256(authenticatorData + clientDataHash.array)
    let leaf: IssuedCertificate
    do {
      leaf = try authority.certify(
        subjectPublicKeyInfo: key.subjectPublicKeyInfo(), key: keyIdentifier, nonce: nonce, appID: appID, now: now)
    } catch {
      throw .issuing(error)
    }
    let certificates = [leaf, authority.intermediate].map { CBORHeads.bytes($0.der) }
    return CBORHeads.map([
      (CBORHeads.text("fmt"), CBORHeads.text("apple-appattest")),
      (
        CBORHeads.text("attStmt"),
        CBORHeads.map([
          (CBORHeads.text("x5c"), CBORHeads.array(certificates)),
          (CBORHeads.text("receipt"), CBORHeads.bytes(Array("no receipt: software device".utf8))),
        ])
      ),
      (CBORHeads.text("authData"), CBORHeads.bytes(authenticatorData)),
    ])
  }

  /// `DCAppAttestService.generateAssertion`: counts one up, and has stored that before the assertion is to be had.
  package func assert(clientDataHash: Bytes32) throws(DeviceError) -> [UInt8] {
    if let stateFile {
      signCount = try stateFile.incrementSignCount()
    } else {
      let (next, overflow) = signCount.addingReportingOverflow(1)
      if overflow { throw .counterExhausted }
      signCount = next
    }
    return try assertion(clientDataHash: clientDataHash, signCount: signCount)
  }

  /// With a counter of the caller's choice, which the enclave does not remember: for tests that cheat.
  package func assertion(clientDataHash: Bytes32, signCount: UInt32) throws(DeviceError) -> [UInt8] {
    let authenticatorData = AuthenticatorData(appID: appID, signCount: signCount, launch: launch).assertion
    let signature: [UInt8]
    do {
      // The signature's own SHA-256 comes on top of this one.
      signature = try key.sign(sha256(authenticatorData + clientDataHash.array).array)
    } catch {
      throw .issuing(error)
    }
    return CBORHeads.map([
      (CBORHeads.text("signature"), CBORHeads.bytes(signature)),
      (CBORHeads.text("authenticatorData"), CBORHeads.bytes(authenticatorData)),
    ])
  }

  private static func point(of key: borrowing SigningKey) throws(IssuingError) -> P256Point {
    let bytes = try key.publicPoint()
    guard let point = P256Point(x963: bytes.span) else { throw .unsupportedKey }
    return point
  }
}

/// Stands in for the Secure Enclave: one App Attest key, its attestation and its counted assertions
/// (docs/app-attest.md).
package import Bytes
internal import CBOR
internal import Crypto
package import Dialing
package import Identity
internal import System
package import Time

package final class SoftwareEnclave {
  package let appID: String
  package let environment: AttestEnvironment
  package let keyIdentifier: KeyIdentifier
  /// The public key, as the server keeps it.
  package let point: P256Point
  /// Said in attestations and assertions when set, as by iOS 27; older systems say nothing.
  package let launch: LaunchClaim?
  /// Of the last assertion.
  package private(set) var signCount: UInt32
  private let key: SigningKey
  /// Nil for a key that lives only as long as the process.
  private let stateFile: EnclaveStateFile?

  private init(
    _ key: consuming SigningKey, _ point: P256Point, appID: String, environment: AttestEnvironment,
    launch: LaunchClaim?, signCount: UInt32, stateFile: EnclaveStateFile?
  ) {
    self.key = key
    self.point = point
    self.appID = appID
    self.environment = environment
    self.launch = launch
    self.signCount = signCount
    self.stateFile = stateFile
    keyIdentifier = KeyIdentifier(SHA256.hash(point.x963.span))
  }

  // MARK: Life cycle

  /// A new key.
  /// - Parameters:
  ///   - path: where to keep it; nothing is written over.
  package static func generate(
    appID: String, environment: AttestEnvironment, launch: LaunchClaim? = nil, keptIn path: String? = nil
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
        privateKey: pem, keyIdentifier: enclave.keyIdentifier, signCount: 0, appID: appID,
        environment: environment,
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
    let nonce = SHA256.hash(authenticatorData.span, clientDataHash)
    let leaf: IssuedCertificate
    do {
      leaf = try authority.certify(
        subjectPublicKeyInfo: key.subjectPublicKeyInfo(), key: keyIdentifier, nonce: nonce, appID: appID,
        now: now)
    } catch {
      throw .issuing(error)
    }
    var encoder = CBOREncoder()
    encoder.beginMap(pairs: 3)
    encoder.append(text: "fmt")
    encoder.append(text: "apple-appattest")
    encoder.append(text: "attStmt")
    encoder.beginMap(pairs: 2)
    encoder.append(text: "x5c")
    encoder.beginArray(count: 2)
    encoder.append(bytes: leaf.der)
    encoder.append(bytes: authority.intermediate.der)
    encoder.append(text: "receipt")
    encoder.append(bytes: Array("no receipt: software device".utf8))
    encoder.append(text: "authData")
    encoder.append(bytes: authenticatorData)
    return encoder.bytes
  }

  /// `DCAppAttestService.generateAssertion`: counts one up, and has stored that before the assertion is to be
  /// had.
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
      signature = try key.sign(SHA256.hash(authenticatorData.span, clientDataHash).array)
    } catch {
      throw .issuing(error)
    }
    var encoder = CBOREncoder()
    encoder.beginMap(pairs: 2)
    encoder.append(text: "signature")
    encoder.append(bytes: signature)
    encoder.append(text: "authenticatorData")
    encoder.append(bytes: authenticatorData)
    return encoder.bytes
  }

  private static func point(of key: borrowing SigningKey) throws(IssuingError) -> P256Point {
    let bytes = try key.publicPoint()
    guard let point = P256Point(x963: bytes.span) else { throw .unsupportedKey }
    return point
  }
}

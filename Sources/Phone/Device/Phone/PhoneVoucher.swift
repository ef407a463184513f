/// Who makes a software phone's evidence: its app or its hardware, with a test authority in Apple's or Google's place.
internal import Bytes
package import DeviceWire
internal import Dialing
internal import Time

package enum PhoneVoucher {
  case app(PhoneApp)
  case play(PlayApp)
  case hardware(AndroidHardware)

  /// The app's key, which the gate knows after the first time. Others say the same at each time.
  var appKey: KeyIdentifier? {
    if case .app(let app) = self { app.enclave.keyIdentifier } else { nil }
  }

  /// - Parameters:
  ///   - isKnown: whether the gate has the app's key already, which then signs an assertion.
  ///   - carriesNonce: whether the challenge is the evidence's own.
  func evidence(
    for keys: PhoneKeys, _ challenge: PhoneChallenge, isKnown: Bool, carriesNonce: Bool = false
  ) throws(DeviceError) -> PhoneEvidence {
    let statement: PhoneEvidence.Statement =
      switch self {
      case .app(let app): try app.statement(for: keys, challenge, isKnown: isKnown)
      case .play(let app): try app.statement(for: keys, challenge)
      case .hardware(let hardware): try hardware.statement(for: keys, challenge)
      }
    return PhoneEvidence(statement, nonce: carriesNonce ? challenge.nonce : nil)
  }
}

/// The app on an iPhone: an App Attest key, and the authority that plays Apple's part.
package struct PhoneApp {
  package let enclave: SoftwareEnclave
  package let authority: TestAttestationAuthority

  package init(_ enclave: SoftwareEnclave, _ authority: TestAttestationAuthority) {
    self.enclave = enclave
    self.authority = authority
  }

  fileprivate func statement(
    for keys: PhoneKeys, _ challenge: PhoneChallenge, isKnown: Bool
  ) throws(DeviceError) -> PhoneEvidence.Statement {
    let message = DeviceMessage.appAttest(
      server: challenge.server, keys: keys.names, nonce: challenge.nonce)
    if isKnown {
      return .assertion(try enclave.assert(clientDataHash: message.hash), by: enclave.keyIdentifier)
    }
    let attestation = try enclave.attest(
      clientDataHash: message.hash, by: authority, now: SystemClock().wall())
    return .attestation(attestation, by: enclave.keyIdentifier)
  }
}

/// An Android app that Google has looked at together with its phone.
package struct PlayApp {
  package let app: AndroidApp
  package let service: TestPlayService
  package let integrity: TestPlayService.Integrity
  /// Without it the token is for another request than the gate's.
  package let heedsChallenge: Bool

  package init(
    _ app: AndroidApp, _ service: TestPlayService, integrity: TestPlayService.Integrity,
    heedsChallenge: Bool = true
  ) {
    self.app = app
    self.service = service
    self.integrity = integrity
    self.heedsChallenge = heedsChallenge
  }

  fileprivate func statement(
    for keys: PhoneKeys, _ challenge: PhoneChallenge
  ) throws(DeviceError) -> PhoneEvidence.Statement {
    let message = DeviceMessage.playNonce(
      server: challenge.server, keys: keys.names, nonce: challenge.nonce)
    var claims = TestPlayService.Claims(
      package: app.package, signers: Array(app.digests),
      nonce: heedsChallenge ? message.hash : Bytes32(), time: SystemClock().wall())
    claims.integrity = integrity
    do { return .playToken(try service.token(claims)) } catch { throw .issuing(error) }
  }
}

/// Who makes a simulated phone's evidence: its app or its hardware, with a test authority in Apple's or Google's place.
internal import Bytes
package import DeviceWire
internal import Dialing
internal import PortcullisDevice
internal import System
internal import Time

package enum PhoneVoucher {
  case app(PhoneApp)
  case play(PlayApp)
  case hardware(AndroidHardware)

  /// The app's key, which the gate knows after the first time. Others say the same at each time.
  var appKey: KeyIdentifier? {
    if case .app(let app) = self { app.enclave.keyIdentifier } else { nil }
  }

  /// - Parameter isKnown: whether the gate has the app's key already, which then signs an assertion.
  func evidence(
    for points: DevicePoints, _ challenge: DeviceChallenge, isKnown: Bool
  ) throws(DeviceError) -> DeviceEvidence {
    switch self {
    case .app(let app): try app.evidence(for: points, challenge, isKnown: isKnown)
    case .play(let app): try app.evidence(for: points, challenge)
    case .hardware(let hardware): try hardware.statement(for: points, challenge)
    }
  }
}

/// The same as the package asks for it, from any thread.
final class VoucherAtWork: DeviceVoucher {
  /// Touched by one thread at a time.
  private struct Held: @unchecked Sendable {
    let voucher: PhoneVoucher
  }

  private let held: Monitor<Held>

  init(_ voucher: PhoneVoucher) {
    held = Monitor(Held(voucher: voucher))
  }

  var appKeyID: String? { held.withLock { held, _ in held.voucher.appKey?.base64 } }

  func evidence(
    for points: DevicePoints, _ challenge: DeviceChallenge, isKnown: Bool
  ) async throws -> DeviceEvidence {
    let made = held.withLock { held, _ in
      Result { () throws(DeviceError) in
        try held.voucher.evidence(for: points, challenge, isKnown: isKnown)
      }
    }
    return try made.get()
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

  fileprivate func evidence(
    for points: DevicePoints, _ challenge: DeviceChallenge, isKnown: Bool
  ) throws(DeviceError) -> DeviceEvidence {
    let message = DeviceMessage.appAttest(
      server: challenge.server, keys: points.hashes, nonce: challenge.nonce)
    if isKnown {
      return .assertion(
        try enclave.assert(clientDataHash: message.hash), keyID: enclave.keyIdentifier.base64)
    }
    let attestation = try enclave.attest(
      clientDataHash: message.hash, by: authority, now: SystemClock().wall())
    return .attestation(attestation, keyID: enclave.keyIdentifier.base64)
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

  fileprivate func evidence(
    for points: DevicePoints, _ challenge: DeviceChallenge
  ) throws(DeviceError) -> DeviceEvidence {
    let message = DeviceMessage.playNonce(
      server: challenge.server, keys: points.hashes, nonce: challenge.nonce)
    var claims = TestPlayService.Claims(
      package: app.package, signers: Array(app.digests),
      nonce: heedsChallenge ? message.hash : Bytes32(), time: SystemClock().wall())
    claims.integrity = integrity
    do { return .playIntegrity(try service.token(claims)) } catch { throw .issuing(error) }
  }
}

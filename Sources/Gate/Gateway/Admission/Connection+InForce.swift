/// What has let an upgrade in so far, judged again when its `101` is due (docs/protocol.md, "Admission"): while it waited
/// for the disk, another loop or the game, a reload, an order or the time may have taken it back.
///
/// The one place for this: whatever decides at the beginning of an upgrade by a setting, a credential or a date has its
/// second look here.
internal import Admission
internal import AppAttest
internal import Configuration
internal import KeyStore
internal import PortcullisProtocol
internal import System
internal import Telemetry
internal import Time
internal import TLS

extension Connection {
  /// Nil while nothing speaks against it.
  func objection(to admission: AdmissionAttempt) -> Refusal? {
    let (shared, settings) = (loop.shared, loop.settings)
    if shared.isShutOut(admission.credential) { return .revoked(admission.credential) }
    if let origin = admission.origin, !settings.origins.permits(origin) {
      return Refusal(.originForbidden, step: "origin")
    }
    if !settings.requiresAppAuth { return nil }
    switch admission.credential {
    case .none: return .noCredential
    case .assertion: return admission.proof.flatMap(objection)
    case .device(let device):
      // It may have another key by now, which has signed nothing here.
      if let known = shared.devices?.admitted.device(device.id), known.key == device.key { return nil }
      return Refusal(.signatureRejected, step: "device_signature")
    case .clientCertificate(let subject, _, let terms):
      if settings.takes(terms, at: shared.clock.wall()) { return nil }
      shared.log.certificateRefused(peerName, subject: subject, reason: "not good any more")
      return .noCredential
    }
  }

  private func objection(to proof: AdmissionAttempt.Proof) -> Refusal? {
    if let end = proof.goodUntil, loop.shared.clock.wall() >= end {
      return Refusal(.keyUnknown, step: "key_unknown")
    }
    guard
      let error = loop.settings.policy.objection(to: proof.assertion, environment: proof.environment)
    else { return nil }
    return Refusal(of: error)
  }
}

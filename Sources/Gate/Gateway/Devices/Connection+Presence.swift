/// What a desktop asks about a phone that is to be near (docs/protocol-devices.md, "Devices"): the challenge is bound to the two
/// of them, so that no other device and no other desktop can use it, and to ten seconds.
internal import Admission
internal import Bytes
internal import DeviceWire
internal import HTTPWire
internal import PortcullisProtocol
internal import Registry
internal import Requests
internal import Telemetry

extension Connection {
  func askPresence(_ request: DeviceRequest, _ form: Form) throws(Refusal) -> AskPresence {
    let form = try read { () throws(FormError) in try PresenceChallengeForm(form) }
    let scope = try ChallengeScope.presence(of: form.device, request)
    guard let challenge = loop.shared.challenges.issue(loop: loop.index, for: scope) else {
      throw Refusal(.overloaded, step: "challenges_per_second")
    }
    counters.challenges.add()
    return AskPresence(
      bearer: request.bearer?.text ?? "", form, nonce: challenge.nonce, expires: challenge.expires)
  }

  func provePresence(
    _ request: DeviceRequest, _ form: Form, for pending: PendingRequest
  ) throws(Refusal) -> ProvePresence {
    let form = try read { () throws(FormError) in try PresenceForm(form) }
    let nonce = try spend(form.nonce, try .presence(of: form.device, request), for: pending)
    return ProvePresence(bearer: request.bearer?.text ?? "", form, nonce: nonce)
  }
}

extension ChallengeScope {
  fileprivate static func presence(
    of device: DeviceID, _ request: DeviceRequest
  ) throws(Refusal) -> ChallengeScope {
    guard let desktop = request.service else { throw Refusal(.internalError, step: "endpoint") }
    return .purpose(.presence, about: device.bytes + desktop.bytes)
  }
}

/// `POST /mobile/attest`: evidence for the keys that a device has. It needs no token, as it names the keys itself.
package import Bytes
package import DeviceWire
internal import PortcullisProtocol

package struct AttestForm: Equatable, Sendable {
  package let device: DeviceID
  package let nonce: Bytes32
  package let evidence: EvidenceForm
  /// The device key's, as for a token: what fails beside it is the device's own.
  package let signature: DeviceSignature?

  package init(_ form: Form) throws(FormError) {
    device = try form.identifier("device_id")
    nonce = try form.hex("nonce")
    evidence = try EvidenceForm(form)
    // Its challenge is set when a key is made: what attests a key comes with the key.
    if case .androidKey = evidence { throw FormError("attestation_type") }
    signature = try form.optionalSignature("signature")
  }
}

/// Asks which keys the evidence has to name, before anything dear is done about it. Replies with `keys`.
package struct FindAttestedKeys: RegistryCall {
  private let device: DeviceID
  private let platform: DevicePlatform

  package var evidenceStep: EvidenceStep { .asked }

  /// - Parameter platform: whose phones have such evidence.
  package init(_ device: DeviceID, on platform: DevicePlatform) {
    self.device = device
    self.platform = platform
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let found = try transaction.device(device)
    guard found.state != .revoked else { throw .refused(.deviceRevoked, "device_revoked") }
    guard found.platform == platform else { throw .refused(.badRequest, "evidence_platform") }
    try transaction.requireClient(of: found.subject)
    try transaction.requireFewFailures(of: device)
    return .reply(.keys(AttestedKeys(server: transaction.server, found.keys)))
  }
}

/// What evidence for a device is over, between the registry and the thread that judges it.
package struct AttestedKeys: Equatable, Sendable {
  package let server: ServerID
  package let device: P256Point
  package let approval: P256Point?

  init(server: ServerID, _ keys: DeviceKeys) {
    self.server = server
    device = keys.device.point
    approval = keys.approval?.point
  }

  func isEqual(to keys: DeviceKeys) -> Bool {
    device == keys.device.point && approval == keys.approval?.point
  }
}

package struct Attest: RegistryCall {
  private let device: DeviceID
  private let keys: AttestedKeys
  private let evidence: VerifiedEvidence

  package var evidenceStep: EvidenceStep { .brought }

  /// - Parameter keys: those that the evidence was found to name.
  package init(_ device: DeviceID, keys: AttestedKeys, evidence: VerifiedEvidence) {
    self.device = device
    self.keys = keys
    self.evidence = evidence
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    var device = try transaction.device(device)
    guard device.state != .revoked else { throw .refused(.deviceRevoked, "device_revoked") }
    guard keys.isEqual(to: device.keys) else { throw .refused(.attestationRejected, "attest_keys_changed") }
    try transaction.raise(&device, by: evidence)
    if device.state == .pending, transaction.settings.evidenceActivates { try transaction.activate(&device) }
    var answer = DeviceAnswer()
    answer.put("verdict", "pass")
    answer.putStanding(device)
    answer.put("device_token", try transaction.token(for: device).text)
    return .reply(answer.reply())
  }
}

/// Whom it speaks against that evidence was refused.
package enum AttestationBlame: Sendable {
  /// The device: the evidence was made for its keys and this challenge.
  case device
  /// Whoever has sent it. Anybody can send such evidence in a device's name: it is the device's where its key has signed.
  case sender
  /// The gate, which lacks what it would have to be judged by.
  case gate
}

/// Evidence for a device was refused; the answer to the peer is the caller's, and what the device asks for next is judged by
/// it: it waits for nothing.
package struct NoteFailedAttestation: RegistryCall {
  /// What the evidence came with.
  private enum Request {
    case attestation(AttestForm)
    case enrollment(EnrollForm)
    case rotation(RotateForm)
  }

  private let request: Request
  private var blame = AttestationBlame.sender
  private var step: String?

  package init(_ attestation: AttestForm) {
    request = .attestation(attestation)
  }

  /// - Parameter enrollment: of keys that may be a device's already.
  package init(_ enrollment: EnrollForm) {
    request = .enrollment(enrollment)
  }

  package init(_ rotation: RotateForm) {
    request = .rotation(rotation)
  }

  /// - Parameter step: the rule that the evidence broke, as the log names it.
  package func because(_ step: String, blaming blame: AttestationBlame) -> Self {
    var call = self
    call.step = step
    call.blame = blame
    return call
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let (found, hasSigned) = try named(&transaction)
    var device = found
    // What the gate lacks keeps no phone waiting once it is there.
    if blame != .gate {
      transaction.devices.noteFailure(device.id, from: transaction.origin, now: transaction.now)
    }
    if blame == .device || blame == .sender && hasSigned {
      device.attestationFailedAt = transaction.now
      try transaction.keep(device)
    }
    // It has no rows of its own: it is counted as what strangers are refused.
    if device.state == .pending {
      return .reply(.refused(RegistryRefusal(.attestationRejected, step ?? "evidence")))
    }
    if let counted = transaction.devices.refusals.judge(
      .attestationRejected, to: .device(device.id), at: transaction.now)
    {
      transaction.devices.refusals.note(counted, at: transaction.now)
    } else {
      try transaction.record(.attestationFailed, [.device(device.id)] + (step.map { [.step($0)] } ?? []))
    }
    return .reply(.answered(Array("{}".utf8)))
  }

  /// In whose name it came, and whether that one's key has signed. With new keys, only then.
  private func named(_ transaction: inout Transaction) throws(CallFailure) -> (DeviceRecord, hasSigned: Bool)
  {
    switch request {
    case .attestation(let form):
      let message = DeviceMessage.deviceAuth(
        server: transaction.server, device: form.device, nonce: form.nonce, for: .token(.gate))
      let device = try transaction.device(form.device)
      let hasSigned = form.signature?.isValid(
        for: message, by: device.keys.device, verifier: transaction.verifier)
      return (device, hasSigned == true)
    case .enrollment(let form):
      try transaction.require(
        form.signature, of: form.message(transaction), by: form.keys.device, "enroll_signature")
      let known = try transaction.store.device(withKey: form.keys.device)
      guard let known, known.state != .revoked else {
        throw .refused(.attestationRejected, step ?? "evidence")
      }
      return (known, true)
    case .rotation(let form):
      return (try transaction.device(form.device, signing: form.message(transaction), form.signature), true)
    }
  }
}

/// App Attest keys were revoked, by an operator or with what the key store says at the start: what they vouched for is bare
/// from now on.
package struct EndAttestedKeys: RegistryCall {
  /// As many as one call is given.
  package static let most = 256

  private let keys: [KeyIdentifier]

  package var urgency: Urgency { .revocation }
  package var revokes: String {
    let first = keys.first?.base64 ?? ""
    return keys.count == 1
      ? "what App Attest key \(first) attested"
      : "what \(keys.count) App Attest keys attested, the first \(first)"
  }

  package init(_ keys: [KeyIdentifier]) {
    self.keys = keys
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    for key in keys { try transaction.end(key) }
    return .reply(.answered(Array("{}".utf8)))
  }
}

extension Transaction {
  fileprivate mutating func end(_ key: KeyIdentifier) throws(CallFailure) {
    devices.endedKeys.note(key, now: now)
    let found = try store.device(attestedBy: key)
    // A revoked one keeps its key's name, by which the next start knows that nobody comes in with it.
    guard var device = found, device.state != .revoked else { return }
    device.attestedKey = nil
    device.attestedAt = nil
    if device.level == .appAttested { device.level = .bare }
    device.endTokens()
    try keep(device)
    try withdrawVotes(of: device.id)
    announce(device.state == .active ? .deviceActive(device.active) : .deviceWaits(device.active))
    try record(.deviceUnattested, .device(device.id), .level(device.level), .attestedKey(key))
  }
}

extension Transaction {
  /// To what evidence says of the keys that a device has; never down.
  mutating func raise(_ device: inout DeviceRecord, by evidence: VerifiedEvidence) throws(CallFailure) {
    let (level, attestedKey) = try standing(of: evidence, for: device.id, on: device.platform)
    device.level = max(device.level, level)
    device.verification = max(device.verification, device.keys.verification(by: evidence))
    if let attestedKey { try setAttestedKey(attestedKey, of: &device) }
    device.note(evidence, at: now)
    try keep(device)
    try keepSerials(of: evidence, for: device.id)
    announceStanding(of: device)
    try record(.deviceAttested, device.standing)
  }
}

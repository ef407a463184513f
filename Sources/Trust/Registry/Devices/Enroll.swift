/// `POST /device/enroll`: a phone makes itself known by its keys, each of which signs.
package import Bytes
package import DeviceWire
internal import JSON
internal import PortcullisProtocol

package struct EnrollForm: Equatable, Sendable {
  package let platform: DevicePlatform
  package let keys: DeviceKeys
  package let nonce: Bytes32
  package let signature: DeviceSignature
  package let approvalSignature: DeviceSignature?
  package let name: DeviceName?
  package let evidence: EvidenceForm?
  /// The device whose place it is to take, with that one's signature.
  package let replaced: Replaced?

  package struct Replaced: Equatable, Sendable {
    package let id: DeviceID
    package let signature: DeviceSignature
  }

  /// What apps of other gates say too. Nothing is made of it.
  private static let ignored = ["os_version", "build_fingerprint", "app_sig_digest", "device_fingerprint"]

  package init(_ form: Form) throws(FormError) {
    for name in Self.ignored { _ = try form.optional(name) { $0 == .null ? nil : $0 } }
    platform = try form.text("platform") { DevicePlatform(rawValue: $0) }
    keys = try form.keys()
    nonce = try form.hex("nonce")
    signature = try form.signature("signature")
    approvalSignature = try form.optionalSignature("approval_signature")
    guard (approvalSignature == nil) == (keys.approval == nil) else { throw FormError("approval_signature") }
    name = try form.optionalText("device_name") { DeviceName($0) }
    evidence = try form.evidence()
    try evidence?.require(platform, with: keys)
    let replacedID: DeviceID? = try form.optionalIdentifier("replaces")
    let replacedSignature = try form.optionalSignature("replaces_signature")
    switch (replacedID, replacedSignature) {
    case (let id?, let signature?): replaced = Replaced(id: id, signature: signature)
    case (nil, nil): replaced = nil
    case (nil, _?), (_?, nil): throw FormError("replaces_signature")
    }
  }

  /// What all of its keys sign.
  func message(_ desk: Desk) -> DeviceMessage {
    .enroll(server: desk.server, keys: keys, nonce: nonce, platform: platform)
  }
}

package struct Enroll: RegistryCall {
  /// Pending devices of all addresses: they cost a row each until their day is over.
  package static let pendingLimit = 10_000

  private let form: EnrollForm
  private let nonce: SpentNonce
  private let evidence: VerifiedEvidence?

  package var evidenceStep: EvidenceStep { evidence == nil ? .none : .brought }

  package init(_ form: EnrollForm, nonce: SpentNonce, evidence: VerifiedEvidence?) {
    self.form = form
    self.nonce = nonce
    self.evidence = evidence
  }

  package func run(_ desk: inout Desk) throws(CallFailure) -> Outcome {
    let message = form.message(desk)
    try desk.require(form.signature, of: message, by: form.keys.device, "enroll_signature")
    if let approval = form.keys.approval {
      try desk.require(form.approvalSignature, of: message, by: approval, "enroll_approval_signature")
    }
    let known = try desk.store.device(withKey: form.keys.device)
    try desk.requireClient(of: known?.subject)
    var device: DeviceRecord
    if let known {
      device = try again(known, &desk)
    } else {
      device = try first(message, &desk)
    }
    if evidence != nil, desk.settings.evidenceActivates, device.state == .pending {
      try desk.activate(&device)
    }
    return .reply(try answer(device, desk))
  }

  private func first(_ message: DeviceMessage, _ desk: inout Desk) throws(CallFailure) -> DeviceRecord {
    var device = try desk.newDevice(form.platform, keys: form.keys, name: form.name, evidence: evidence)
    if let replaced = form.replaced {
      let old = try desk.device(replaced.id, signing: message, replaced.signature)
      guard old.state == .active else { throw .refused(.devicePending, "replaced_device_pending") }
      device.replaces = old.id
    }
    if evidence == nil || !desk.settings.evidenceActivates { try requireRoom(desk) }
    let new = device
    try desk.store.insert(new)
    try desk.keepSerials(of: evidence, for: device.id)
    try desk.record(
      .deviceEnrolled, device.standing + device.belonging + [.word("platform", device.platform.rawValue)])
    desk.remind(at: device.endOfPending)
    desk.announceStanding(of: device)
    return device
  }

  /// Whoever waits for an operator takes up room.
  private func requireRoom(_ desk: Desk) throws(CallFailure) {
    if let wait = desk.devices.waitToEnrol(desk.origin, now: desk.now) {
      throw .refused(RegistryRefusal(.rateLimited, "enroll_rate", retryAfter: wait))
    }
    let pending = try desk.store.count(.pending)
    guard pending < Self.pendingLimit else {
      throw .refused(RegistryRefusal(.tooManyOpen, "pending_devices", retryAfter: .seconds(3600)))
    }
    desk.devices.noteEnrolment(desk.origin, now: desk.now)
  }

  /// The same key is the same device: the first answer was lost, or the app has forgotten it. Keys do not change so.
  private func again(_ known: DeviceRecord, _ desk: inout Desk) throws(CallFailure) -> DeviceRecord {
    desk.know(.device(known.id))
    guard known.state != .revoked else { throw .refused(.deviceRevoked, "device_revoked") }
    guard known.keys == form.keys, known.platform == form.platform else {
      throw .refused(.keyKnown, "enroll_other_keys")
    }
    guard let evidence else { return known }
    var device = known
    try desk.raise(&device, by: evidence)
    return device
  }

  private func answer(_ device: DeviceRecord, _ desk: Desk) throws(CallFailure) -> Reply {
    var answer = DeviceAnswer()
    answer.put("device_id", device.id.text)
    answer.put("server_id", desk.server.text)
    answer.put("status", device.state.word)
    answer.putStanding(device)
    answer.put("token", try desk.token(for: device).text)
    answer.putPins(desk.settings.pins)
    return answer.reply()
  }
}

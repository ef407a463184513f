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
  func message(_ transaction: Transaction) -> DeviceMessage {
    .enroll(server: transaction.server, keys: keys, nonce: nonce, platform: platform)
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

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let message = form.message(transaction)
    try transaction.require(form.signature, of: message, by: form.keys.device, "enroll_signature")
    if let approval = form.keys.approval {
      try transaction.require(form.approvalSignature, of: message, by: approval, "enroll_approval_signature")
    }
    let known = try transaction.store.device(withKey: form.keys.device)
    try transaction.requireClient(of: known?.subject)
    var device: DeviceRecord
    if let known {
      device = try again(known, &transaction)
    } else {
      device = try first(message, &transaction)
    }
    if evidence != nil, transaction.settings.evidenceActivates, device.state == .pending {
      try transaction.activate(&device)
    }
    return .reply(try answer(device, transaction))
  }

  private func first(_ message: DeviceMessage, _ transaction: inout Transaction) throws(CallFailure)
    -> DeviceRecord
  {
    var device = try transaction.newDevice(
      form.platform, keys: form.keys, name: form.name, evidence: evidence)
    if let replaced = form.replaced {
      let old = try transaction.device(replaced.id, signing: message, replaced.signature)
      guard old.state == .active else { throw .refused(.devicePending, "replaced_device_pending") }
      device.replaces = old.id
    }
    if evidence == nil || !transaction.settings.evidenceActivates { try requireRoom(transaction) }
    let new = device
    try transaction.store.insert(new)
    try transaction.keepSerials(of: evidence, for: device.id)
    try transaction.record(
      .deviceEnrolled, device.standing + device.belonging + [.word("platform", device.platform.rawValue)])
    transaction.remind(at: device.endOfPending)
    transaction.announceStanding(of: device)
    return device
  }

  /// Whoever waits for an operator takes up room.
  private func requireRoom(_ transaction: Transaction) throws(CallFailure) {
    if let wait = transaction.devices.waitToEnrol(transaction.origin, now: transaction.now) {
      throw .refused(RegistryRefusal(.rateLimited, "enroll_rate", retryAfter: wait))
    }
    let pending = try transaction.store.count(.pending)
    guard pending < Self.pendingLimit else {
      throw .refused(RegistryRefusal(.tooManyOpen, "pending_devices", retryAfter: .seconds(3600)))
    }
    transaction.devices.noteEnrolment(transaction.origin, now: transaction.now)
  }

  /// The same key is the same device: the first answer was lost, or the app has forgotten it. Keys do not change so.
  private func again(_ known: DeviceRecord, _ transaction: inout Transaction) throws(CallFailure)
    -> DeviceRecord
  {
    transaction.know(.device(known.id))
    guard known.state != .revoked else { throw .refused(.deviceRevoked, "device_revoked") }
    guard known.keys == form.keys, known.platform == form.platform else {
      throw .refused(.keyKnown, "enroll_other_keys")
    }
    guard let evidence else { return known }
    var device = known
    try transaction.raise(&device, by: evidence)
    return device
  }

  private func answer(_ device: DeviceRecord, _ transaction: Transaction) throws(CallFailure) -> Reply {
    var answer = DeviceAnswer()
    answer.put("device_id", device.id.text)
    answer.put("server_id", transaction.server.text)
    answer.put("status", device.state.word)
    answer.putStanding(device)
    answer.put("token", try transaction.token(for: device).text)
    answer.putPins(transaction.settings.pins)
    return answer.reply()
  }
}

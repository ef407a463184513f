/// `POST /device/rotate`: new keys in the place of the old ones, which end at once.
package import Bytes
package import DeviceWire
internal import PortcullisProtocol

package struct RotateForm: Equatable, Sendable {
  package let device: DeviceID
  package let keys: DeviceKeys
  package let nonce: Bytes32
  package let signature: DeviceSignature
  package let newSignature: DeviceSignature
  package let newApprovalSignature: DeviceSignature?
  package let evidence: EvidenceForm?

  package init(_ form: Form) throws(FormError) {
    device = try form.identifier("device_id")
    keys = try form.keys()
    nonce = try form.hex("nonce")
    signature = try form.signature("signature")
    newSignature = try form.signature("new_signature")
    newApprovalSignature = try form.optionalSignature("new_approval_signature")
    guard (newApprovalSignature == nil) == (keys.approval == nil) else {
      throw FormError("new_approval_signature")
    }
    evidence = try form.evidence()
    try evidence?.require(nil, with: keys)
  }
}

/// A phone whose answer was lost finds out by asking for a token with its new key.
package struct Rotate: RegistryCall {
  private let form: RotateForm
  private let nonce: SpentNonce
  private let evidence: VerifiedEvidence?

  package var evidenceStep: EvidenceStep { evidence == nil ? .none : .brought }

  package init(_ form: RotateForm, nonce: SpentNonce, evidence: VerifiedEvidence?) {
    self.form = form
    self.nonce = nonce
    self.evidence = evidence
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let message = form.message(transaction)
    var device = try transaction.device(form.device, signing: message, form.signature)
    guard device.state == .active else { throw .refused(.devicePending, "device_pending") }
    try transaction.require(form.newSignature, of: message, by: form.keys.device, "rotate_new_signature")
    if let approval = form.keys.approval {
      try transaction.require(
        form.newApprovalSignature, of: message, by: approval, "rotate_new_approval_signature")
    }
    try transaction.requireNewKeys(form.keys)
    // What vouched for the old keys says nothing about these.
    let (level, attestedKey) = try transaction.standing(of: evidence, for: device.id, on: device.platform)
    try transaction.requireMinimum(level)
    device.keys = form.keys
    device.level = level
    device.verification = form.keys.verification(by: evidence)
    device.attestedAt = nil
    (device.playAttestedAt, device.playTrust) = (nil, nil)
    // Without evidence the app's key stays the device's, which is revoked with it, and vouches for nothing.
    if let attestedKey { try transaction.setAttestedKey(attestedKey, of: &device) }
    device.note(evidence, at: transaction.now)
    device.seenAt = transaction.now
    device.endTokens()
    try transaction.keep(device)
    // The old key may have been somebody else's too, and have given the device's place to a phone of his.
    try transaction.store.keepPlace(of: form.device)
    // Its codes are good for the key that asked for them.
    try transaction.store.dropCodes(of: form.device)
    try transaction.dropSerials(of: device.id)
    try transaction.keepSerials(of: evidence, for: device.id)
    transaction.announce(.deviceActive(device.active))
    try transaction.record(.deviceRotated, device.standing)
    try transaction.askAgain(device)
    var answer = DeviceAnswer()
    answer.put("device_id", device.id.text)
    answer.putStanding(device)
    answer.put("token", try transaction.token(for: device).text)
    answer.putPins(transaction.settings.pins)
    return .reply(answer.reply())
  }
}

extension RotateForm {
  /// What all three keys sign.
  func message(_ transaction: Transaction) -> DeviceMessage {
    .rotate(server: transaction.server, device: device, newKeys: keys, nonce: nonce)
  }
}

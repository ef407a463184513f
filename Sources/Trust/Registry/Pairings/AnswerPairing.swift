/// A phone answers the QR code that it has read: `POST /pair/{id}`.
internal import Bytes
package import DeviceWire
internal import JSON
internal import PortcullisProtocol
internal import System
internal import Time

package struct AnswerPairing: RegistryCall {
  private let id: PairingID
  private let keys: DeviceKeys
  private let name: DeviceName
  private let platform: DevicePlatform
  private let commit: Bytes32
  private let mac: Bytes32
  private let signature: DeviceSignature
  private let approvalSignature: DeviceSignature?
  private var evidence: VerifiedEvidence?

  package var evidenceStep: EvidenceStep { evidence == nil ? .none : .brought }

  /// - Parameter evidence: for the keys in the form, over a nonce of its own.
  package init(_ id: PairingID, form: Form, evidence: VerifiedEvidence?) throws(FormError) {
    self.id = id
    self.evidence = evidence
    keys = try form.keys()
    name = try form.text("device_name") { DeviceName($0) }
    let stated = try form.optionalText("platform") { DevicePlatform(rawValue: $0) }
    let brought = try form.evidence()
    try brought?.require(stated, with: keys)
    platform = stated ?? brought?.platform ?? .ios
    commit = try form.hex("commit")
    mac = try form.hex("mac")
    signature = try form.signature("signature")
    approvalSignature = try form.optionalSignature("approval_signature")
    guard (approvalSignature == nil) == (keys.approval == nil) else { throw FormError("approval_signature") }
  }

  /// The same, with evidence that was judged since.
  package func with(_ evidence: VerifiedEvidence) -> Self {
    var call = self
    call.evidence = evidence
    return call
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    let (pairing, hash): (PairingRecord, Bytes32)
    switch try judge(&transaction) {
    case .said(let outcome): return outcome
    case .new(let found, let messageHash): (pairing, hash) = (found, messageHash)
    }
    let device = try device(for: pairing, &transaction)
    let answer = PairingRecord.Answer(
      device: device.id, messageHash: hash, commit: commit, s: .random(transaction.entropy))
    var answered = pairing
    answered.state = .answered
    answered.answer = answer
    let update = answered
    try transaction.store.update(update)
    try transaction.record(.pairingAnswered, [.pairing(id)] + device.standing)
    transaction.announce(.wake(.pairing(id)))
    return .reply(json(answered, answer, transaction))
  }

  // MARK: Checks

  fileprivate enum Judgement {
    /// It is refused, or was answered before.
    case said(Outcome)
    case new(PairingRecord, messageHash: Bytes32)
  }

  /// All of it but the evidence.
  fileprivate func judge(_ transaction: inout Transaction) throws(CallFailure) -> Judgement {
    // What comes back with its evidence was counted when it was judged the first time.
    if evidence == nil,
      let wait = transaction.devices.pairings.waitToAnswer(transaction.origin, now: transaction.now)
    {
      return .said(.reply(.refused(RegistryRefusal(.rateLimited, "pairing_rate", retryAfter: wait))))
    }
    guard let pairing = try transaction.pairing(id) else {
      throw .refused(.pairingRejected, "pairing_unknown")
    }
    // One that has just ended stays ended: what ends it is not to be undone with the refusal.
    guard pairing.state.isOpen, let secret = pairing.secret else { return .said(refused("pairing_ended")) }
    // The secret is tried before anything else is told.
    let message = DeviceMessage.pair(
      pairing: id, serverKeyHash: pairing.serverKeyHash, keys: keys, commit: commit, name: name)
    guard secret.isValid(mac, for: message) else {
      return .said(try count(wrongMACOf: pairing, &transaction))
    }
    if let answer = pairing.answer {
      guard answer.messageHash == message.hash else { return .said(refused("pairing_used")) }
      return .said(.reply(json(pairing, answer, transaction)))
    }
    try transaction.requireClient(of: pairing.subject)
    try checkSignatures(message, transaction)
    return .new(pairing, messageHash: message.hash)
  }

  private func refused(_ step: String) -> Outcome {
    .reply(.refused(RegistryRefusal(.pairingRejected, step)))
  }

  private func count(wrongMACOf pairing: PairingRecord, _ transaction: inout Transaction) throws(CallFailure)
    -> Outcome
  {
    var tried = pairing
    tried.wrongMACs += 1
    if tried.wrongMACs >= PairingRecord.macsToBurn {
      try transaction.end(tried, .pairingBurnt)
    } else {
      let update = tried
      try transaction.store.update(update)
    }
    return refused("pairing_mac")
  }

  private func checkSignatures(_ message: DeviceMessage, _ transaction: Transaction) throws(CallFailure) {
    try transaction.require(signature, of: message, by: keys.device, "pairing_signature")
    guard let key = keys.approval else { return }
    try transaction.require(approvalSignature, of: message, by: key, "pairing_approval_signature")
  }

  /// Waits for its confirmation, and ends with the pairing. One that has enrolled by itself before, with these keys, and was
  /// not confirmed, is the same device.
  private func device(
    for pairing: PairingRecord, _ transaction: inout Transaction
  ) throws(CallFailure) -> DeviceRecord {
    let known = try transaction.store.device(withKey: keys.device)
    if let known {
      guard known.state != .revoked else { throw .refused(.deviceRevoked, "device_revoked") }
      if known.state == .pending, known.keys == keys { try transaction.delete(pending: known) }
    }
    // By its own name until it is confirmed: whoever looks at the pairing sees which phone it is.
    let device = try transaction.newDevice(platform, keys: keys, name: name, evidence: evidence)
    try transaction.store.insert(device)
    try transaction.keepSerials(of: evidence, for: device.id)
    transaction.announceStanding(of: device)
    return device
  }

  private func json(_ pairing: PairingRecord, _ answer: PairingRecord.Answer, _ transaction: Transaction)
    -> Reply
  {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("device_id")
    writer.value(answer.device.text)
    writer.name("server_id")
    writer.value(transaction.server.text)
    writer.name("s")
    writer.value(answer.s.hex)
    writer.name("expires_at")
    writer.value(pairing.expiresAt.seconds)
    writer.endObject()
    return .answered(writer.bytes)
  }
}

/// Whether the evidence in a phone's answer is to be judged at all: not where the answer is refused anyhow, nor where it was
/// given before, as what was said is said again.
package struct AskToAnswer: RegistryCall {
  private let call: AnswerPairing

  package var evidenceStep: EvidenceStep { .asked }

  /// - Parameter call: without its evidence.
  package init(_ call: AnswerPairing) {
    self.call = call
  }

  package func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    switch try call.judge(&transaction) {
    case .said(let outcome): outcome
    case .new: .reply(.permitted)
    }
  }
}

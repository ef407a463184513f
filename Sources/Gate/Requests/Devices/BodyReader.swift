/// How those requests are read that are more than one form: what spends a challenge, and what brings evidence
/// (docs/protocol-devices.md, "Devices").
internal import Admission
internal import Bytes
internal import DeviceWire
internal import HTTPWire
internal import JSON
internal import PortcullisProtocol
internal import Registry

enum BodyReader {
  // MARK: Keys and what vouches for them

  static func enroll(_ body: DeviceBody) throws(Refusal) -> DeviceStep {
    let form = try Refusal.reading { () throws(FormError) in try EnrollForm(body.form) }
    return try newKeys(form, .enroll, body) { Enroll(form, nonce: $0, evidence: $1) }
  }

  static func rotate(_ body: DeviceBody) throws(Refusal) -> DeviceStep {
    let form = try Refusal.reading { () throws(FormError) in try RotateForm(body.form) }
    return try newKeys(form, .rotate, body) { Rotate(form, nonce: $0, evidence: $1) }
  }

  /// Keys that come with evidence are asked about first.
  private static func newKeys(
    _ form: some NewKeys, _ purpose: ChallengePurpose, _ body: DeviceBody,
    _ call: @escaping (SpentNonce, VerifiedEvidence?) -> any RegistryCall
  ) throws(Refusal) -> DeviceStep {
    let nonce = try body.spend(form.nonce, purpose)
    guard let evidence = form.evidence else { return .call(call(nonce, nil)) }
    let claim = EvidenceClaim(server: body.server, keys: form.keys, nonce: form.nonce)
    return .permission(
      form.question,
      EvidenceWork(form: evidence, claim: claim, failure: form.failure) { call(nonce, $0) })
  }

  static func attest(_ body: DeviceBody) throws(Refusal) -> DeviceStep {
    let form = try Refusal.reading { () throws(FormError) in try AttestForm(body.form) }
    _ = try body.spend(form.nonce, .attest)
    return .keys(form)
  }

  static func token(_ body: DeviceBody) throws(Refusal) -> DeviceStep {
    let form = try Refusal.reading { () throws(FormError) in try TokenForm(body.form) }
    return .call(IssueToken(form, nonce: try body.spend(form.nonce, .device)))
  }

  /// The message of a pairing has no challenge; evidence has one of its own.
  static func answerPairing(_ id: PairingID, _ body: DeviceBody) throws(Refusal) -> DeviceStep {
    let form = body.form
    let call = try Refusal.reading { () throws(FormError) in
      try AnswerPairing(id, form: form, evidence: nil)
    }
    let found = try Refusal.reading { () throws(FormError) in try form.evidence() }
    guard let evidence = found, let members = form.object["evidence"]?.object else { return .call(call) }
    let nonce = try Refusal.reading { () throws(FormError) in try form.within(members).hex("nonce") }
    let keys = try Refusal.reading { () throws(FormError) in try form.keys() }
    let claim = EvidenceClaim(server: body.server, keys: keys, nonce: nonce)
    return .permission(
      AskToAnswer(call),
      EvidenceWork(form: evidence, claim: claim, unspent: nonce, failure: nil) { call.with($0) })
  }

  // MARK: Signs of life, presence, codes

  static func heartbeat(_ body: DeviceBody) throws(Refusal) -> DeviceStep {
    let form = try Refusal.reading { () throws(FormError) in try HeartbeatForm(body.form) }
    let nonce = try form.proof.map { (proof) throws(Refusal) in try body.spend(proof.nonce, .device) }
    return .call(Heartbeat(bearer: body.token, form, nonce: nonce))
  }

  static func askPresence(_ body: DeviceBody) throws(Refusal) -> DeviceStep {
    let form = try Refusal.reading { () throws(FormError) in try PresenceChallengeForm(body.form) }
    let challenge = try body.challenges.issue(for: try body.presence(of: form.device))
    return .call(AskPresence(bearer: body.token, form, nonce: challenge.nonce, expires: challenge.expires))
  }

  static func provePresence(_ body: DeviceBody) throws(Refusal) -> DeviceStep {
    let form = try Refusal.reading { () throws(FormError) in try PresenceForm(body.form) }
    let nonce = try body.challenges.spend(form.nonce, for: try body.presence(of: form.device))
    return .call(ProvePresence(bearer: body.token, form, nonce: nonce))
  }

  static func issueCode(_ body: DeviceBody) throws(Refusal) -> DeviceStep {
    let form = try Refusal.reading { () throws(FormError) in try IssueCodeForm(body.form) }
    return .call(IssueCode(bearer: body.token, form, nonce: body.spendIfIssued(form.nonce, .otp)))
  }
}

enum PlainReader {
  static func pairing(_ id: PairingID, _ request: DeviceRequest) throws(Refusal) -> any RegistryCall {
    guard let reveal = request.query[.reveal] else { return PairingStatus(id, of: .service(request.token)) }
    guard let r = Bytes32(hex: reveal) else { throw Refusal(.badRequest, step: "reveal") }
    return RevealPairing(id, r: r)
  }
}

/// Keys that a device is to have, and what may vouch for them.
private protocol NewKeys {
  var keys: DeviceKeys { get }
  var nonce: Bytes32 { get }
  var evidence: EvidenceForm? { get }
  /// Whether it is worth judging.
  var question: AskToAttest { get }
  var failure: NoteFailedAttestation { get }
}

extension EnrollForm: NewKeys {
  fileprivate var question: AskToAttest { AskToAttest(self) }
  fileprivate var failure: NoteFailedAttestation { NoteFailedAttestation(self) }
}

extension RotateForm: NewKeys {
  fileprivate var question: AskToAttest { AskToAttest(self) }
  fileprivate var failure: NoteFailedAttestation { NoteFailedAttestation(self) }
}

/// Which call of the registry each request about devices is, and what it waits for before it is one.
internal import Admission
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import HTTPWire
internal import JSON
internal import PortcullisProtocol
internal import Registry
internal import Requests

extension Connection {
  /// Reads the body's form, and spends the challenge that it names.
  func step(
    of request: DeviceRequest, _ body: [UInt8], for pending: PendingRequest, _ devices: Devices
  ) throws(Refusal) -> DeviceStep {
    guard request.endpoint.hasBody else { return .call(try call(withoutBody: request)) }
    let form = try read { () throws(FormError) in try Form(body: body.span, checkedBy: loop.verifier) }
    let server = devices.registry.server
    switch request.endpoint {
    case .enroll:
      return try enroll(try read { () throws(FormError) in try EnrollForm(form) }, for: pending, server)
    case .attest:
      let form = try read { () throws(FormError) in try AttestForm(form) }
      _ = try spend(form.nonce, .attest, for: pending)
      return .keys(form)
    case .token:
      let form = try read { () throws(FormError) in try TokenForm(form) }
      return .call(IssueToken(form, nonce: try spend(form.nonce, .device, for: pending)))
    case .rotate:
      return try rotate(try read { () throws(FormError) in try RotateForm(form) }, for: pending, server)
    case .answerPairing(let id): return try answerPairing(id, form, server)
    default: return .call(try call(request, form, for: pending))
    }
  }

  // MARK: Keys and what vouches for them

  private func enroll(
    _ form: EnrollForm, for pending: PendingRequest, _ server: ServerID
  ) throws(Refusal) -> DeviceStep {
    let nonce = try spend(form.nonce, .enroll, for: pending)
    guard let evidence = form.evidence else { return .call(Enroll(form, nonce: nonce, evidence: nil)) }
    let claim = EvidenceClaim(server: server, keys: form.keys, nonce: form.nonce)
    return .permission(
      AskToAttest(form),
      EvidenceWork(form: evidence, claim: claim, failure: NoteFailedAttestation(form)) {
        Enroll(form, nonce: nonce, evidence: $0)
      })
  }

  private func rotate(
    _ form: RotateForm, for pending: PendingRequest, _ server: ServerID
  ) throws(Refusal) -> DeviceStep {
    let nonce = try spend(form.nonce, .rotate, for: pending)
    guard let evidence = form.evidence else { return .call(Rotate(form, nonce: nonce, evidence: nil)) }
    let claim = EvidenceClaim(server: server, keys: form.keys, nonce: form.nonce)
    return .permission(
      AskToAttest(form),
      EvidenceWork(form: evidence, claim: claim, failure: NoteFailedAttestation(form)) {
        Rotate(form, nonce: nonce, evidence: $0)
      })
  }

  /// The message of a pairing has no challenge; evidence has one of its own.
  private func answerPairing(
    _ id: PairingID, _ form: Form, _ server: ServerID
  ) throws(Refusal) -> DeviceStep {
    let call = try read { () throws(FormError) in try AnswerPairing(id, form: form, evidence: nil) }
    let found = try read { () throws(FormError) in try form.evidence() }
    guard let evidence = found, let members = form.object["evidence"]?.object else { return .call(call) }
    let nonce = try read { () throws(FormError) in
      try Form(members, checkedBy: loop.verifier).hex("nonce")
    }
    let keys = try read { () throws(FormError) in try form.keys() }
    let claim = EvidenceClaim(server: server, keys: keys, nonce: nonce)
    return .permission(
      AskToAnswer(call),
      EvidenceWork(form: evidence, claim: claim, unspent: nonce, failure: nil) { call.with($0) })
  }

  /// The keys are there: the evidence is to name them.
  func evidence(_ form: AttestForm, over keys: AttestedKeys) throws(Refusal) -> EvidenceWork {
    guard let device = DevicePublicKey(keys.device, checkedBy: loop.verifier),
      let keysOfDevice = DeviceKeys(
        device: device, approval: keys.approval.flatMap { DevicePublicKey($0, checkedBy: loop.verifier) })
    else { throw Refusal(.internalError, step: "attested_keys") }
    return EvidenceWork(
      form: form.evidence,
      claim: EvidenceClaim(server: keys.server, keys: keysOfDevice, nonce: form.nonce),
      failure: NoteFailedAttestation(form)
    ) { Attest(form.device, keys: keys, evidence: $0) }
  }

  // MARK: What needs no evidence

  private func call(
    _ request: DeviceRequest, _ form: Form, for pending: PendingRequest
  ) throws(Refusal) -> any RegistryCall {
    let token = request.bearer?.text ?? ""
    switch request.endpoint {
    case .heartbeat:
      let form = try read { () throws(FormError) in try HeartbeatForm(form) }
      let nonce = try form.proof.map { (proof) throws(Refusal) in
        try spend(proof.nonce, .device, for: pending)
      }
      return Heartbeat(bearer: token, form, nonce: nonce)
    case .introspect:
      return try read { () throws(FormError) in Introspect(bearer: token, try IntrospectForm(form)) }
    case .openPairing:
      return try read { () throws(FormError) in try OpenPairing(form: form, token: token) }
    case .confirmPairing(let id):
      return try read { () throws(FormError) in try ConfirmPairing(id, form: form, token: token) }
    case .requestApproval:
      return try read { () throws(FormError) in try RequestApproval(bearer: token, form: form) }
    case .decide(let id):
      return try read { () throws(FormError) in
        try DecideApproval(bearer: token, approval: id, form: form)
      }
    case .useLease(let id):
      return try read { () throws(FormError) in try UseLease(bearer: token, lease: id, form: form) }
    case .askPresence: return try askPresence(request, form)
    case .provePresence: return try provePresence(request, form, for: pending)
    case .challengeCode:
      return try read { () throws(FormError) in try ChallengeCode(bearer: token, form: form) }
    case .issueCode:
      let form = try read { () throws(FormError) in try IssueCodeForm(form) }
      return IssueCode(bearer: token, form, nonce: spendIfIssued(form.nonce, .otp, for: pending))
    case .verifyCode:
      return try read { () throws(FormError) in try VerifyCode(bearer: token, form: form) }
    case .enroll, .attest, .token, .rotate, .answerPairing, .ownDevice, .pairing, .approvals, .approval,
      .cancelApproval, .endLease, .codes, .keySet:
      throw Refusal(.internalError, step: "endpoint")
    }
  }

  private func call(withoutBody request: DeviceRequest) throws(Refusal) -> any RegistryCall {
    let token = request.bearer?.text ?? ""
    switch request.endpoint {
    case .ownDevice: return ReadSelf(bearer: token)
    case .pairing(let id):
      guard let reveal = request.query[.reveal] else { return PairingStatus(id, of: .service(token)) }
      guard let r = Bytes32(hex: reveal) else { throw Refusal(.badRequest, step: "reveal") }
      return RevealPairing(id, r: r)
    case .approvals: return ListApprovals(bearer: token, after: request.query[.after])
    case .approval(let id): return ShowApproval(bearer: token, approval: id)
    case .cancelApproval(let id): return CancelApproval(bearer: token, approval: id)
    case .endLease(let id): return EndLease(bearer: token, lease: id)
    case .codes: return ListCodes(bearer: token, after: request.query[.after])
    case .enroll, .attest, .token, .rotate, .heartbeat, .introspect, .openPairing, .answerPairing,
      .confirmPairing, .requestApproval, .decide, .useLease, .askPresence, .provePresence, .challengeCode,
      .issueCode, .verifyCode, .keySet:
      throw Refusal(.internalError, step: "endpoint")
    }
  }

  // MARK: Helpers

  func read<Value>(_ form: () throws(FormError) -> Value) throws(Refusal) -> Value {
    do throws(FormError) {
      return try form()
    } catch {
      throw Refusal(
        .badRequest, step: error.step, sentence: UnjudgedEvidence(step: error.step)?.sentence,
        field: error.member)
    }
  }

  /// Takes the challenge away: of all requests with one nonce, one goes on.
  func spend(
    _ nonce: Bytes32, _ purpose: ChallengePurpose, for pending: PendingRequest
  ) throws(Refusal) -> SpentNonce {
    try spend(nonce, .purpose(purpose), for: pending)
  }

  func spend(
    _ nonce: Bytes32, _ scope: ChallengeScope, for pending: PendingRequest
  ) throws(Refusal) -> SpentNonce {
    do throws(NonceRefusal) {
      try loop.shared.challenges.consume(nonce, for: scope)
    } catch {
      throw Refusal(.nonceInvalid, step: error.rawValue)
    }
    let spent = SpentNonce(spent: nonce)
    pending.spent = spent
    return spent
  }

  /// What is refused before anything was made of its challenge may come again as it is (docs/protocol.md, "Challenges").
  func refuse(_ refusal: Refusal, of pending: PendingRequest) {
    if let spent = pending.spent.take(), [429, 503].contains(refusal.code.statusCode) {
      loop.shared.challenges.restore(spent.bytes)
    }
    refuse(refusal, closing: pending.closesAfterAnswer)
  }

  /// Nil for one that is none of the gate's challenges: the registry may have given it out.
  private func spendIfIssued(
    _ nonce: Bytes32, _ purpose: ChallengePurpose, for pending: PendingRequest
  ) -> SpentNonce? {
    do throws(Refusal) { return try spend(nonce, purpose, for: pending) } catch { return nil }
  }
}

/// From a whole request about devices to the step that comes next, and the challenges that it names.
internal import Admission
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import PortcullisProtocol
internal import Registry
internal import Requests
internal import Telemetry

extension Connection {
  /// Reads the request as its endpoint's row says, and spends the challenge that it names.
  func step(
    of request: DeviceRequest, _ body: [UInt8], for pending: PendingRequest, _ devices: Devices
  ) throws(Refusal) -> DeviceStep {
    switch request.endpoint.reader {
    case .plain(let read): return .call(try read(request))
    case .withBody(let read):
      let form = try Refusal.reading { () throws(FormError) in
        try Form(body: body.span, checkedBy: loop.verifier)
      }
      return try read(
        DeviceBody(
          request, form, server: devices.registry.server,
          challenges: ChallengesOfRequest(connection: self, pending: pending)))
    }
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

  /// Takes the challenge away: of all requests with one nonce, one goes on.
  func spend(
    _ nonce: Bytes32, _ scope: ChallengeScope, for pending: PendingRequest
  ) throws(Refusal) -> SpentNonce {
    do throws(NonceRefusal) {
      pending.spent = try loop.shared.challenges.check(nonce, for: scope)
    } catch {
      throw Refusal(.nonceInvalid, step: error.rawValue)
    }
    return SpentNonce(spent: nonce)
  }

  /// What is refused before anything was made of its challenge may come again as it is (docs/protocol.md, "Challenges").
  func refuse(_ refusal: Refusal, of pending: PendingRequest) {
    if let spent = pending.spent.take(), [429, 503].contains(refusal.code.statusCode) {
      loop.shared.challenges.restore(spent)
    }
    refuse(refusal, closing: pending.closesAfterAnswer)
  }
}

/// What a request spends goes on with it, so that a refusal for want of room or time gives it back.
private struct ChallengesOfRequest: RequestChallenges {
  let connection: Connection
  let pending: PendingRequest

  func spend(_ nonce: Bytes32, for scope: ChallengeScope) throws(Refusal) -> SpentNonce {
    try connection.spend(nonce, scope, for: pending)
  }

  func issue(for scope: ChallengeScope) throws(Refusal) -> Challenge {
    let loop = connection.loop
    guard let challenge = loop.shared.challenges.issue(loop: loop.index, for: scope) else {
      throw Refusal(.overloaded, step: "challenges_per_second")
    }
    connection.counters.challenges.add()
    return challenge
  }
}

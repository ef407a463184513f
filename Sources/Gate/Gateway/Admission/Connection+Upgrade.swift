/// A WebSocket upgrade, judged in the order of docs/protocol.md, "Admission": origin, then the assertion if there is
/// one, then the client certificate. The first that matches decides, and nothing rescues a bad assertion.
internal import Admission
internal import AppAttest
internal import Bytes
internal import Configuration
internal import Crypto
internal import HTTPWire
internal import Identity
internal import KeyStore
internal import PortcullisProtocol
internal import Requests
internal import SessionWire
internal import System
internal import Telemetry
internal import Time
internal import TLS
internal import Upstream
internal import WebSocketWire

extension Connection {
  func beginUpgrade(_ head: RequestHead, _ exchange: Exchange) {
    exchange.provesByDevice = DeviceProof.isNamed(in: head)
    exchange.namedDevice = DeviceProof.device(namedIn: head)
    let upgrade: PlayerUpgrade
    do throws(Refusal) {
      upgrade = try PlayerUpgrade(head, allowing: loop.settings.subprotocols)
    } catch {
      return refuse(error, to: head)
    }
    if loop.isDraining { return refuse(Refusal(.shuttingDown, step: "draining"), to: head) }
    if let refusal = refusalWhileDraining(of: upgrade) { return refuse(refusal, closing: true) }
    // A WebSocket client waits for 101 before it speaks (RFC 6455 §4.1).
    if exchange.hasReceived { return refuse(Refusal(.badRequest, step: "bytes_before_101"), closing: true) }
    if role == .proxyWithFields, !enterCount() {
      leaveCount()
      return refuse(.limited(.connectionsPerAddress), to: head)
    }
    do throws(Refusal) {
      let claim = try claim(of: head, upgrade)
      admit(claim, upgrade, exchange, closesAfterRefusal: !head.keepsAlive || head.expectsContinue)
    } catch {
      if role == .proxyWithFields { leaveCount() }
      if error.code == .deviceUnknown { return refuseDevice(error, to: head, exchange) }
      refuse(error, to: head)
    }
  }

  // MARK: What the request claims

  /// What a peer asks to be let in by.
  private enum Claim {
    /// Without a challenge where the session's own nonce was signed.
    case assertion(AssertionHeaders, Unspent?)
    /// Nothing is left to be verified.
    case credential(Credential)
    /// The same, by a signature over the session's own nonce.
    case resuming(Credential)

    var credential: Credential {
      switch self {
      case .assertion(let headers, _): .assertion(headers.keyID)
      case .credential(let credential), .resuming(let credential): credential
      }
    }

    var assertion: (headers: AssertionHeaders, challenge: Unspent?)? {
      if case .assertion(let headers, let challenge) = self { return (headers, challenge) }
      return nil
    }

    var isBySessionsNonce: Bool {
      switch self {
      case .assertion(_, let challenge): challenge == nil
      case .credential: false
      case .resuming: true
      }
    }
  }

  /// What a reload, an order or the time may take back is judged once more when the `101` is due: see `objection`.
  private func claim(of head: RequestHead, _ upgrade: PlayerUpgrade) throws(Refusal) -> Claim {
    if let origin = upgrade.origin, !loop.settings.origins.permits(origin) {
      throw Refusal(.originForbidden, step: "origin")
    }
    if !loop.settings.requiresAppAuth { return .credential(.none) }
    if let devices = loop.shared.devices, devices.admitted.isOpen, DeviceProof.isNamed(in: head) {
      let (device, isBySessionsNonce) = try self.device(
        of: head, devices, resuming: upgrade.resume)
      return isBySessionsNonce ? .resuming(.device(device)) : .credential(.device(device))
    }
    if head.hasField(namePrefix: HeaderName.assertionPrefix) {
      return try assertion(of: head, resuming: upgrade.resume)
    }
    if loop.settings.allowsClientCertificate {
      switch client.tls.clientCertificate(at: loop.shared.clock.wall(), under: loop.settings.tls) {
      case .verified(let subject, let publicKey, let terms):
        return .credential(.clientCertificate(subject: subject, publicKey: publicKey, terms: terms))
      case .refused(let subject, let reason):
        loop.shared.log.certificateRefused(peerName, subject: subject, reason: reason)
      case .absent: break
      }
    }
    throw Refusal.noCredential
  }

  private func assertion(
    of head: RequestHead, resuming resume: ResumeRequest?
  ) throws(Refusal) -> Claim {
    let headers: AssertionHeaders
    do throws(AssertionHeaders.Refused) {
      headers = try AssertionHeaders(head)
    } catch {
      switch error {
      case .unknownOnly: throw Refusal(.assertionRequired, step: "unknown_assertion_headers")
      case .malformed(let step): throw Refusal(.badRequest, step: step)
      }
    }
    // Neither of these uses up the challenge. A session that is to be resumed has its game already.
    if resume == nil, loop.shared.backends.failedRecently(now: loop.now) {
      throw Refusal(.backendUnavailable, step: "backend_failed_recently", keyID: headers.keyID)
    }
    if !loop.shared.store.isAccepting {
      throw Refusal(.storeUnavailable, step: "store", keyID: headers.keyID)
    }
    if loop.shared.isNonce(headers.nonce, of: resume) { return .assertion(headers, nil) }
    do throws(NonceRefusal) {
      return .assertion(headers, try loop.shared.challenges.check(headers.nonce))
    } catch {
      throw Refusal(.nonceInvalid, step: error.rawValue, keyID: headers.keyID)
    }
  }

  // MARK: The way to 101

  private func admit(
    _ claim: Claim, _ upgrade: PlayerUpgrade, _ exchange: Exchange, closesAfterRefusal: Bool
  ) {
    let session = loop.openSession(by: claim.credential, on: self)
    let admission = AdmissionAttempt(
      session, upgrade: upgrade, assertion: claim.assertion, isBySessionsNonce: claim.isBySessionsNonce,
      exchange: exchange, closesAfterRefusal: closesAfterRefusal, startedAt: loop.now)
    move(to: .admission(admission))
    // Into the register first: see `SessionRegister`. Who is shut out meanwhile is found there, or is found so here.
    for owner in session.credential.owners where claim.assertion == nil {
      loop.shared.register.enter(loop.reference(to: session.token), of: owner)
    }
    if claim.assertion == nil, loop.shared.isShutOut(session.credential) {
      return perform(admission.machine.shutOut(.revoked(session.credential)))
    }
    perform(admission.machine.begin())
    if claim.assertion == nil, let owner = session.credential.owners.first {
      loop.supersedeWaiting(of: owner)
    }
  }

  /// Does what the admission's state machine says.
  func perform(_ action: AdmissionMachine.Action) {
    guard case .admission(let admission) = stage else { return }
    switch action {
    case .nothing: break
    case .find(let keyID), .recount(let keyID): find(keyID, for: admission)
    case .judge(let record): judge(admission, by: record)
    case .resume: lookForSession(admission)
    case .connect: callGame(admission)
    case .store: store(admission)
    case .open: open(admission)
    case .refuse(let code, let step):
      returnToExchange(from: admission)
      let keyID = admission.credential.keyID
      // Who spoke before its 101 has left the framing in doubt.
      refuse(
        Refusal(code, step: step, keyID: keyID),
        closing: admission.closesAfterRefusal || code == .badRequest)
    }
  }

  // MARK: The assertion

  private func judge(_ admission: AdmissionAttempt, by record: KeyRecord) {
    guard let (headers, challenge) = admission.assertion else { return }
    let registeredApp = record.appID.flatMap(loop.settings.policy.app(named:))
    if record.appID != nil, registeredApp == nil {
      // A key file that names something else than an app must not mean any app.
      return perform(
        admission.machine.rejected(.keyUnknown, step: AssertionError.appNotConfigured.step.rawValue))
    }
    let key = RegisteredKey(
      publicKey: record.publicKey, appID: registeredApp, environment: record.environment,
      storedCounter: record.signCount)
    let assertion: ValidatedAssertion
    do throws(AssertionError) {
      assertion = try loop.assertions.verify(
        headers.assertion.span, clientDataHash: SHA256.hash(headers.nonce), by: key,
        policy: loop.settings.policy)
    } catch {
      let refusal = Refusal(of: error)
      return perform(admission.machine.rejected(refusal.code, step: refusal.step))
    }
    admission.proof = AdmissionAttempt.Proof(
      assertion: assertion, environment: record.environment, goodUntil: record.imported?.goodUntil)
    commit(assertion, headers.keyID, challenge, admission, recordsApp: registeredApp == nil)
  }

  /// Compare-and-set of the counter. Into the register first, or a revocation might miss the session: see
  /// `SessionRegister`.
  private func commit(
    _ assertion: ValidatedAssertion, _ keyID: KeyIdentifier, _ challenge: Unspent?,
    _ admission: AdmissionAttempt,
    recordsApp: Bool
  ) {
    let mailbox = loop.mailbox
    let session = admission.session.token
    loop.shared.register.enter(loop.reference(to: session), of: keyID)
    let verdict = loop.shared.store.advanceCounter(
      of: keyID, to: assertion.signCount, recording: recordsApp ? assertion.appID.description : nil,
      environment: nil, now: loop.shared.clock.wall(), spending: challenge, isGathered: true
    ) { result in mailbox.post(.committed(session, result)) }
    if let refusal = Refusal(verdict, of: keyID) {
      return perform(admission.machine.rejected(refusal.code, step: refusal.step))
    }
    loop.noteCommit()
    arm(at: loop.now + Self.commitTimeout)
    perform(admission.machine.accepted())
    loop.supersedeWaiting(of: keyID)
  }

  /// A commit takes a few milliseconds; a disk that needs longer than this is failing (docs/key-store.md,
  /// "Durability").
  private static let commitTimeout = CommitResult.deadline

  func committed(_ result: CommitResult, _ session: GameSession) {
    guard case .admission(let admission) = stage, admission.session === session,
      let keyID = admission.credential.keyID
    else { return }
    perform(admission.machine.committed(Refusal(result, of: keyID)))
  }

  // MARK: Meanwhile

  /// While the peer waits for 101 it must be silent; its end ends the wait.
  func readEarlyBytes(_ admission: AdmissionAttempt) {
    guard client.mayHaveInput else { return }
    client.tls.beginTurn(.newcomer)
    let result = loop.scratch.withBytes { bytes in client.read(into: &bytes) }
    switch result {
    case .bytes: perform(admission.machine.spokeEarly())
    case .wantsInput: break
    case .wantsTurn: loop.continueLater(self)
    case .excessive, .closed, .truncated, .failed:
      if case .excessive(let excess) = result { noteExcess(excess) }
      loop.shared.log.leftEarly(peerName, keyID: admission.credential.keyID)
      finish()
    }
  }
}

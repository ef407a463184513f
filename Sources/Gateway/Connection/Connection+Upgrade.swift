/// A WebSocket upgrade, judged in the order of SPEC §3: origin, then the assertion if there is one, then the client
/// certificate. The first that matches decides, and nothing rescues a bad assertion.
internal import AppAttest
internal import Bytes
internal import Configuration
internal import Crypto
internal import HTTPWire
internal import KeyStore
internal import System
internal import TLS
internal import WebSocketWire

extension Connection {
  func beginUpgrade(_ head: RequestHead) {
    let upgrade: UpgradeRequest
    do throws(UpgradeRefusal) {
      upgrade = try UpgradeRequest(head)
    } catch {
      return refuse(Refusal(error.code, step: error.step), to: head)
    }
    if loop.isDraining { return refuse(Refusal(.shuttingDown, step: "draining"), to: head) }
    // A WebSocket client waits for 101 before it speaks (RFC 6455 §4.1).
    guard exchange?.received.isEmpty ?? true else {
      return refuse(Refusal(.badRequest, step: "bytes_before_101"), closing: true)
    }
    if role == .proxyWithFields, !enterCount() {
      leaveCount()
      return refuse(Refusal(.rateLimited, step: "connections_per_address"), to: head)
    }
    switch judge(head) {
    case .success(let credential): enter(upgrade, credential)
    case .failure(let refusal):
      if role == .proxyWithFields { leaveCount() }
      refuse(refusal, to: head)
    }
  }

  // MARK: The verdict

  private enum Verdict {
    case success(Credential)
    case failure(Refusal)
  }

  private func judge(_ head: RequestHead) -> Verdict {
    if let origin = head.value("Origin"), !loop.settings.origins.permits(origin) {
      return .failure(Refusal(.originForbidden, step: "origin"))
    }
    if !loop.settings.requiresAppAuth { return .success(.none) }
    if head.hasField(namePrefix: AssertionHeaders.prefix) { return judgeAssertion(head) }
    if loop.settings.allowsClientCertificate {
      switch legs.client.tls.clientCertificate(at: loop.shared.clock.wall()) {
      case .verified(let subject): return .success(.clientCertificate(subject: subject))
      case .refused(let subject, let reason):
        loop.shared.log.certificateRefused(self, subject: subject, reason: reason)
      case .absent: break
      }
    }
    return .failure(Refusal(.assertionRequired, step: "no_credential"))
  }

  private func judgeAssertion(_ head: RequestHead) -> Verdict {
    let headers: AssertionHeaders
    do throws(AssertionHeaders.Refused) {
      headers = try AssertionHeaders(head)
    } catch {
      switch error {
      case .unknownOnly: return .failure(Refusal(.assertionRequired, step: "unknown_assertion_headers"))
      case .malformed(let step): return .failure(Refusal(.badRequest, step: step))
      }
    }
    let keyID = headers.keyID
    // Neither of these uses up the challenge.
    if loop.shared.backends.failedRecently(now: loop.now) {
      return .failure(Refusal(.backendUnavailable, step: "backend_failed_recently", keyID: keyID))
    }
    if !loop.shared.store.isAccepting {
      return .failure(Refusal(.storeUnavailable, step: "store", keyID: keyID))
    }
    do throws(NonceRefusal) {
      try loop.shared.challenges.consume(headers.nonce)
    } catch {
      return .failure(Refusal(.nonceInvalid, step: error.rawValue, keyID: keyID))
    }
    guard let record = loop.shared.store.find(keyID) else {
      return .failure(Refusal(.keyUnknown, step: "key_unknown", keyID: keyID))
    }
    if record.revokedAt != nil { return .failure(Refusal(.keyRevoked, step: "key_revoked", keyID: keyID)) }
    return judgeAssertion(headers, of: record)
  }

  private func judgeAssertion(_ headers: AssertionHeaders, of record: KeyRecord) -> Verdict {
    let keyID = headers.keyID
    let registeredApp = record.appID.flatMap(loop.settings.policy.app(named:))
    let key = RegisteredKey(
      publicKey: record.publicKey, appID: registeredApp, environment: record.environment.attested,
      storedCounter: record.signCount)
    let assertion: ValidatedAssertion
    do throws(AssertionError) {
      assertion = try loop.assertions.verify(
        headers.assertion.span, clientDataHash: SHA256.hash(headers.nonce), by: key,
        policy: loop.settings.policy)
    } catch {
      let mustRegister = error == .appNotConfigured || error == .environmentNotAllowed
      return .failure(
        Refusal(mustRegister ? .keyUnknown : .assertionRejected, step: error.step.rawValue, keyID: keyID))
    }
    return commit(assertion, keyID, recordsApp: registeredApp == nil)
  }

  /// Compare-and-set of the counter, with the session entered in its key's list in the same critical section.
  private func commit(_ assertion: ValidatedAssertion, _ keyID: KeyIdentifier, recordsApp: Bool) -> Verdict {
    let mailbox = loop.mailbox
    let token = token
    let verdict = loop.shared.store.advanceCounter(
      of: keyID, to: assertion.signCount, session: sessionReference,
      recording: recordsApp ? assertion.appID.description : nil, now: loop.shared.clock.wall(),
      isGathered: true
    ) { result in mailbox.post(.committed(token, result)) }
    switch verdict {
    case .accepted:
      loop.noteCommit()
      return .success(.assertion(keyID))
    case .replayed:
      return .failure(Refusal(.assertionRejected, step: AssertionError.signCount.step.rawValue, keyID: keyID))
    case .unknownKey: return .failure(Refusal(.keyUnknown, step: "key_unknown", keyID: keyID))
    case .revoked: return .failure(Refusal(.keyRevoked, step: "key_revoked", keyID: keyID))
    case .unavailable: return .failure(Refusal(.storeUnavailable, step: "store", keyID: keyID))
    }
  }

  var sessionReference: SessionReference { SessionReference(loop: UInt16(loop.index), token: token.rawValue) }

  // MARK: The way to 101

  private func enter(_ upgrade: UpgradeRequest, _ credential: Credential) {
    let admission = Admission(upgrade: upgrade, credential: credential, startedAt: loop.now)
    self.admission = admission
    stage = .admission
    if credential.keyID == nil {
      if loop.shared.backends.failedRecently(now: loop.now) {
        return perform(admission.machine.connectFailed())
      }
      connectBackend()
    } else {
      arm(at: loop.now + Self.commitTimeout)
    }
  }

  func committed(_ result: KeyStore.CommitResult) {
    guard stage == .admission else { return }
    perform(admission?.machine.committed(durably: result == .committed) ?? .nothing)
    settle()
  }

  /// Does what the admission's state machine says.
  func perform(_ action: AdmissionMachine.Action) {
    guard let admission, stage == .admission else { return }
    switch action {
    case .nothing: break
    case .connect: connectBackend()
    case .open: open(admission)
    case .refuse(let code, let step):
      refuseAdmission(admission, Refusal(code, step: step, keyID: admission.credential.keyID))
    }
  }

  private func refuseAdmission(_ admission: Admission, _ refusal: Refusal) {
    releaseAdmission(admission)
    stage = .exchange
    refuse(refusal, closing: refusal.code == .badRequest)
  }

  /// Undoes what an admission holds: its place in the key's list and among its client's, and its call to the game.
  func releaseAdmission(_ admission: Admission) {
    if let keyID = admission.credential.keyID { loop.shared.store.removeSession(sessionReference, of: keyID) }
    if role == .proxyWithFields { leaveCount() }
    self.admission = nil
    dropBackend()
  }

  /// While the peer waits for 101 it must be silent; its end ends the wait.
  func readEarlyBytes() {
    guard stage == .admission, legs.client.mayHaveInput, let admission else { return }
    switch loop.scratch.withBytes({ bytes in legs.client.read(into: &bytes) }) {
    case .bytes: perform(admission.machine.spokeEarly())
    case .wantsInput: break
    case .closed, .truncated, .failed:
      loop.shared.log.leftEarly(self, keyID: admission.credential.keyID)
      releaseAdmission(admission)
      finish()
    }
  }

  /// A commit takes a few milliseconds; a disk that needs longer than this is failing (SPEC §5).
  private static let commitTimeout = KeyStore.commitDeadline
}

extension KeyEnvironment {
  fileprivate var attested: AttestEnvironment? {
    switch self {
    case .production: .production
    case .development: .development
    case .unknown: nil
    }
  }
}

/// Evidence of devices: judged by the pool, or on the loop and by the key's counter, in the one store that all App Attest
/// keys are in (docs/devices.md).
internal import Admission
internal import AndroidKey
internal import AppAttest
internal import Bytes
internal import DeviceWire
internal import Identity
internal import KeyStore
internal import PlayIntegrity
internal import PortcullisProtocol
internal import Registry
internal import Requests
internal import System
internal import Time

extension Connection {
  /// `attested` or `evidenceFailed` is told what came of it.
  func judge(_ work: EvidenceWork, for pending: PendingRequest) throws(Refusal) {
    if let nonce = work.unspent { _ = try spend(nonce, .purpose(.enroll), for: pending) }
    if work.form.platform == .ios {
      guard loop.settings.attests else { throw Refusal(.attestationRejected, step: "no_app") }
      guard loop.shared.store.isAccepting else { throw Refusal(.storeUnavailable, step: "store") }
    }
    pending.evidence = work
    let refusal: Refusal? =
      switch work.form {
      case .attestation(let keyID, _), .assertion(let keyID, _): find(keyID, work, pending)
      case .playIntegrity, .androidKey: judgeAndroid(work, pending)
      }
    guard let refusal = refusal?.ofEvidence else { return }
    evidenceFailed(refusal, pending)
    refuse(refusal, of: pending)
  }

  // MARK: By App Attest

  /// As an upgrade does it.
  private func find(_ keyID: KeyIdentifier, _ work: EvidenceWork, _ pending: PendingRequest) -> Refusal? {
    let (mailbox, token, id) = (loop.mailbox, token, pending.id)
    let verdict = loop.shared.store.find(keyID) { { mailbox.post(.answer(token, id, .found($0))) } }
    switch verdict {
    case .found(let finding): return judge(work, by: finding, pending)
    case .later:
      workGoesOn(id, until: loop.now + KeyFinding.deadline)
      return nil
    }
  }

  /// The store's answer came later.
  func found(_ finding: KeyFinding, for pending: PendingRequest) {
    guard let work = pending.evidence, let refusal = judge(work, by: finding, pending)?.ofEvidence else {
      return
    }
    evidenceFailed(refusal, pending)
    refuse(refusal, of: pending)
  }

  private func judge(_ work: EvidenceWork, by finding: KeyFinding, _ pending: PendingRequest) -> Refusal? {
    let finding = loop.shared.asOfNow(finding)
    if finding == .failed { return Refusal(.storeUnavailable, step: "find_failed") }
    switch work.form {
    case .attestation(let keyID, let bytes): return judgeAttestation(bytes, by: keyID, finding, work, pending)
    case .assertion(let keyID, let bytes): return judgeAssertion(bytes, by: keyID, finding, work, pending)
    case .playIntegrity, .androidKey: return nil
    }
  }

  /// A key that is registered has a counter, which an attestation would not look at.
  private func judgeAttestation(
    _ bytes: [UInt8], by keyID: KeyIdentifier, _ finding: KeyFinding, _ work: EvidenceWork,
    _ pending: PendingRequest
  ) -> Refusal? {
    if case .known(let known) = finding {
      return known.revokedAt == nil
        ? Refusal(.keyKnown, step: "key_known", keyID: keyID)
        : Refusal(.keyRevoked, step: "key_revoked", keyID: keyID)
    }
    let refusal = verify(
      bytes, by: keyID, clientDataHash: work.claim.appAttest.hash, spending: .checked(pending.spent),
      for: pending.id, of: loop.shared.devices?.registry)
    if refusal == nil { pending.spent = nil }
    return refusal
  }

  /// The counter goes on before anything else follows: an assertion counts once, for whatever it is.
  private func judgeAssertion(
    _ bytes: [UInt8], by keyID: KeyIdentifier, _ finding: KeyFinding, _ work: EvidenceWork,
    _ pending: PendingRequest
  ) -> Refusal? {
    guard case .known(let record) = finding else {
      return Refusal(.keyUnknown, step: "key_unknown", keyID: keyID)
    }
    if record.revokedAt != nil { return Refusal(.keyRevoked, step: "key_revoked", keyID: keyID) }
    // Good enough to play by, as it was before; what is approved rests on attestations that were verified here.
    if record.imported != nil { return Refusal(.keyUnknown, step: "key_imported", keyID: keyID) }
    let app = record.appID.flatMap(loop.settings.policy.app(named:))
    if record.appID != nil, app == nil {
      return Refusal(.keyUnknown, step: AssertionError.appNotConfigured.step.rawValue, keyID: keyID)
    }
    let key = RegisteredKey(
      publicKey: record.publicKey, appID: app, environment: record.environment,
      storedCounter: record.signCount)
    let challenge = pending.spent.take()
    do throws(AssertionError) {
      let assertion = try loop.assertions.verify(
        bytes.span, clientDataHash: work.claim.appAttest.hash, by: key, policy: loop.settings.policy)
      return count(assertion, of: keyID, spending: challenge, recordsApp: app == nil, pending)
    } catch {
      return Refusal(.attestationRejected, step: error.step.rawValue, keyID: keyID)
    }
  }

  private func count(
    _ assertion: ValidatedAssertion, of keyID: KeyIdentifier, spending challenge: Unspent?,
    recordsApp: Bool, _ pending: PendingRequest
  ) -> Refusal? {
    let (mailbox, token, id) = (loop.mailbox, token, pending.id)
    let verdict = loop.shared.store.advanceCounter(
      of: keyID, to: assertion.signCount, recording: recordsApp ? assertion.appID.description : nil,
      environment: nil, now: loop.shared.clock.wall(), spending: challenge, isGathered: true
    ) { result in
      let answer = Refusal(result, of: keyID).map { Answer.refused($0) } ?? .registered(keyID)
      mailbox.post(.answer(token, id, answer))
    }
    if let refusal = Refusal(verdict, of: keyID) { return refusal }
    loop.noteCommit()
    workGoesOn(id, until: loop.now + CommitResult.deadline)
    return nil
  }

  // MARK: By Android

  /// There is no counter: the challenge is what makes it good once.
  private func judgeAndroid(_ work: EvidenceWork, _ pending: PendingRequest) -> Refusal? {
    guard let devices = loop.shared.devices else { return Refusal(.notFound, step: "path") }
    let (mailbox, clock, token, id) = (loop.mailbox, loop.shared.clock, token, pending.id)
    let (form, claim) = (work.form, work.claim)
    let isTaken = loop.shared.pool.submit(from: payer) {
      devices.registry.judging {
        let answer: Answer
        do throws(AndroidEvidence.Rejection) {
          answer = .evidence(try devices.android.judge(form, for: claim, at: clock.wall()))
        } catch {
          answer = .refused(
            Refusal(
              .attestationRejected, step: error.step, chain: error.chain?.rawValue,
              sentence: error.unjudged?.sentence))
        }
        mailbox.post(.answer(token, id, answer))
      }
    }
    guard isTaken else { return Refusal(.overloaded, step: "registration_queue") }
    pending.spent = nil
    workGoesOn(id, until: loop.now + Self.verificationTimeout)
    return nil
  }
}

extension Refusal {
  /// What a peer learns of evidence by a key that the store does not have or has locked out, or whose counter does not count:
  /// that it is none.
  var ofEvidence: Refusal {
    switch code {
    case .keyUnknown, .keyRevoked, .assertionRejected: Refusal(.attestationRejected, step: step, keyID: keyID)
    default: self
    }
  }
}

extension EvidenceForm {
  /// Whom it speaks against that it fails at this step: the device only where it was certainly made for its keys and the
  /// challenge that it came with.
  func blame(whereFailing step: String) -> AttestationBlame {
    if Self.lacksOfTheGate.contains(step) { return .gate }
    // Which apps are configured is not for a phone to say.
    if case .assertion = self, step == AssertionStep.appNotConfigured.rawValue { return .gate }
    let isMadeForThem =
      switch self {
      case .attestation: AttestationStep(rawValue: step)?.isOfWhoAsked
      case .assertion: AssertionStep(rawValue: step)?.isOfWhoAsked
      case .playIntegrity: PlayRejection(rawValue: step)?.isOfWhoAsked
      case .androidKey: Bool?.none
      }
    return isMadeForThem == true ? .device : .sender
  }

  /// No phone can do anything about them.
  private static let lacksOfTheGate: Set<String> = [
    "no_app", "no_play_keys", "key_imported", AndroidKeyRejection.revocationStale.rawValue,
  ]
}

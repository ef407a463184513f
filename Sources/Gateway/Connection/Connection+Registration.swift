/// `POST /attest/register`: the checks before the body, the work beside the loop, and its outcome (SPEC §3).
internal import AppAttest
internal import Bytes
internal import Configuration
internal import Crypto
internal import HTTPWire
internal import KeyStore
internal import System
internal import TLS

/// How a registration ended, as told to the connection's loop.
enum RegistrationOutcome: Sendable {
  case registered(KeyIdentifier)
  case refused(RefusalCode, step: String, KeyIdentifier)
}

extension Connection {
  /// Everything that can be refused without the body, then the body.
  func beginRegistration(_ head: RequestHead) {
    guard let exchange else { return }
    if let refusal = refusalBeforeBody(head) { return refuse(refusal, to: head) }
    guard let length = head.bodyLength, loop.shared.bodies.reserve(length) else {
      return refuse(Refusal(.overloaded, step: "bodies_in_flight"), to: head)
    }
    exchange.phase = .body(
      RegistrationRequest(length: length, startedAt: loop.now, bodies: loop.shared.bodies))
    if head.expectsContinue, exchange.received.isEmpty {
      let interim = Response.interimContinue
      if !legs.client.tls.write(interim.span) { close() }
    }
    closesAfterAnswer = !head.keepsAlive
  }

  private func refusalBeforeBody(_ head: RequestHead) -> Refusal? {
    if loop.isDraining { return Refusal(.shuttingDown, step: "draining") }
    guard MediaType.isJSON(head.value("Content-Type")) else {
      return Refusal(.unsupportedMediaType, step: "content_type")
    }
    guard let length = head.bodyLength else { return Refusal(.lengthRequired, step: "content_length") }
    if length > loop.settings.limits.httpBodyBytes {
      return Refusal(.contentTooLarge, step: "content_length")
    }
    if let wait = loop.shared.registerRates.take(payer, loop.settings.registerAllowance, now: loop.now) {
      return Refusal(.rateLimited, step: "register_rate", retryAfter: wait)
    }
    if !loop.shared.store.isAccepting { return Refusal(.storeUnavailable, step: "store") }
    return nil
  }

  /// The body is whole: from here on the pool works on it, and `registered` is told.
  func register(_ body: [UInt8], _ request: RegistrationRequest) {
    let parsed: RegistrationBody
    do throws(RegistrationBody.Malformed) {
      parsed = try RegistrationBody(body)
    } catch {
      return refuse(Refusal(.badRequest, step: error.step), closing: closesAfterAnswer)
    }
    let registrar = Registrar(
      shared: loop.shared, policy: loop.settings.policy, mailbox: loop.mailbox, token: token, body: parsed)
    guard loop.shared.pool.submit(from: payer, { registrar.run() }) else {
      return refuse(
        Refusal(.overloaded, step: "registration_queue", keyID: parsed.keyID), closing: closesAfterAnswer)
    }
    arm(at: loop.now + Self.verificationTimeout)
  }

  /// From here on the disk has its time (SPEC §5), however long the verification had to wait.
  func registrationCommits() {
    guard stage == .exchange, let exchange, case .registering = exchange.phase else { return }
    arm(at: loop.now + KeyStore.commitDeadline)
  }

  /// A verification takes a millisecond or two, but may wait behind those of others.
  private static let verificationTimeout: Duration = .seconds(10)

  func registered(_ outcome: RegistrationOutcome) {
    guard stage == .exchange, let exchange, case .registering = exchange.phase else { return }
    switch outcome {
    case .registered(let keyID):
      counters.registrations.add()
      loop.shared.log.registered(self, keyID)
      respond(Response(.ok, json: #"{"registered":true}"#), closing: closesAfterAnswer)
    case .refused(let code, let step, let keyID):
      refuse(Refusal(code, step: step, keyID: keyID), closing: closesAfterAnswer)
    }
    settle()
  }
}

/// One registration beside the loops: challenge, attestation, store, in this order.
private struct Registrar: Sendable {
  let shared: Shared
  let policy: AttestationPolicy
  let mailbox: Mailbox
  let token: Token
  let body: RegistrationBody

  func run() {
    do throws(NonceRefusal) {
      try shared.challenges.consume(body.nonce)
    } catch {
      return refuse(.nonceInvalid, error.rawValue)
    }
    let attested: ValidatedAttestation
    do throws(AttestationError) {
      // The nonce's 32 bytes are the client data (SPEC §3), not their hexadecimal text.
      attested = try shared.attestations.verify(
        body.attestation.span, keyID: body.keyID, clientDataHash: SHA256.hash(body.nonce),
        at: shared.clock.wall(),
        policy: policy)
    } catch {
      return refuse(.attestationRejected, error.step.rawValue)
    }
    keepReceipt(attested)
    store(attested)
  }

  /// A receipt that cannot be kept is the operator's loss, not a reason to turn a genuine device away.
  private func keepReceipt(_ attested: ValidatedAttestation) {
    guard let receipts = shared.receipts else { return }
    do throws(SystemError) {
      try receipts.keep(attested.receipt, of: attested.keyID)
    } catch {
      shared.log.receiptLost(attested.keyID, error)
    }
  }

  private func store(_ attested: ValidatedAttestation) {
    let key = NewKey(
      identifier: attested.keyID, publicKey: attested.publicKey, appID: attested.appID.description,
      environment: attested.environment == .production ? .production : .development,
      validationCategory: attested.validationCategory, bundleVersion: attested.bundleVersion,
      registeredAt: shared.clock.wall())
    mailbox.post(.registrationCommits(token))
    let verdict = shared.store.register(key) { result in
      switch result {
      case .committed: mailbox.post(.registered(token, .registered(body.keyID)))
      case .failed: refuse(.storeUnavailable, "commit_failed")
      }
    }
    switch verdict {
    case .accepted: break
    case .revoked: refuse(.keyRevoked, "key_revoked")
    case .full: refuse(.storeUnavailable, "store_full")
    case .unavailable: refuse(.storeUnavailable, "store")
    }
  }

  private func refuse(_ code: RefusalCode, _ step: String) {
    mailbox.post(.registered(token, .refused(code, step: step, body.keyID)))
  }
}

enum MediaType {
  /// `application/json` with any parameters (RFC 9110 §8.3.1).
  static func isJSON(_ value: String?) -> Bool {
    guard let value else { return false }
    let type = value.prefix { $0 != ";" }
    let trimmed = type.drop { $0 == " " || $0 == "\t" }
    let end = trimmed.lastIndex { $0 != " " && $0 != "\t" }
    guard let end else { return false }
    return trimmed[...end].lowercased() == "application/json"
  }
}

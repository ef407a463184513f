/// `POST /attest/register`: the checks before the body, the work beside the loop, and what the loop makes of its outcome
/// (docs/protocol.md, "Registration").
internal import Admission
internal import AppAttest
internal import Bytes
internal import Configuration
internal import Crypto
internal import HTTPWire
internal import Identity
internal import KeyStore
internal import PortcullisProtocol
internal import Registry
internal import Requests
internal import Scheduling
internal import System
internal import Telemetry
internal import Time

extension Connection {
  func refusalBeforeRegistration() -> Refusal? {
    if let wait = loop.shared.registerRates.take(payer, loop.settings.registerAllowance, now: loop.now) {
      return .limited(.registerRate, retryAfter: wait)
    }
    if !loop.shared.store.isAccepting { return Refusal(.storeUnavailable, step: "store") }
    return nil
  }

  /// Hands the body to the pool, which tells `Loop.enter` or `answered`; or says why not.
  func register(_ body: [UInt8], for request: RequestID) -> Refusal? {
    let parsed: RegistrationBody
    do throws(RegistrationBody.Malformed) {
      parsed = try RegistrationBody(body)
    } catch {
      return Refusal(.badRequest, step: error.step)
    }
    // The nonce's 32 bytes are the client data (docs/protocol.md, "Registration"), not their hexadecimal text.
    return verify(
      parsed.attestation, by: parsed.keyID, clientDataHash: SHA256.hash(parsed.nonce),
      spending: .presented(parsed.nonce), for: request)
  }

  /// Has the pool verify an attestation.
  /// - Parameters:
  ///   - challenge: that is used up when the verification begins.
  ///   - registry: where it is evidence of a device's.
  func verify(
    _ attestation: [UInt8], by keyID: KeyIdentifier, clientDataHash: Bytes32,
    spending challenge: RegistrationChallenge, for request: RequestID, of registry: Registry? = nil
  ) -> Refusal? {
    let registrar = Registrar(
      shared: loop.shared, policy: loop.settings.policy,
      challengeLifetime: loop.settings.limits.registerChallengeTTL, mailbox: loop.mailbox, token: token,
      request: request, attestation: attestation, keyID: keyID, clientDataHash: clientDataHash,
      challenge: challenge)
    let isTaken = loop.shared.pool.submit(from: payer) {
      if let registry { registry.judging(registrar.run) } else { registrar.run() }
    }
    guard isTaken else {
      return Refusal(.overloaded, step: "registration_queue", keyID: keyID)
    }
    workGoesOn(request, until: loop.now + Self.verificationTimeout)
    return nil
  }

  /// A verification takes a millisecond or two, but may wait behind those of others.
  static let verificationTimeout: Duration = .seconds(10)
}

/// What an attestation names.
enum RegistrationChallenge: Sendable {
  /// Not judged yet.
  case presented(Bytes32)
  /// Nil where it goes with something else.
  case checked(Unspent?)
}

/// One registration beside the loops: challenge and attestation, in this order. Into the store it comes by its loop, as
/// loops wait for the store's lock and this runs behind them.
private struct Registrar: Sendable {
  let shared: Shared
  let policy: AttestationPolicy
  let challengeLifetime: Duration
  let mailbox: Mailbox
  let token: Token
  let request: RequestID
  let attestation: [UInt8]
  let keyID: KeyIdentifier
  let clientDataHash: Bytes32
  let challenge: RegistrationChallenge

  func run() {
    let unspent: Unspent?
    do throws(NonceRefusal) {
      switch challenge {
      case .presented(let nonce): unspent = try spend(nonce)
      case .checked(let checked): unspent = checked
      }
    } catch {
      return refuse(.nonceInvalid, error.rawValue)
    }
    let attested: ValidatedAttestation
    do throws(AttestationError) {
      attested = try shared.attestations.verify(
        attestation.span, keyID: keyID, clientDataHash: clientDataHash, at: shared.clock.wall(),
        policy: policy)
    } catch {
      return refuse(.attestationRejected, error.step.rawValue)
    }
    keepReceipt(attested)
    let key = NewKey(
      identifier: attested.keyID, publicKey: attested.publicKey, appID: attested.appID.description,
      environment: attested.environment,
      validationCategory: attested.validationCategory, bundleVersion: attested.bundleVersion,
      registeredAt: shared.clock.wall())
    mailbox.post(.attested(token, request, key, unspent))
  }

  /// A challenge for this key's registration is not used up: what is presented again registers the same key again, which
  /// changes nothing.
  private func spend(_ nonce: Bytes32) throws(NonceRefusal) -> Unspent? {
    if try shared.registerChallenges.isGood(nonce, for: keyID, lifetime: challengeLifetime) { return nil }
    return try shared.challenges.check(nonce)
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

  private func refuse(_ code: RefusalCode, _ step: String) {
    mailbox.post(.answer(token, request, .refused(Refusal(code, step: step, keyID: keyID))))
  }
}

extension Loop {
  /// Registers a key that was attested beside the loop, whether or not its connection still waits for the answer.
  func enter(_ key: NewKey, spending challenge: Unspent?, for token: Token, _ request: RequestID) {
    // From here on the disk has its time (docs/key-store.md), however long the verification had to wait.
    withConnection(token) { $0.workGoesOn(request, until: now + CommitResult.deadline) }
    let (mailbox, keyID) = (mailbox, key.identifier)
    let answer = { @Sendable (answer: Answer) in mailbox.post(.answer(token, request, answer)) }
    let verdict = shared.store.register(key, spending: challenge) { result in
      answer(Refusal(result, of: keyID).map { .refused($0) } ?? .registered(keyID))
    }
    if let refusal = Refusal(verdict, of: keyID) { answer(.refused(refusal)) }
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

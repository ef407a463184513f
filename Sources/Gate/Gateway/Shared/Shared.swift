/// What all loops share: challenges, keys, rates, counts, the verifier, the game's whereabouts and the log
/// (docs/architecture.md, "Locks").
internal import Addresses
internal import AppAttest
internal import Configuration
internal import Crypto
internal import HTTPWire
internal import Identity
internal import KeyStore
internal import Synchronization
internal import System
internal import TLS
internal import WebSocketWire

final class Shared: Sendable {
  let clock: any Clock
  let challenges: ChallengeIssuer
  let store: any AttestedKeyStore
  let attestations: AttestationVerifier
  let pool: RegistrationPool
  let backends: BackendDirectory
  /// Nil when receipts are not kept.
  let receipts: ReceiptFolder?
  /// By which the game is told of devices; nil where it is not.
  let pseudonyms: PseudonymKey?
  let log: GateLogger
  let mailboxes: [Mailbox]
  let counters: [Counters]

  let handshakeRates = RateTable()
  let challengeRates = RateTable()
  let registerRates = RateTable()
  let addressCounts = AddressCounts()
  /// Connections of all kinds.
  let occupancy = Count()
  /// Connections that are not admitted yet.
  let pending = Count()
  let sessions = Count()
  let register = SessionRegister()
  /// Connections whose last bytes are on their way.
  let lingering = Count()
  /// Those of them that were sessions.
  let parting = Count()
  let certificates = CertificateWatch(noticeDays: CertificateSummary.renewalDays)
  let bodies = BodyBudget(limit: Limits.bodiesInFlightBytes)

  init(
    clock: any Clock, entropy: any Entropy, store: any AttestedKeyStore, attestations: AttestationVerifier,
    pool: RegistrationPool,
    backends: BackendDirectory, receipts: ReceiptFolder?, pseudonyms: PseudonymKey?, log: GateLogger,
    mailboxes: [Mailbox]
  ) {
    self.clock = clock
    self.store = store
    self.attestations = attestations
    self.pool = pool
    self.backends = backends
    self.receipts = receipts
    self.pseudonyms = pseudonyms
    self.log = log
    self.mailboxes = mailboxes
    challenges = ChallengeIssuer(loops: mailboxes.count, clock: clock, entropy: entropy)
    counters = mailboxes.map { _ in Counters() }
  }

  /// Says what is due of the certificates' dates.
  func tellOfCertificates() {
    for notice in certificates.due(now: clock.wall()) { log.certificate(notice) }
  }

  func post(_ message: LoopMessage, to session: SessionReference) {
    let loop = Int(session.loop)
    if loop < mailboxes.count { mailboxes[loop].post(message) } else { message.goUnheard() }
  }

  func postToAll(_ message: LoopMessage) {
    for mailbox in mailboxes { mailbox.post(message) }
  }
}

/// A number that all loops add to.
final class Count: Sendable {
  private let number = Atomic<Int>(0)

  var value: Int { number.load(ordering: .relaxed) }

  @discardableResult
  func increment() -> Int { number.wrappingAdd(1, ordering: .relaxed).newValue }
  func decrement() { number.wrappingSubtract(1, ordering: .relaxed) }

  /// Adds one unless there are `limit` already.
  func enter(limit: Int) -> Bool {
    if increment() <= limit { return true }
    decrement()
    return false
  }

  func leave() { decrement() }
}

/// Bytes of request bodies that all connections together may have announced (docs/settings.md,
/// "More about some limits").
final class BodyBudget: Sendable {
  private let used = Atomic<Int>(0)
  private let limit: Int

  init(limit: Int) {
    self.limit = limit
  }

  func reserve(_ count: Int) -> Bool {
    if used.wrappingAdd(count, ordering: .relaxed).newValue <= limit { return true }
    release(count)
    return false
  }

  func release(_ count: Int) {
    used.wrappingSubtract(count, ordering: .relaxed)
  }
}

/// The settings a loop works by; a reload replaces them whole.
struct LoopSettings: Sendable {
  let limits: Limits
  let tls: TLSServerContext
  let proxies: GateConfiguration.Proxies
  let backendProxyProtocol: GateConfiguration.ProxyProtocol
  let origins: AllowedOrigins
  let requiresAppAuth: Bool
  /// Whether a verified client certificate admits; never in production.
  let allowsClientCertificate: Bool
  let messageType: GateConfiguration.MessageType
  let policy: AttestationPolicy
  /// Whether the `/attest/` endpoints exist.
  let attests: Bool
  let headLimits: RequestParser.Limits
  let frameLimits: FrameDecoder.Limits
  let handshakeAllowance: RateTable.Allowance
  let challengeAllowance: RateTable.Allowance
  let registerAllowance: RateTable.Allowance

  init(_ configuration: GateConfiguration, policy: AttestationPolicy, tls: TLSServerContext) {
    limits = configuration.limits
    self.tls = tls
    proxies = configuration.proxies
    backendProxyProtocol = configuration.backend.proxyProtocol
    origins = configuration.origins
    requiresAppAuth = configuration.requiresAppAuth
    allowsClientCertificate = configuration.mtls.fallback
    messageType = configuration.messageType
    self.policy = policy
    attests = !policy.apps.isEmpty
    headLimits = RequestParser.Limits(headBytes: limits.httpHeadBytes, fields: Limits.headFields)
    frameLimits = FrameDecoder.Limits(frameBytes: limits.frameBytes, messageBytes: limits.messageBytes)
    handshakeAllowance = RateTable.Allowance(limits.handshakeRate)
    challengeAllowance = RateTable.Allowance(limits.challengeRate)
    registerAllowance = RateTable.Allowance(limits.registerRate)
  }
}

extension RateTable.Allowance {
  fileprivate init(_ rate: Rate) {
    self.init(count: rate.count, per: rate.per, burst: rate.burst)
  }
}

/// What all loops share: challenges, keys, rates, counts, the verifier, the game's whereabouts and the log
/// (docs/architecture.md, "Locks").
internal import Addresses
internal import AppAttest
internal import Bytes
internal import Charsets
internal import Configuration
internal import Crypto
internal import HTTPWire
internal import PortcullisProtocol
internal import Identity
internal import Keeping
internal import KeyStore
internal import SessionWire
internal import Synchronization
internal import System
internal import TLS
internal import WebSocketWire

final class Shared: Sendable {
  let clock: any Clock
  let entropy: any Entropy
  let challenges: ChallengeIssuer
  let store: any AttestedKeyStore
  let attestations: AttestationVerifier
  let pool: RegistrationPool
  let backends: BackendDirectory
  /// Nil when receipts are not kept.
  let receipts: ReceiptFolder?
  /// By which the game is told of devices; nil where it is not.
  let pseudonyms: PseudonymKey?
  /// Those that games may speak.
  let charsets: CharsetLibrary
  /// Nil in a gate without them.
  let devices: Devices?
  let log: GateLogger
  let mailboxes: [Mailbox]
  let counters: [Counters]
  let refusals = RefusalRing()
  let history = History()

  let handshakeRates = RateTable()
  let challengeRates = RateTable()
  let registerRates = RateTable()
  let deviceRates = RateTable()
  let acceptedTokens = AcceptedTokens()
  let serviceRates = RateTable()
  let addressCounts = AddressCounts()
  /// Connections of all kinds.
  let occupancy = Count()
  /// Connections that are not admitted yet.
  let pending = Count()
  let sessions = Count()
  let register = SessionRegister()
  /// What those sessions are named by that are numbered from now on.
  let sessionNumbers: Sequence
  /// Nil where no session outlives the process.
  let keeper: Keeper?
  /// What is kept goes on in the next process.
  let isRestarting = Atomic(false)
  /// The operator has whoever comes anew play elsewhere, until he takes that back.
  let isDraining = Atomic(false)
  /// The gate stops, or is about to: nobody is let in any more.
  let isStopping = Atomic(false)
  /// All sessions are to end, whatever comes.
  let isEnding = Atomic(false)
  /// When a loop last found no descriptor or memory to accept with, in nanoseconds of the monotonic clock.
  let acceptFailedAt = Atomic<UInt64>(0)
  /// Sessions without a connection, those included whose stay is over and whose last messages wait.
  let away = Count()
  /// Those of them whose stay is over.
  let concluded = Count()
  /// Those that came from the process before.
  let takenUp = Counter()
  /// By loop, since when the first of them to go is so (nanoseconds of the monotonic clock; less than 0 where its stay is
  /// over).
  let longestAway: [Counter]
  /// How many sessions each loop has, as of its last turn.
  let sessionsByLoop: [Counter]
  let awayByAddress = AwayByAddress()
  let directory = SessionDirectory()
  let closing = ClosingOrders()
  /// Bytes of messages that all sessions keep.
  let buffers = Sum()
  /// Connections whose last bytes are on their way.
  let lingering = Count()
  /// Those of them that were sessions.
  let parting = Count()
  /// Of the key store, at most some seconds old: for threads that may not take its lock.
  let storeStatistics = Mutex(KeyStoreStatistics())
  /// The same of sessions that outlive the process.
  let keptSessions = Atomic(0)
  let certificates = CertificateWatch(noticeDays: CertificateSummary.renewalDays)
  let bodies = BodyBudget(limit: Limits.bodiesInFlightBytes)

  init(
    clock: any Clock, entropy: any Entropy, store: any AttestedKeyStore, attestations: AttestationVerifier,
    pool: RegistrationPool,
    backends: BackendDirectory, receipts: ReceiptFolder?, pseudonyms: PseudonymKey?,
    charsets: CharsetLibrary, devices: Devices? = nil, keeper: Keeper? = nil, log: GateLogger,
    mailboxes: [Mailbox]
  ) {
    self.clock = clock
    self.entropy = entropy
    longestAway = mailboxes.map { _ in Counter(.max) }
    sessionsByLoop = mailboxes.map { _ in Counter() }
    self.store = store
    self.attestations = attestations
    self.pool = pool
    self.backends = backends
    self.receipts = receipts
    self.pseudonyms = pseudonyms
    self.charsets = charsets
    self.devices = devices
    self.keeper = keeper
    sessionNumbers = Sequence(after: keeper?.slots.highestNumber ?? 0)
    self.log = log
    self.mailboxes = mailboxes
    challenges = ChallengeIssuer(loops: mailboxes.count, clock: clock, entropy: entropy)
    counters = mailboxes.map { _ in Counters() }
    devices?.door.attach(to: self)
  }

  /// Sessions without a connection that somebody may play on in; two counts are read one after the other.
  var detached: Int { max(0, away.value - concluded.value) }

  /// Whether no session may begin; one that lives here may have a connection again, unless the gate stops.
  var takesNobodyNew: Bool {
    isDraining.load(ordering: .sequentiallyConsistent) || isStopping.load(ordering: .sequentiallyConsistent)
  }

  /// Says what is due of the certificates' dates.
  func tellOfCertificates() {
    for notice in certificates.due(now: clock.wall()) { log.certificate(notice) }
  }

  /// The key as this moment knows it: one that was imported for a while is unknown when that is over, unless it was revoked.
  func known(_ keyID: KeyIdentifier) -> KeyRecord? {
    guard let record = store.find(keyID), record.revokedAt != nil || !record.isOver(at: clock.wall()) else {
      return nil
    }
    return record
  }

  /// Whether whoever was let in by it may be so no more.
  func isShutOut(_ credential: Credential) -> Bool {
    switch credential {
    case .assertion(let keyID): store.isRevoked(keyID)
    case .device(let device):
      devices?.door.device(device.id) == nil || device.attestedKey.map(store.isRevoked) == true
    case .clientCertificate, .none: false
    }
  }

  /// A key goes with its device; one that nobody has registered, or that is revoked already, has gone. To be called by
  /// threads that the store's lock is for.
  func revoke(_ keyID: KeyIdentifier, _ commit: CommitWait) {
    let log = log
    // In the store first, and then the register is read: see `SessionRegister`.
    let verdict = store.revoke(keyID, now: clock.wall()) { result in
      if result == .failed { log.revocationLost(keyID) }
      commit.complete(result)
    }
    switch verdict {
    case .revoked: break
    case .unknownKey: return commit.complete(.committed)
    case .unavailable: return commit.complete(.failed)
    }
    for session in register.sessions(of: keyID) {
      post(.end(Token(rawValue: session.token), .keyRevoked, nil), to: session)
    }
  }

  /// A number that no session had, also in a process before this one.
  func nextSessionNumber() -> UInt64 {
    let number = sessionNumbers.next()
    keeper?.noteNumber(number)
    return number
  }

  func post(_ message: LoopMessage, to session: SessionReference) {
    let loop = Int(session.loop)
    if loop < mailboxes.count { mailboxes[loop].post(message) } else { message.goUnheard() }
  }

  /// As `Mailbox.leave`.
  func leave(_ message: LoopMessage, for session: SessionReference) {
    let loop = Int(session.loop)
    if loop < mailboxes.count { mailboxes[loop].leave(message) } else { message.goUnheard() }
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

/// Numbers from 1 on, each once.
final class Sequence: Sendable {
  private let last: Atomic<UInt64>

  init(after last: UInt64 = 0) {
    self.last = Atomic(last)
  }

  func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// A sum that all loops change.
final class Sum: Sendable {
  private let sum = Atomic<Int>(0)

  var value: Int { sum.load(ordering: .relaxed) }

  /// What it is then.
  func change(by amount: Int) -> Int {
    amount == 0 ? value : sum.wrappingAdd(amount, ordering: .relaxed).newValue
  }
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
  let telnet: GateConfiguration.Telnet
  let sessions: GateConfiguration.Sessions
  let subprotocols: SubprotocolPolicy
  let packagesToldAgain: AgainSelection
  let policy: AttestationPolicy
  /// Whether the `/attest/` endpoints exist.
  let attests: Bool
  let headLimits: RequestParser.Limits
  let frameLimits: FrameDecoder.Limits
  let handshakeAllowance: RateTable.Allowance
  let challengeAllowance: RateTable.Allowance
  let registerAllowance: RateTable.Allowance
  let deviceAllowance: RateTable.Allowance
  let serviceAllowance: RateTable.Allowance

  init(_ configuration: GateConfiguration, policy: AttestationPolicy, tls: TLSServerContext) {
    limits = configuration.limits
    self.tls = tls
    proxies = configuration.proxies
    backendProxyProtocol = configuration.backend.proxyProtocol
    origins = configuration.origins
    requiresAppAuth = configuration.requiresAppAuth
    allowsClientCertificate = configuration.mtls.fallback
    messageType = configuration.messageType
    telnet = configuration.telnet
    sessions = configuration.sessions
    subprotocols = SubprotocolPolicy(configuration)
    packagesToldAgain = AgainSelection(words: sessions.packagesToldAgain) ?? .usual
    self.policy = policy
    attests = !policy.apps.isEmpty
    headLimits = RequestParser.Limits(headBytes: limits.httpHeadBytes, fields: Limits.headFields)
    frameLimits = FrameDecoder.Limits(frameBytes: limits.frameBytes, messageBytes: limits.messageBytes)
    handshakeAllowance = RateTable.Allowance(limits.handshakeRate)
    challengeAllowance = RateTable.Allowance(limits.challengeRate)
    registerAllowance = RateTable.Allowance(limits.registerRate)
    deviceAllowance = RateTable.Allowance(limits.deviceRate)
    serviceAllowance = RateTable.Allowance(limits.serviceRate)
  }
}

extension SubprotocolPolicy {
  /// As the operator says; an echo is no game, and has no telnet to be spoken.
  fileprivate init(_ configuration: GateConfiguration) {
    var words = configuration.sessions.subprotocols
    if configuration.backend.target == .echo {
      words = words.filter { Subprotocol(rawValue: $0)?.isRaw ?? true }
    }
    do throws(SubprotocolPolicyError) {
      self = try SubprotocolPolicy(words: words)
    } catch {
      self = .nothing
    }
  }
}

extension RateTable.Allowance {
  fileprivate init(_ rate: Rate) {
    self.init(count: rate.count, per: rate.per, burst: rate.burst)
  }
}

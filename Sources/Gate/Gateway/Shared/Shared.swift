/// What all loops share: challenges, keys, rates, counts, the verifier, the game's whereabouts and the log
/// (docs/architecture-threads.md, "Locks").
internal import Addresses
internal import Admission
internal import AppAttest
internal import Bytes
internal import Charsets
internal import Configuration
internal import Conversation
internal import Crypto
internal import Identity
internal import Keeping
internal import KeyStore
internal import Scheduling
internal import SessionWire
internal import Synchronization
internal import Time
internal import Telemetry
internal import Upstream

final class Shared: Sendable {
  let clock: any Clock
  let entropy: any Entropy
  let challenges: any Challenges
  let registerChallenges: RegisterChallenges
  let resumeNonces: ResumeNonces
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
  let telnetCharsets: TelnetCharsets
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
  let storeClient: DescriptorStoreClient?
  /// What is kept goes on in the next process.
  let isRestarting = Atomic(false)
  /// The operator has new players play elsewhere, until he takes that back.
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
  let longestDetached: [Counter]
  /// How many sessions each loop has, as of its last turn.
  let sessionsByLoop: [Counter]
  let detachedByAddress = DetachedByAddress()
  let directory = SessionDirectory()
  let closing = ClosingOrders()
  let revocations: Revocations
  /// Bytes of messages that all sessions keep.
  let buffers = Sum()
  let rebalancing = MemoryRebalancing()
  /// Bytes reserved for what clients' messages may reach back into (`WS_COMPRESSION_WINDOWS`).
  let compressionWindows = Sum()
  /// Connections whose last bytes are on their way.
  let lingering = Count()
  /// Those of them that were sessions.
  let parting = Count()
  let certificates = CertificateWatch(noticeDays: CertificateSummary.renewalDays)
  let bodies = BodyPool(limit: Limits.bodiesInFlightBytes, share: Limits.bodiesOfAddressBytes)

  init(
    clock: any Clock, entropy: any Entropy, store: any AttestedKeyStore, attestations: AttestationVerifier,
    pool: RegistrationPool,
    backends: BackendDirectory, receipts: ReceiptFolder?, pseudonyms: PseudonymKey?,
    charsets: CharsetLibrary, devices: Devices? = nil, storeClient: DescriptorStoreClient? = nil,
    log: GateLogger,
    mailboxes: [Mailbox]
  ) {
    self.clock = clock
    self.entropy = entropy
    longestDetached = mailboxes.map { _ in Counter(.max) }
    sessionsByLoop = mailboxes.map { _ in Counter() }
    self.store = store
    self.attestations = attestations
    self.pool = pool
    self.backends = backends
    self.receipts = receipts
    self.pseudonyms = pseudonyms
    self.charsets = charsets
    telnetCharsets = TelnetCharsets(charsets)
    self.devices = devices
    self.storeClient = storeClient
    sessionNumbers = Sequence(after: storeClient?.slots.highestNumber ?? 0)
    self.log = log
    self.mailboxes = mailboxes
    challenges = ChallengeIssuer(loops: mailboxes.count, clock: clock, entropy: entropy)
    registerChallenges = RegisterChallenges(pseudonyms, clock: clock, entropy: entropy)
    resumeNonces = ResumeNonces(pseudonyms, entropy: entropy)
    counters = mailboxes.map { _ in Counters() }
    revocations = Revocations(
      store: store, register: register, mailboxes: mailboxes, clock: clock, log: log)
    devices?.admitted.attach(to: self)
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

  /// What was found as this moment knows it: a key that was imported for a while is unknown when that is over, unless it was
  /// revoked.
  func asOfNow(_ finding: KeyFinding) -> KeyFinding {
    guard case .known(let record) = finding, record.revokedAt == nil, record.isOver(at: clock.wall()) else {
      return finding
    }
    return .unknown
  }

  /// The same for a thread that may wait; nil also where the store does not say.
  func known(_ keyID: KeyIdentifier) -> KeyRecord? {
    let wait = ResultWait<KeyFinding>()
    let finding =
      switch store.find(keyID, later: { { wait.complete($0) } }) {
      case .found(let finding): finding
      case .later: wait.wait(within: KeyFinding.deadline) ?? .failed
      }
    guard case .known(let record) = asOfNow(finding) else { return nil }
    return record
  }

  /// Whether it is the nonce of the session that an upgrade wants to go on with; where it names none, it is not.
  func isNonce(_ nonce: Bytes32, of resume: ResumeRequest?) -> Bool {
    resume.map { resumeNonces.isNonce(nonce, of: $0.id) } ?? false
  }

  /// Whether a player who was admitted by it may be so no more.
  func isShutOut(_ credential: Credential) -> Bool {
    switch credential {
    case .assertion(let keyID): store.isRevoked(keyID)
    case .device(let device):
      devices?.admitted.device(device.id) == nil || device.attestedKey.map(store.isRevoked) == true
    case .clientCertificate, .none: false
    }
  }

  /// Imported keys whose time is over are of use to nobody.
  func removeImports() {
    let cutoff = UnixTime(milliseconds: clock.wall().milliseconds - KeyImport.grace.wholeMilliseconds)
    let (register, log) = (register, log)
    store.removeImports(
      overSince: cutoff, isInUse: { register.hasSessions(of: $0) },
      removed: { if $0 > 0 { log.importsRemoved($0) } }, completion: { _ in })
  }

  /// A number that no session had, also in a process before this one.
  func nextSessionNumber() -> UInt64 {
    let number = sessionNumbers.next()
    storeClient?.noteNumber(number)
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

extension RegisterChallenges {
  /// - Parameter secret: from which their keys are derived; without one they are good for as long as the process lives.
  fileprivate convenience init(_ secret: PseudonymKey?, clock: any Clock, entropy: any Entropy) {
    var keys = secret?.derive(Self.keyBytes, for: Self.derivation) ?? entropy.bytes(Self.keyBytes)
    defer { wipe(&keys) }
    self.init(keys: keys, clock: clock, entropy: entropy)
  }
}

extension ResumeNonces {
  /// - Parameter secret: as for challenges of registrations.
  fileprivate convenience init(_ secret: PseudonymKey?, entropy: any Entropy) {
    var key = secret?.derive(Self.keyBytes, for: Self.derivation) ?? entropy.bytes(Self.keyBytes)
    defer { wipe(&key) }
    self.init(key: key)
  }
}

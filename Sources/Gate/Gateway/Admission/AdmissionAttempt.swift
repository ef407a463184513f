/// An upgrade on its way to its `101`: what was asked, by what credential, and what is being waited for.
internal import Admission
internal import AppAttest
internal import Identity
internal import KeyStore
internal import Requests
internal import SessionWire
internal import Time
internal import TelnetWire
internal import WebSocketWire

/// Its name is its session's token: results of work elsewhere carry it, so that those of an earlier admission on the same
/// connection find nothing.
final class AdmissionAttempt {
  let session: GameSession
  let upgrade: PlayerUpgrade
  let choice: SubprotocolChoice
  /// What the app says of itself, if the upgrade says it.
  let client: ClientHeader?
  /// The session that the app wants to go on with.
  let resume: ResumeRequest?
  /// Nil where the upgrade names none.
  let origin: String?
  /// Of the assertion, once that is verified.
  var proof: Proof?
  /// Where it was asked for last.
  var asked: SessionReference?
  /// Nil when there is nothing to be verified.
  let assertion: (headers: AssertionHeaders, challenge: Unspent?)?
  /// What was signed is the nonce of the session that is to be resumed, and good for nothing else.
  let isBySessionsNonce: Bool
  /// Where the connection goes on if this is refused.
  let exchange: Exchange
  /// The peer asked for the connection to be closed after a refusal.
  let closesAfterRefusal: Bool
  let startedAt: MonotonicTime
  var machine: AdmissionMachine
  var call = GameCall()

  init(
    _ session: GameSession, upgrade: PlayerUpgrade, assertion: (AssertionHeaders, Unspent?)?,
    isBySessionsNonce: Bool, exchange: Exchange, closesAfterRefusal: Bool, startedAt: MonotonicTime
  ) {
    self.session = session
    self.upgrade = upgrade
    choice = upgrade.choice
    client = upgrade.client
    resume = upgrade.resume
    origin = upgrade.origin
    self.assertion = assertion
    self.isBySessionsNonce = isBySessionsNonce
    self.exchange = exchange
    self.closesAfterRefusal = closesAfterRefusal
    self.startedAt = startedAt
    machine = AdmissionMachine(
      session.credential, resumes: upgrade.resume != nil, resumesOnly: isBySessionsNonce)
  }

  /// A good assertion, with what was looked up of its key.
  struct Proof {
    let assertion: ValidatedAssertion
    let environment: AttestEnvironment?
    /// Nil for a key that was registered here.
    let goodUntil: UnixTime?
  }

  var credential: Credential { session.credential }

  /// The assertion's, once that is verified.
  var signCount: UInt32? { proof?.assertion.signCount }

  /// What is higher with each upgrade of a credential: the key's counter, which an app cannot lower, however late an upgrade
  /// of its arrives; without a key, when it began.
  var order: UInt64 { signCount.map { UInt64($0) } ?? startedAt.nanoseconds }
}

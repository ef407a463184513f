/// One player's connection from `accept` to its end: which stage it is in, its two legs, and its one deadline.
///
/// A connection belongs to one loop and is touched by that loop's thread alone. It is freed at the end of the turn in
/// which it is closed.
internal import Addresses
internal import Bytes
internal import Configuration
internal import Sockets
internal import System
internal import TLS

final class Connection {
  enum Stage: Equatable {
    /// The proxy in front has not said yet whose connection it is (`LISTEN_PROXY_PROTOCOL`).
    case proxyHeader
    /// TLS is being agreed on.
    case handshake
    /// Requests are read and answered.
    case exchange
    /// An upgrade was accepted so far; see `AdmissionMachine`.
    case admission
    case session
    /// All is said; what waits is sent, and the ends of both sides are awaited for a while.
    case lingering
    case closed
  }

  let loop: Loop
  let token: Token
  let role: PeerRole
  /// Who is at the other end: the socket's peer, until a PROXY header or an accepted upgrade has named the client.
  var peer: Endpoint
  /// What the client has called, where a PROXY header said so; else it is the socket's own address.
  var destination: Endpoint?
  let acceptedAt: MonotonicTime
  /// More connections than one address may have: the first request is answered 429.
  var isOverLimit = false
  /// Counted among its payer's connections.
  var isCounted = false

  var legs: Legs
  var stage: Stage
  /// While requests are read.
  var exchange: Exchange?
  /// While an upgrade waits for its `101`.
  var admission: Admission?
  /// After `101`.
  var session: Session?

  /// Since when one side takes nothing of what waits for it; nil while nothing waits.
  var blockedSince: MonotonicTime?
  /// The request being worked on asked for the connection to be closed behind its answer.
  var closesAfterAnswer = false
  /// Lingering: whose FIN is out.
  var hasSentFinToClient = false
  var hasSentFinToBackend = false

  /// The handshake has had its first step.
  var hasBegunHandshake = false
  /// In the loop's list of handshakes and requests that wait for their turn.
  var isQueued = false
  /// In the loop's list of connections to go on with in the next turn.
  var isContinuing = false
  /// Its last turn moved much: the next one comes after those of who moves little.
  var isHeavy = false
  /// Counted among those that are not admitted yet.
  var isPending = true
  private(set) var deadline = MonotonicTime.never
  private var wheelTick: UInt64 = 0

  init(
    loop: Loop, token: Token, socket: consuming Socket, tls: consuming TLSSession, peer: Endpoint,
    role: PeerRole
  ) {
    self.loop = loop
    self.token = token
    self.peer = peer
    self.role = role
    stage = role == .proxyWithHeader ? .proxyHeader : .handshake
    acceptedAt = loop.now
    legs = Legs(client: ClientLeg(socket: socket, tls: tls))
    arm(after: loop.settings.limits.tlsHandshakeTimeout)
  }

  // MARK: Events

  /// The poller reported a leg.
  func handle(_ event: ReadyEvent, leg: Token.Leg) {
    legs.note(event, of: leg)
    switch stage {
    case .proxyHeader, .handshake, .exchange: loop.queue(self)
    case .admission:
      if leg == .backend { backendReported(event) } else { readEarlyBytes() }
      settle()
    case .session:
      // Who has more to do than a turn allows is served among his like, whatever else comes in meanwhile.
      if isContinuing { return }
      if isHeavy { return loop.continueLater(self) }
      pump()
      settle()
    case .lingering:
      linger()
      settle()
    case .closed: break
    }
  }

  /// Goes on where the last turn stopped for the sake of others.
  func proceed() {
    switch stage {
    case .proxyHeader: readProxyHeader()
    case .handshake: advanceHandshake()
    case .exchange: readRequests()
    case .admission: readEarlyBytes()
    case .session: pump()
    case .lingering: linger()
    case .closed: break
    }
    settle()
  }

  /// Ends a turn: what was encrypted leaves for the kernel, and a failure there closes the connection.
  func settle() {
    guard stage != .closed else {
      loop.outbox.reset()
      return
    }
    let turn = legs.settle(loop.outbox)
    if case .failed(let error) = turn.sending { return clientFailed(error) }
    if turn.hasDrained { clientDrained() }
    watchProgress(turn)
  }

  /// Keeps `blockedSince`: it begins when something waits, and begins anew with each byte that is taken.
  private func watchProgress(_ turn: Legs.Settlement) {
    if !turn.waits {
      blockedSince = nil
    } else if blockedSince == nil || turn.hasProgressed {
      blockedSince = loop.now
      arm(within: loop.settings.limits.writeStallTimeout)
    }
  }

  /// Whether something has waited for `WRITE_STALL_TIMEOUT` and neither side took a byte.
  var isStalled: Bool {
    guard let blockedSince else { return false }
    return loop.now - blockedSince >= loop.settings.limits.writeStallTimeout
  }

  /// The kernel has taken all that waited: whatever stood still for it goes on.
  private func clientDrained() {
    switch stage {
    case .exchange: loop.queue(self)
    case .session, .lingering: loop.continueLater(self)
    case .proxyHeader, .handshake, .admission, .closed: break
    }
  }

  private func clientFailed(_ error: SystemError) {
    switch stage {
    case .session: endSession(.playerVanished(reason: error.description))
    case .proxyHeader, .handshake, .exchange, .admission, .lingering, .closed: break
    }
    close()
  }

  // MARK: Deadline

  /// Sets the deadline, and sees that it comes up.
  func arm(at deadline: MonotonicTime) {
    self.deadline = deadline
    let wanted = DeadlineWheel.tick(of: deadline)
    if wheelTick == 0 || wanted < wheelTick { wheelTick = loop.wheel.insert(token.rawValue, at: deadline) }
  }

  func arm(after duration: Duration) {
    arm(at: loop.now + duration)
  }

  /// Like `arm(after:)`, but never later than what is armed already.
  func arm(within duration: Duration) {
    arm(at: min(deadline, loop.now + duration))
  }

  /// An entry of the wheel came up.
  func entryExpired(tick: UInt64) {
    guard tick == wheelTick, stage != .closed else { return }
    wheelTick = 0
    if deadline > loop.now {
      arm(at: deadline)
      return
    }
    deadline = MonotonicTime.never
    deadlineReached()
    settle()
  }

  private func deadlineReached() {
    switch stage {
    case .proxyHeader: handshakeFailed("proxy_header_timeout")
    case .handshake: handshakeFailed("timeout")
    case .exchange: exchangeExpired()
    case .admission: perform(admission?.machine.expired() ?? .nothing)
    case .session: sessionDeadlineReached()
    case .lingering: lingerExpired()
    case .closed: break
    }
  }

  // MARK: End

  /// Frees everything at the end of this turn. The one way out.
  func close() {
    guard stage != .closed else { return }
    if let admission { releaseAdmission(admission) }
    if session != nil { forgetSession() }
    if stage == .lingering { loop.shared.lingering.decrement() }
    leaveCount()
    stage = .closed
    exchange = nil
    loop.closed(self)
  }

  /// Says close_notify and FIN on the client's side, and waits a while for the peers' ends, reading nothing of use.
  func finish() {
    guard stage != .closed, stage != .lingering else { return }
    stage = .lingering
    loop.shared.lingering.increment()
    exchange = nil
    legs.client.tls.finishSending()
    arm(at: loop.now + Self.lingerTime)
    loop.continueLater(self)
  }

  /// How long the ends of both sides are awaited once all is sent.
  static let lingerTime: Duration = .seconds(2)
}

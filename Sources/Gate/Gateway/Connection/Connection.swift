/// One player's connection from `accept` to its end: which stage it is in, its socket, and its one deadline.
///
/// A connection belongs to one loop and is touched by that loop's thread alone, and only within a turn (`Loop.turn`). It is
/// freed at the end of the loop's turn in which it is closed.
internal import Addresses
internal import Admission
internal import Bytes
internal import Configuration
internal import Requests
internal import Scheduling
internal import Sockets
internal import System
internal import Telemetry
internal import Time
internal import TLS
internal import Upstream

final class Connection {
  /// How far it has come, with what belongs to that stage alone.
  enum Stage {
    /// The proxy in front has not said yet whose connection it is (`LISTEN_PROXY_PROTOCOL`).
    case proxyHeader
    /// TLS is being agreed on.
    case handshake
    /// Requests are read and answered.
    case exchange(Exchange)
    /// An upgrade was accepted so far; see `AdmissionMachine`.
    case admission(AdmissionAttempt)
    case session(Attachment)
    /// All is said; what waits is sent, and the ends of both sides are awaited for a while.
    case lingering(Lingering)
    case closed
  }

  let loop: Loop
  let token: Token
  let role: PeerRole
  let acceptedAt: MonotonicTime
  var client: ClientLeg
  private(set) var stage: Stage

  /// Who is at the other end: the socket's peer, until a PROXY header or an accepted upgrade has named the client.
  var peer: Endpoint
  /// What the client has called, where a PROXY header said so; else it is the socket's own address.
  var destination: Endpoint?
  /// More connections than one address may have: the first request is answered 429.
  var isOverLimit = false
  /// Counted among its payer's connections.
  var isCounted = false

  /// In which of the loop's lists it is; the loop's alone to change.
  var queueFlags = QueueFlags()
  /// The peer takes nothing of what waits for it, or as a newcomer is behind with taking its answers.
  private(set) var clientStall = Stall()
  /// The game takes nothing.
  private(set) var gameStall = Stall()
  private var alarm = Alarm()
  /// What of its queues is counted among the loop's.
  private var countedQueue = 0

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
    client = ClientLeg(socket: socket, tls: tls)
    arm(after: loop.settings.limits.tlsHandshakeTimeout)
    countStage(1)
  }

  var counters: Counters { loop.counters }

  // MARK: A turn

  func proceed() {
    switch stage {
    case .proxyHeader: readProxyHeader()
    case .handshake: advanceHandshake()
    case .exchange(let exchange): serveRequests(exchange)
    case .admission(let admission): readEarlyBytes(admission)
    case .session(let attachment): pump(attachment)
    case .lingering(let lingering): linger(lingering)
    case .closed: break
    }
  }

  /// The leg to the game was reported.
  func gameReported(_ event: ReadyEvent) {
    if case .admission(let admission) = stage { gameReported(event, admission) } else { proceed() }
  }

  /// Ends a turn: what was encrypted leaves for the kernel, and a failure there closes the connection.
  func settle() {
    if case .closed = stage {
      count(queued: 0)
      return loop.outbox.reset()
    }
    if case .failed(let error) = client.flush(loop.outbox) { return clientFailed(error) }
    let clientProgressed = client.takeProgress()
    // What waited may have left earlier in this turn, with nothing to flush now.
    if clientProgressed, client.unsent.isEmpty { clientDrained() }
    watchProgress(clientProgressed)
  }

  /// Keeps both stalls: each begins when something waits, and in a session, which may have much to send, begins anew with
  /// each byte that its side takes.
  private func watchProgress(_ clientProgressed: Bool) {
    let session = session
    let forClient = client.unsent.count
    let forGame = session?.game.queued ?? 0
    count(queued: forClient + forGame)
    // Most turns end so.
    if forClient + forGame == 0, !isBlocked { return }
    let gameProgressed = session?.game.takeProgress() ?? false
    var begins = false
    if forClient > 0 {
      begins = clientStall.waits(hasProgressed: clientProgressed && session != nil, now: loop.now)
    } else if hasCaughtUp {
      clientStall.ends()
    }
    if forGame > 0 {
      begins = gameStall.waits(hasProgressed: gameProgressed, now: loop.now) || begins
    } else {
      gameStall.ends()
    }
    if begins {
      arm(within: loop.settings.limits.writeStallTimeout)
    } else if !isBlocked, case .lingering = stage {
      // Now that all is sent, the ends of both sides have their time.
      arm(after: Lingering.time)
    }
  }

  private func count(queued: Int) {
    if queued == countedQueue { return }
    counters.queued.add(queued - countedQueue)
    countedQueue = queued
  }

  /// Whether a peer for whom nothing waits is no longer behind. Before its session all that it has sent must be
  /// answered as well: else whoever sends many requests and takes their short answers one by one would have a new
  /// deadline with each, and keep a newcomer's place.
  private var hasCaughtUp: Bool {
    guard case .exchange(let exchange) = stage else { return true }
    return (exchange.isAwaitingHead || exchange.poll != nil) && !client.mayHaveInput && !queueFlags.isQueued
  }

  /// Something waits for either side.
  private var isBlocked: Bool { clientStall.since != nil || gameStall.since != nil }

  /// Since when one of them takes nothing.
  var blockedSince: MonotonicTime? {
    guard let client = clientStall.since, let game = gameStall.since else {
      return clientStall.since ?? gameStall.since
    }
    return min(client, game)
  }

  /// Whether something has waited for the peer for `WRITE_STALL_TIMEOUT`, and it took none of it.
  var isClientStalled: Bool { clientStall.isOver(loop.settings.limits.writeStallTimeout, now: loop.now) }
  var isGameStalled: Bool { gameStall.isOver(loop.settings.limits.writeStallTimeout, now: loop.now) }

  /// Whether something waits for a side that takes it.
  var isTaken: Bool {
    clientStall.since != nil && !isClientStalled || gameStall.since != nil && !isGameStalled
  }

  /// The kernel has taken all that waited: whatever stood still for it goes on.
  private func clientDrained() {
    switch stage {
    case .exchange: loop.queue(self)
    case .session(let attachment):
      sessionDrained(attachment)
      loop.continueLater(self)
    case .lingering: loop.continueLater(self)
    case .proxyHeader, .handshake, .admission, .closed: break
    }
  }

  private func clientFailed(_ error: SystemError) {
    client.giveUpSending()
    switch stage {
    case .session(let attachment): endSession(attachment, .playerVanished(reason: error.description))
    // What the player has sent before is still for the game.
    case .lingering: loop.continueLater(self)
    case .proxyHeader, .handshake, .exchange, .admission, .closed: close()
    }
    // An end may have encrypted a last word, which nobody takes: left there, it would go to whoever is served next.
    loop.outbox.reset()
  }

  // MARK: Its session

  /// The one it opens, carries or lets run out.
  var session: GameSession? {
    switch stage {
    case .admission(let admission): admission.session
    case .session(let attachment): attachment.session
    case .lingering(let lingering): lingering.session
    case .proxyHeader, .handshake, .exchange, .closed: nil
    }
  }

  // MARK: Deadline

  var deadline: MonotonicTime { alarm.deadline }

  /// Sets the deadline, and sees that it comes up.
  func arm(at deadline: MonotonicTime) {
    alarm.set(at: deadline, for: token, in: loop.wheel)
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
    guard alarm.rings(tick: tick, for: token, in: loop.wheel, now: loop.now) else { return }
    switch stage {
    case .proxyHeader: handshakeFailed(.proxyHeader(.timeout))
    case .handshake: handshakeFailed(.timeout)
    case .exchange(let exchange): exchangeExpired(exchange)
    case .admission(let admission): admissionExpired(admission)
    case .session(let attachment): sessionDeadlineReached(attachment)
    case .lingering: lingerExpired()
    case .closed: break
    }
  }

  // MARK: From stage to stage

  /// The one way on.
  func move(to next: Stage) {
    if case .closed = stage { fatalError("Connection: nothing comes after the end") }
    countStage(-1)
    stage = next
    countStage(1)
  }

  private func countStage(_ change: Int) {
    if let state = ConnectionState(stage) { counters.connections[state.rawValue].add(change) }
  }
}

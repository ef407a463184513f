/// One event loop on one thread: its listeners, its epoll instance, its connections and their deadlines.
///
/// A turn serves sessions first, then messages from other threads, then a bounded number of handshakes, requests and
/// accepts (SPEC §2), so that newcomers wait for those who play and not the other way round.
internal import Addresses
internal import AppAttest
internal import Bytes
internal import Configuration
internal import Deflate
internal import KeyStore
internal import Sockets
internal import System
internal import TLS

/// What permessage-deflate needs on a loop; empty until a session does.
final class Deflation {
  let zlib = ZlibPool()
  lazy var scratch = Scratch()
}

final class Loop {
  let index: Int
  let shared: Shared
  let mailbox: Mailbox
  let counters: Counters
  let outbox = Outbox()
  let scratch = Scratch()
  let deflation = Deflation()
  var settings: LoopSettings
  var now: MonotonicTime
  let wheel: DeadlineWheel
  let poller: Poller
  let doorway: Doorway
  var table = ConnectionTable()
  /// Since SIGTERM: no new sessions.
  var isDraining = false

  private let continuing = LaterList()
  private var expired: [DeadlineWheel.Entry] = []
  /// Some are left of `expired`: asked each turn, and cheaper to read than an array of which others take hold.
  private var hasExpired = false
  private let newcomers = Newcomers()
  private let closedInThisTurn = LaterList()
  private var isStopped = false
  private var memory = MemoryReserve()
  /// The turn of the first counter that the committer has not been told of.
  private var gatheredSince: MonotonicTime?
  var drain = DrainSchedule()
  let assertions = AssertionVerifier()
  var date = DateCache()

  init(
    index: Int, shared: Shared, settings: LoopSettings, mailbox: Mailbox, doorway: Doorway
  ) throws(SystemError) {
    self.index = index
    self.shared = shared
    self.settings = settings
    self.mailbox = mailbox
    counters = shared.counters[index]
    now = shared.clock.monotonic()
    wheel = DeadlineWheel(now: now)
    poller = try Poller()
    self.doorway = doorway
    try mailbox.register(with: poller)
    try self.doorway.open(poller)
  }

  /// Turns until told to stop and every connection is gone.
  func run() {
    while !isStopped || table.count > 0 {
      let events = poller.wait(milliseconds: mailbox.prepareToWait() ? sleepTime() : 0)
      now = shared.clock.monotonic()
      var isWoken = false
      for index in 0..<events {
        let event = poller.event(index)
        let token = Token(rawValue: event.token)
        if token == .mailbox {
          isWoken = true
        } else if let listener = token.listenerIndex {
          doorway.noteReadable(listener)
        } else {
          table.find(token)?.handle(event, leg: token.leg)
        }
      }
      goOn()
      for message in mailbox.takeAll(woken: isWoken) { receive(message) }
      serveNewcomers()
      acceptSome()
      expireSome()
      advanceDrain()
      sweep()
      commitGathered()
      counters.newcomersWaiting.set(newcomers.waitingCount)
      counters.turns.record(from: now, to: shared.clock.monotonic())
    }
  }

  /// Milliseconds that the next wait may take; 0 while there is work left over.
  private func sleepTime() -> Int32 {
    if !continuing.isEmpty || !newcomers.isEmpty || hasExpired || doorway.mayAccept || isStopped {
      return 0
    }
    var end = wheel.next ?? .never
    if let pausedUntil = doorway.pausedUntil { end = min(end, pausedUntil) }
    if isDraining, let next = drain.next { end = min(end, next) }
    if end == .never { return -1 }
    return end > now ? Int32(clamping: (end.nanoseconds - now.nanoseconds) / 1_000_000 + 1) : 1
  }

  // MARK: Turns

  /// The connection has more to do than one turn allows, or something it waited for has come.
  func continueLater(_ connection: Connection) {
    if connection.isContinuing { return }
    connection.isContinuing = true
    continuing.append(connection)
  }

  /// Serves those with more to do one after the other while their part of the turn lasts, and at least one: however
  /// many there are, those with little to do do not wait long for them.
  private func goOn() {
    continuing.takeEach(while: { shared.clock.monotonic() - now < Self.continuingTime }) { connection in
      connection.isContinuing = false
      connection.proceed()
    }
  }

  /// How far into a turn those with more to do are gone on with.
  private static let continuingTime: Duration = .microseconds(500)

  /// A handshake step or a request waits for its turn among the newcomers.
  func queue(_ connection: Connection) {
    if connection.isQueued { return }
    connection.isQueued = true
    newcomers.append(connection)
  }

  private func serveNewcomers() {
    if newcomers.isEmpty { return }
    for connection in newcomers.takeTurn() {
      connection.isQueued = false
      connection.proceed()
    }
  }

  /// A counter waits in the key store for this loop's word to commit it.
  func noteCommit() {
    if gatheredSince == nil { gatheredSince = now }
  }

  /// Has the turn's counters committed; while more newcomers wait, those of a millisecond, which then share the committer's
  /// waking and its sync.
  private func commitGathered() {
    guard let since = gatheredSince, newcomers.isEmpty || isStopped || now - since >= Self.gatheringTime
    else { return }
    gatheredSince = nil
    shared.store.commitGathered()
  }

  private static let gatheringTime: Duration = .milliseconds(1)

  private func acceptSome() {
    if let pausedUntil = doorway.pausedUntil, pausedUntil <= now { doorway.resume(poller, now: now) }
    var accepted = 0
    while accepted < Doorway.acceptsPerTurn, !newcomers.isFull, doorway.mayAccept {
      accepted += 1
      if let arrival = doorway.accept(self) { admit(arrival) }
    }
  }

  /// Deadlines that have passed, so many a turn: thousands who came at once are late at once.
  private func expireSome() {
    let passed = wheel.expire(now: now)
    if passed.isEmpty, !hasExpired { return }
    expired += passed
    let due = expired.prefix(Self.expiriesPerTurn)
    expired.removeFirst(due.count)
    hasExpired = !expired.isEmpty
    for entry in due { table.find(Token(rawValue: entry.token))?.entryExpired(tick: entry.tick) }
  }

  private static let expiriesPerTurn = 16

  // MARK: Coming and going

  /// Takes a new peer in, or closes it before the handshake when a limit says so.
  private func admit(_ arrival: consuming Arrival) {
    let peer = arrival.peer
    let socket = arrival.socket
    let limits = settings.limits
    let role = settings.role(of: peer.address)
    counters.accepted.add()
    guard role != .stranger else {
      counters.closedAtDoor.add()
      shared.log.turnedAway(peer, reason: "untrusted_peer")
      socket.resetOnClose()
      return
    }
    guard shared.occupancy.enter(limit: limits.connections) else {
      counters.closedAtDoor.add()
      shared.log.turnedAway(peer, reason: "max_connections")
      socket.resetOnClose()
      return
    }
    guard role != .client || mayShakeHands(peer.address) else {
      counters.closedAtDoor.add()
      shared.occupancy.leave()
      shared.log.turnedAway(peer, reason: "handshake_rate")
      socket.resetOnClose()
      return
    }
    guard let tls = TLSSession.accepting(on: socket, context: settings.tls, outbox: outbox) else {
      shared.occupancy.leave()
      return
    }
    let token = table.reserve()
    let connection = Connection(loop: self, token: token, socket: socket, tls: tls, peer: peer, role: role)
    if role == .client { connection.isOverLimit = !connection.enterCount() }
    table.insert(connection)
    let pending = shared.pending.increment()
    do throws(SystemError) {
      try poller.add(connection.legs.client.socket, token: token.rawValue)
    } catch {
      connection.close()
      return
    }
    newcomers.entered(connection, in: table)
    if pending > limits.pending { newcomers.oldestPending(in: table)?.giveWay() }
  }

  /// Nil while there is memory to let somebody in.
  func memoryShortage() -> SystemError? {
    memory.shortage(in: now)
  }

  /// Takes a token for one handshake of `address` (SPEC §7, `HANDSHAKE_RATE`).
  func mayShakeHands(_ address: IPAddress) -> Bool {
    shared.handshakeRates.take(address.accountingPrefix, settings.handshakeAllowance, now: now) == nil
  }

  /// No longer among the unadmitted, by admission or by its end.
  func noLongerPending(_ connection: Connection) {
    guard connection.isPending else { return }
    connection.isPending = false
    shared.pending.decrement()
  }

  func closed(_ connection: Connection) {
    noLongerPending(connection)
    shared.occupancy.leave()
    closedInThisTurn.append(connection)
  }

  /// Frees what was closed in this turn: its sockets close here, and its slot may be used again.
  private func sweep() {
    closedInThisTurn.takeEach { table.release($0.token) }
  }

  // MARK: Orders

  private func receive(_ message: LoopMessage) {
    switch message {
    case .committed(let token, let result):
      table.find(token)?.committed(result)
    case .registrationCommits(let token):
      table.find(token)?.registrationCommits()
    case .registered(let token, let outcome):
      table.find(token)?.registered(outcome)
    case .end(let token, let reason):
      table.find(token)?.endFromOutside(reason)
    case .reload(let settings, let taken):
      self.settings = settings
      taken.answer(loop: index)
    case .drain(let spread):
      isDraining = true
      drain.begin(sessions: sessionTokens(), spread: spread, now: now)
    case .abandon:
      table.forEach { $0.abandon() }
      isStopped = true
    case .listSessions(let reply):
      var found: [SessionDescription] = []
      table.forEach { if let description = $0.sessionDescription { found.append(description) } }
      reply(found)
    case .rollCall(let roll):
      roll.answer(loop: index)
    case .stop:
      isStopped = true
      table.forEach { $0.close() }
    }
  }

  private func sessionTokens() -> [Token] {
    var tokens: [Token] = []
    table.forEach { if $0.stage == .session || $0.stage == .admission { tokens.append($0.token) } }
    return tokens
  }

  private func advanceDrain() {
    if !isDraining { return }
    for token in drain.due(now: now) { table.find(token)?.endFromOutside(.draining) }
  }
}

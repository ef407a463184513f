/// One event loop on one thread: its listeners, its epoll instance, its connections and their deadlines.
///
/// A turn serves sessions first, then messages from other threads, then a bounded number of handshakes, requests and
/// accepts, and looks in between whether a session has something (docs/architecture-threads.md, "Fair turns"), so that newcomers
/// wait for those who play and not the other way round.
internal import Addresses
internal import Admission
internal import AppAttest
internal import Bytes
internal import Configuration
internal import Crypto
internal import Deflate
internal import KeyStore
internal import Scheduling
internal import Sockets
internal import System
internal import Telemetry
internal import Time
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
  let acceptor: Acceptor
  var connections = TokenTable<Connection>(of: .connection)
  var sessions = TokenTable<GameSession>(of: .session)
  /// Since SIGTERM: no new sessions.
  var isDraining = false
  /// What is kept goes on in the next process.
  var isRestarting = false

  let continuing = ReadyList<Connection>()
  /// Those of them that have no connection.
  let continuingSessions = ReadyList<GameSession>()
  /// Sessions without a connection, by how long.
  var detached = DetachedList()
  /// Those of them whose stay is over: the first to go.
  var concluded = DetachedList()
  /// The one that loses its connection to another one of the same app.
  var changingHands: GameSession?
  private var expired: [DeadlineWheel.Entry] = []
  /// Some are left of `expired`. Asked each turn, and cheaper than the array, each access to which is checked for
  /// exclusivity.
  private var hasExpired = false
  private var requestNumber: UInt64 = 0
  let pendingQueue = PendingQueue<Connection>()
  private let closedInThisTurn = ReadyList<Connection>()
  var isStopped = false
  /// A signal of the mailbox has come that is not cleared yet.
  private var isWoken = false
  var memory = MemoryReserve()
  /// When the last look of this turn for those who play was over, and how long all of them took.
  private var (looked, looking) = (MonotonicTime(nanoseconds: 0), Duration.zero)
  /// The turn of the first counter that the committer has not been told of.
  private var gatheredSince: MonotonicTime?
  var drain = DrainSchedule()
  let assertions = AssertionVerifier()
  /// Of keys and signatures of devices.
  lazy var verifier = P256Verifier()
  var date = DateCache()

  init(
    index: Int, shared: Shared, settings: LoopSettings, mailbox: Mailbox, acceptor: Acceptor
  ) throws(SystemError) {
    self.index = index
    self.shared = shared
    self.settings = settings
    self.mailbox = mailbox
    counters = shared.counters[index]
    now = shared.clock.monotonic()
    wheel = DeadlineWheel(now: now)
    poller = try Poller()
    self.acceptor = acceptor
    try mailbox.register(with: poller)
    try self.acceptor.open(poller)
  }

  /// Turns until told to stop and every connection is gone.
  func run() {
    while !isStopped || connections.count > 0 { turn(waiting: mailbox.prepareToWait() ? sleepTime() : 0) }
    mailbox.close()
    // A connection that was closed while it waited for its turn stands here still, and holds its loop.
    pendingQueue.forget()
    continuing.forget()
    continuingSessions.forget()
  }

  /// One turn: waits for events for at most so many milliseconds (-1: without end), and does what there is to do.
  func turn(waiting milliseconds: Int32) {
    let events = poller.wait(milliseconds: milliseconds)
    let begin = shared.clock.monotonic()
    now = begin
    (looked, looking) = (begin, .zero)
    serve(events)
    goOn()
    let isCalled = isWoken
    isWoken = false
    for message in mailbox.takeAll(woken: isCalled) {
      receive(message)
      lookUp()
    }
    takePending { connection in
      turn(of: connection) { $0.proceed() }
      lookUp()
    }
    acceptSome()
    expireSome()
    shared.sessionsByLoop[index].set(sessions.count)
    advanceDrain()
    sweep()
    commitGathered()
    counters.newcomersWaiting.set(pendingQueue.waitingCount)
    recordTurn(from: begin, until: shared.clock.monotonic())
  }

  /// Sessions have their turns at once while their part of the loop's turn lasts; the rest have theirs in `goOn`. What has
  /// come is never more work than that, however dear it is: a session's turn is bounded itself.
  private func serve(_ events: Int) {
    (worked, isServedOut) = (0, false)
    for index in 0..<events {
      let event = poller.event(index)
      let token = Token(rawValue: event.token)
      switch token.kind {
      case .connection: if let connection = connections.find(token) { clientReported(event, connection) }
      case .session: if let session = sessions.find(token) { gameReported(event, session) }
      case .listener: acceptor.noteReadable(token.slot)
      case .mailbox: isWoken = true
      }
    }
  }

  /// Between two messages or newcomers: whoever plays does not wait for all of them, nor they for all who play.
  private func lookUp() {
    if sessions.count == 0 || looking >= Self.timeForLooks { return }
    now = shared.clock.monotonic()
    guard now - looked >= Self.timeBetweenLooks else { return }
    serve(poller.wait(milliseconds: 0))
    looked = shared.clock.monotonic()
    looking += looked - now
  }

  /// A request is some 40 µs, a look 2 µs where nothing has come.
  private static let timeBetweenLooks: Duration = .microseconds(20)
  /// All looks of a turn together; the last one may go beyond it.
  private static let timeForLooks: Duration = .milliseconds(1)

  /// So much has been worked on since the clock was read last (`PlayerStream.taken`).
  private var worked = 0
  /// The part of those that are served at once is used up.
  private var isServedOut = false

  func noteWork(_ bytes: Int) { worked &+= bytes }

  /// The clock is read by work and not by turn: a dozen messages are a tenth of a millisecond.
  @inline(__always)
  private func noteTurn() {
    worked &+= Self.workOfTurn
    if worked < Self.workBetweenReadings { return }
    worked = 0
    isServedOut = shared.clock.monotonic() - now >= Self.servingTime
  }

  /// What a turn costs beside its bytes, of which a thousand are some 10 µs.
  private static let workOfTurn = 1024
  private static let workBetweenReadings = 16 * 1024
  /// How long a batch of events is served at once.
  private static let servingTime: Duration = .milliseconds(1)

  private func recordTurn(from begin: MonotonicTime, until end: MonotonicTime) {
    let nanoseconds = end > begin ? end.nanoseconds - begin.nanoseconds : 0
    counters.turns.record(nanoseconds)
    counters.lag.record(nanoseconds: nanoseconds)
  }

  /// Milliseconds that the next wait may take; 0 while there is work left over.
  private func sleepTime() -> Int32 {
    if !continuing.isEmpty || !continuingSessions.isEmpty || !pendingQueue.isEmpty || hasExpired
      || acceptor.mayAccept
    {
      return 0
    }
    var end = wheel.next ?? .never
    if let pausedUntil = acceptor.pausedUntil { end = min(end, pausedUntil) }
    if isDraining, let next = drain.next { end = min(end, next) }
    if end == .never { return -1 }
    return end > now ? Int32(clamping: (end.nanoseconds - now.nanoseconds) / 1_000_000 + 1) : 1
  }

  // MARK: Turns

  /// The only way to have a connection do something. What it encrypts leaves before anybody else's turn: all
  /// connections of a loop share one outbox, so bytes left in it would reach another's socket.
  @inline(__always)
  func turn(of connection: Connection, _ body: (Connection) -> Void) {
    guard outbox.isEmpty else { fatalError("Loop: a turn begins with another connection's ciphertext") }
    body(connection)
    connection.settle()
  }

  private func clientReported(_ event: ReadyEvent, _ connection: Connection) {
    connection.client.note(event)
    attend(connection) { $0.proceed() }
  }

  private func gameReported(_ event: ReadyEvent, _ session: GameSession) {
    session.game.note(event)
    guard let connection = session.connection else { return continueLater(session) }
    attend(connection) { $0.gameReported(event) }
  }

  /// Something has come. A session is served at once, unless it waits for its next turn already or moved much in its
  /// last.
  @inline(__always)
  private func attend(_ connection: Connection, _ body: (Connection) -> Void) {
    switch connection.stage {
    case .proxyHeader, .handshake, .exchange: queue(connection)
    case .session:
      // It had more to do than one turn allows, and is among those that go on: what comes meanwhile does not put it
      // first.
      if connection.queueFlags.isContinuing { return }
      if isServedOut || connection.queueFlags.isHeavy { return continueLater(connection) }
      turn(of: connection, body)
      noteTurn()
    case .admission, .lingering:
      turn(of: connection, body)
      noteTurn()
    case .closed: break
    }
  }

  /// Serves those with more to do one after the other while their part of the turn lasts, and at least one: however
  /// many there are, those with little to do do not wait long for them.
  private func goOn() {
    if continuing.isEmpty, continuingSessions.isEmpty { return }
    // A part of their own: those that were not served at once for want of time are among them.
    let end = shared.clock.monotonic() + Self.continuingTime
    takeContinuing(while: { shared.clock.monotonic() < end }) { connection in
      turn(of: connection) { $0.proceed() }
    }
    // Nobody listens to these: they come after all others, and one of them has its turn in any case.
    continuingSessions.takeEach(while: { shared.clock.monotonic() < end }) { session in
      session.detachment?.isContinuing = false
      serve(session)
    }
  }

  /// How long those with more to do are gone on with in a turn.
  private static let continuingTime: Duration = .microseconds(500)

  func nextRequestNumber() -> UInt64 {
    requestNumber += 1
    return requestNumber
  }

  /// A counter waits in the key store for this loop's word to commit it.
  func noteCommit() {
    if gatheredSince == nil { gatheredSince = now }
  }

  /// Has the turn's counters committed; while more newcomers wait, those of a millisecond, which then share the committer's
  /// waking and its sync.
  private func commitGathered() {
    guard let since = gatheredSince, pendingQueue.isEmpty || isStopped || now - since >= Self.gatheringTime
    else { return }
    gatheredSince = nil
    shared.store.commitGathered()
  }

  private static let gatheringTime: Duration = .milliseconds(1)

  private func acceptSome() {
    // The loop ends when its last connection is gone: peers that come back at once would keep it running for ever.
    if isStopped { return }
    if let pausedUntil = acceptor.pausedUntil, pausedUntil <= now { acceptor.resume(poller, now: now) }
    var accepted = 0
    while accepted < Acceptor.acceptsPerTurn, !pendingQueue.isFull, acceptor.mayAccept {
      accepted += 1
      if let arrival = acceptor.accept(self) { admit(arrival) }
    }
  }

  /// Deadlines that have passed, so many a turn: of thousands of connections that came together they pass together.
  private func expireSome() {
    let passed = wheel.expire(now: now)
    if passed.isEmpty, !hasExpired { return }
    expired += passed
    let due = expired.prefix(Self.expiriesPerTurn)
    expired.removeFirst(due.count)
    hasExpired = !expired.isEmpty
    for entry in due {
      let token = Token(rawValue: entry.token)
      if let connection = connections.find(token) {
        turn(of: connection) { $0.entryExpired(tick: entry.tick) }
      } else if let session = sessions.find(token) {
        entryExpired(session, tick: entry.tick)
      }
    }
  }

  private static let expiriesPerTurn = 16

  // MARK: The end of a turn

  func closed(_ connection: Connection) {
    noLongerPending(connection)
    shared.occupancy.leave()
    closedInThisTurn.append(connection)
  }

  /// Frees what was closed in this turn: its sockets close here, and its slot may be used again.
  private func sweep() {
    closedInThisTurn.takeEach { connections.release($0.token) }
  }
}

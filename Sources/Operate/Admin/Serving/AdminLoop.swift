/// The fast thread: accepts, reads requests, answers out of memory, and hands the rest to the slow one.
internal import Addresses
internal import Bytes
internal import HTTPWire
internal import Sockets
internal import Synchronization
internal import System
internal import Time
internal import TLS

/// What other threads tell the fast one.
final class AdminMailbox: Sendable {
  private let letters = Mutex<[AdminLetter]>([])
  private let wakeUp: WakeUp
  let isStopping = Atomic<Bool>(false)

  init() throws(SystemError) {
    wakeUp = try WakeUp()
  }

  func post(_ letter: AdminLetter) {
    letters.withLock { $0.append(letter) }
    wakeUp.signal()
  }

  func stop() {
    isStopping.store(true, ordering: .relaxed)
    wakeUp.signal()
  }

  func takeAll() -> [AdminLetter] {
    wakeUp.clear()
    return letters.withLock { letters in
      defer { letters = [] }
      return letters
    }
  }

  func register(with poller: borrowing Poller, token: UInt64) throws(SystemError) {
    try wakeUp.register(with: poller, token: token)
  }
}

final class AdminLoop {
  enum Limits {
    /// Operators' browsers and a few programs; who comes then takes the place of who is needed least.
    static let connections = 64
    /// Of one address, before the first answer: a browser opens six at once.
    static let unanswered = 8
    /// Taken in one turn.
    static let accepts = 16
    /// Of one connection in one turn.
    static let reads = 8
    /// After an accept that failed.
    static let pause: Duration = .milliseconds(100)
  }

  private enum Token {
    static let door: UInt64 = 0
    static let mailbox: UInt64 = 1
    static let firstConnection: UInt64 = 2
  }

  let routing: AdminRouting
  let worker: AdminWorker
  /// The token of the connection that has the one download.
  var downloading: UInt64?
  private(set) var now: MonotonicTime
  private let door: AdminListener
  private let mailbox: AdminMailbox
  /// Nil where no TLS is spoken.
  private let tls: AdminTLS?
  /// Nil where peers are of this host.
  private let arrivals: (any AdminArrivals)?
  private let clock: any Clock
  private let poller: Poller
  private let outbox = Outbox()
  private let scratch = Scratch()
  private var connections: [UInt64: AdminConnection] = [:]
  private var nextToken = Token.firstConnection
  /// To be gone on with in the next turn.
  private var later: [UInt64] = []
  private var acceptsFrom: MonotonicTime?

  init(
    _ door: AdminListener, _ routing: AdminRouting, _ worker: AdminWorker, _ mailbox: AdminMailbox,
    tls: AdminTLS?, arrivals: (any AdminArrivals)?, clock: any Clock
  ) throws(SystemError) {
    self.door = door
    self.routing = routing
    self.worker = worker
    self.mailbox = mailbox
    self.tls = tls
    self.arrivals = arrivals
    self.clock = clock
    now = clock.monotonic()
    poller = try Poller(capacity: 128)
    try mailbox.register(with: poller, token: Token.mailbox)
    try door.register(with: poller, token: Token.door)
  }

  func run() {
    while !mailbox.isStopping.load(ordering: .relaxed) { turn(waiting: sleepTime()) }
    for connection in connections.values { connection.tellWhetherCut() }
    connections = [:]
  }

  // MARK: Turns

  private func turn(waiting milliseconds: Int32) {
    let events = poller.wait(milliseconds: milliseconds)
    now = clock.monotonic()
    var mayAccept = false
    var attended: Set<UInt64> = []
    var due = later
    later = []
    for index in 0..<events {
      let event = poller.event(index)
      switch event.token {
      case Token.door: mayAccept = true
      case Token.mailbox: for letter in mailbox.takeAll() { due.append(receive(letter)) }
      default:
        connections[event.token]?.leg.note(event)
        due.append(event.token)
      }
    }
    for token in due where attended.insert(token).inserted { attend(token) }
    if mayAccept { acceptSome() }
    if let acceptsFrom, now >= acceptsFrom { openDoor() }
    for (token, connection) in connections where now >= connection.deadline { expire(token, connection) }
  }

  private func sleepTime() -> Int32 {
    if !later.isEmpty { return 0 }
    var end = MonotonicTime.never
    for connection in connections.values { end = min(end, connection.deadline) }
    if let acceptsFrom { end = min(end, acceptsFrom) }
    if end == .never { return -1 }
    return Int32(clamping: (end - clock.monotonic()).wholeMilliseconds + 1)
  }

  private func attend(_ token: UInt64) {
    guard let connection = connections[token] else { return }
    let outcome = scratch.withBytes { bytes in proceed(connection, &bytes) }
    switch outcome {
    case .waits: break
    case .goesOn: later.append(token)
    case .closes: close(connection)
    }
  }

  /// - Returns: whose turn it brings.
  private func receive(_ letter: AdminLetter) -> UInt64 {
    switch letter {
    case .answer(let token, let answer):
      if let connection = connections[token] {
        give(answer, to: connection)
      } else if case .stream(_, _, let body) = answer {
        worker.take(.release(body))
      }
      return token
    case .piece(let token, let piece):
      if let connection = connections[token] { give(piece, to: connection) }
      return token
    }
  }

  private func expire(_ token: UInt64, _ connection: AdminConnection) {
    // Who has begun a request is told why it ends; who is idle, or does not listen, is not.
    guard connection.stage == .request, connection.conversation.hasBegun else { return close(connection) }
    reply(
      .text(.requestTimeout, "the request did not come in time"), to: connection, isHead: false,
      isClosing: true)
    attend(token)
  }

  private func close(_ connection: AdminConnection) {
    connection.tellWhetherCut()
    connections[connection.token] = nil
    if let body = connection.body { worker.take(.release(body)) }
    if downloading == connection.token { downloading = nil }
  }

  var date: String { HTTPDate.format(secondsSince1970: clock.wall().seconds) }

  // MARK: The door

  private func acceptSome() {
    for _ in 0..<Limits.accepts {
      switch door.accept() {
      case .peer(let socket, let peer):
        // Who came before has been served in between: its time is not taken from this one's.
        now = clock.monotonic()
        guard tls == nil || arrivals?.mayShakeHands(peer, now: now) != false else {
          arrivals?.note(turnedAway: peer, because: .handshakeRate)
          socket.resetOnClose()
          continue
        }
        keepShare(of: peer.address.accountingPrefix)
        welcome(socket, tls != nil ? .tls : .loopback, peer)
      case .local(let socket, let peer):
        now = clock.monotonic()
        welcome(socket, tls != nil ? .tls : .unix(peer), nil)
      case .nobody: return
      case .failed:
        door.unregister(from: poller)
        acceptsFrom = now + Limits.pause
        return
      }
    }
  }

  private func openDoor() {
    acceptsFrom = nil
    do throws(SystemError) {
      try door.register(with: poller, token: Token.door)
    } catch {
      acceptsFrom = now + Limits.pause
    }
  }

  private func welcome(_ socket: consuming Socket, _ transport: AdminTransport, _ peer: Endpoint?) {
    if connections.count >= Limits.connections, !makeRoom() { return }
    let token = nextToken
    nextToken += 1
    var session: TLSSession?
    if let tls {
      session = TLSSession.accepting(on: socket, context: tls.context, outbox: outbox)
      if session == nil { return }
    }
    let connection = AdminConnection(
      token: token, socket, tls: session, outbox, transport: transport, peer: peer, now: now)
    guard (try? poller.add(connection.leg.socket, token: token)) != nil else { return }
    connections[token] = connection
    // What it wants has often come with it, and a probe is answered before the next peer could push it out.
    attend(token)
  }

  /// An address that has its share of places without an answer gives up the one that has waited longest.
  private func keepShare(of payer: IPAddress) {
    let unanswered = connections.values.filter { $0.isUnanswered && $0.payer == payer }
    guard unanswered.count >= Limits.unanswered else { return }
    if let oldest = unanswered.min(by: { ($0.since, $0.token) < ($1.since, $1.token) }) { turnAway(oldest) }
  }

  /// Whoever loses nothing goes first, then one of the address with most places; of those whoever is needed least, and has
  /// waited longest.
  private func makeRoom() -> Bool {
    var places: [IPAddress: Int] = [:]
    for connection in connections.values {
      if let payer = connection.payer { places[payer, default: 0] += 1 }
    }
    func rank(_ connection: AdminConnection, _ dispensability: Int) -> (Int, Int, Int, MonotonicTime, UInt64)
    {
      let losesNothing = dispensability <= AdminConnection.idle
      let count = connection.payer.flatMap { places[$0] } ?? 0
      return (
        losesNothing ? dispensability : .max, losesNothing ? 0 : -count, dispensability, connection.since,
        connection.token
      )
    }
    var first: (connection: AdminConnection, rank: (Int, Int, Int, MonotonicTime, UInt64))?
    for connection in connections.values {
      guard let dispensability = connection.dispensability else { continue }
      let found = rank(connection, dispensability)
      if first.map({ found < $0.rank }) ?? true { first = (connection, found) }
    }
    guard let first else { return false }
    turnAway(first.connection)
    return true
  }

  private func turnAway(_ connection: AdminConnection) {
    if let peer = connection.peer, connection.isUnanswered {
      arrivals?.note(turnedAway: peer, because: .places)
    }
    connection.leg.socket.resetOnClose()
    close(connection)
  }
}

/// One player's stay in the game: by what credential, the leg to the game, and what has passed.
///
/// Its loop's table owns it, from the admission that is to open it until nobody can come back to it; its token names it to
/// epoll, to the register of live sessions, to the directory of those that can be resumed, and to results of work beside
/// the loop. The life of a session:
///
/// | state | the game's leg | the connection | leads to |
/// |---|---|---|---|
/// | opening | called, or about to be | waits for its `101` | `attach`, or `end` when it is refused |
/// | attached | carries the session | carries the session | `detach`, `end`, `conclude` |
/// | detached | carries the session | none | `attach`, `end`, or to another loop |
/// | concluded | gone | none: the last messages wait for whoever comes back | `attach`, `end` |
/// | ended | takes what is queued for it, then its FIN | says its last words | the table forgets it |
///
/// An attached or detached session is one of those that the operator sees, counts and closes; a concluded or ended one is
/// not any more, whatever its last bytes still wait for. Only what speaks `portcullis.v1` is ever detached.
internal import Addresses
internal import Admission
internal import Bytes
internal import PortcullisProtocol
internal import Scheduling
internal import Sockets
internal import Time
internal import Telemetry
internal import WebSocketWire

final class GameSession {
  enum State: Equatable {
    case opening
    case attached
    case detached
    case concluded
    case ended
  }

  let token: Token
  let credential: Credential
  private(set) var state = State.opening { didSet { recount() } }
  /// Whether the stay is over, though somebody may still come back for its last messages. An attached session whose stay is
  /// over says them.
  private(set) var isOver = false { didSet { recount() } }
  /// What was chosen for it; nil for none.
  var subprotocol: Subprotocol?
  /// Served when the game says something.
  private(set) var connection: Connection?
  /// The operator's name for it, which outlives its connections; 0 before its first `101`.
  private(set) var number: UInt64 = 0
  /// When its first `101` was sent.
  private(set) var startedAt: MonotonicTime
  /// When its present connection took it up, or it lost its last one.
  private(set) var changedAt: MonotonicTime
  /// Who plays, or has played last.
  private(set) var source: Endpoint
  /// Who waits for its end.
  private var endings: [SessionEnding] = []
  var game = GameSide()
  /// Nil until it is without a connection for the first time, which most sessions never are.
  private(set) var detachment: Detachment?
  /// Its loop's.
  private let counts: SessionCounts
  /// Where it is counted.
  private var counter: Counter?

  init(
    token: Token, credential: Credential, connection: Connection, counts: SessionCounts, now: MonotonicTime
  ) {
    self.counts = counts
    self.token = token
    self.credential = credential
    self.connection = connection
    source = connection.source
    startedAt = now
    changedAt = now
  }

  /// One that comes from another loop, while nobody waits for it here.
  init(token: Token, taking handover: SessionHandover, counts: SessionCounts) {
    self.counts = counts
    self.token = token
    credential = handover.credential
    source = handover.source
    startedAt = handover.startedAt
    changedAt = handover.changedAt
    take(handover)
  }

  /// The connection carries it from now on.
  /// - Parameter number: for a session that has none yet.
  func attach(to connection: Connection, number: @autoclosure () -> UInt64, now: MonotonicTime) {
    switch state {
    case .opening: startedAt = now
    case .detached, .concluded: break
    case .attached, .ended: fatalError("GameSession: attached in the state \(state)")
    }
    if self.number == 0 { self.number = number() }
    detachment?.lasted = now - changedAt
    state = .attached
    self.connection = connection
    source = connection.source
    changedAt = now
  }

  /// No connection carries it any more, and somebody may come back.
  func detach(now: MonotonicTime) {
    guard state == .attached else { fatalError("GameSession: detached in the state \(state)") }
    state = isOver ? .concluded : .detached
    connection = nil
    changedAt = now
    if detachment == nil { detachment = Detachment() }
  }

  /// The stay is over; false when it was already.
  func conclude() -> Bool {
    if isOver || state == .ended { return false }
    isOver = true
    if state == .detached { state = .concluded }
    return true
  }

  /// It is one of those that the operator sees, or is not any more.
  private func recount() {
    var now: Counter?
    switch state {
    case .attached where !isOver: now = counts.counter(isAttached: true, credential: credential.place)
    case .detached where !isOver: now = counts.counter(isAttached: false, credential: credential.place)
    case .opening, .attached, .detached, .concluded, .ended: break
    }
    if now === counter { return }
    counter?.add(-1)
    now?.add()
    counter = now
  }

  /// For which address it counts.
  var payer: IPAddress { source.address.accountingPrefix }

  /// Nothing is read from the game any more; false when it has ended already.
  func end() -> Bool {
    if state == .ended { return false }
    state = .ended
    isOver = true
    return true
  }

  /// Takes up what another token named so far, instead of opening a stay of its own.
  func take(_ handover: SessionHandover) {
    guard state == .opening else { fatalError("GameSession: takes another one in the state \(state)") }
    state = handover.isOver ? .concluded : .detached
    isOver = handover.isOver
    number = handover.number
    startedAt = handover.startedAt
    changedAt = handover.changedAt
    // Until it is attached, nobody is served for it.
    connection = nil
    detachment = Detachment()
    subprotocol = handover.subprotocol
    game = handover.takeGame()
  }

  /// All that is needed to go on elsewhere; there is nothing left here.
  func pack() -> SessionHandover {
    guard state == .detached || state == .concluded else {
      fatalError("GameSession: packed in the state \(state)")
    }
    state = .ended
    var side = GameSide()
    swap(&side, &game)
    return SessionHandover(self, side)
  }

  /// Notes who waits for its end; false when there is nothing left to end.
  func tells(_ ending: SessionEnding?) -> Bool {
    if isOver { return false }
    if let ending { endings.append(ending) }
    return true
  }

  func tellEnded() {
    for ending in endings { ending.note() }
    endings = []
  }

  /// Its connection is gone for good: nobody is served for it any more.
  func release() {
    connection = nil
    game.leg = nil
  }
}

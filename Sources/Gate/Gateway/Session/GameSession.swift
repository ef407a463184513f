/// One player's stay in the game: by what credential, the leg to the game, and what has passed.
///
/// Its loop's table owns it, from the admission that is to open it until its leg is closed; its token names it to epoll, to
/// the register of live sessions and to results of work beside the loop. The life of a session:
///
/// | state | the game's leg | the connection | leads to |
/// |---|---|---|---|
/// | opening | called, or about to be | waits for its `101` | `attach`, or `end` when it is refused |
/// | attached | carries the session | carries the session | `end` |
/// | ended | takes what is queued for it, then its FIN | says its last words | the table forgets it |
///
/// An attached session is one of those that the operator sees, counts and closes; an ended one is not any more, whatever
/// its last bytes still wait for.
internal import Bytes
internal import Sockets
internal import System
internal import WebSocketWire

final class GameSession {
  enum State: Equatable {
    case opening
    case attached
    case ended
  }

  let token: Token
  let credential: Credential
  private(set) var state = State.opening
  /// Served when the game says something.
  private(set) var connection: Connection?
  /// When its `101` was sent.
  private(set) var startedAt: MonotonicTime
  /// Who waits for its end.
  private var latches: [CountDownLatch] = []
  var game = GameSide()

  init(token: Token, credential: Credential, connection: Connection, now: MonotonicTime) {
    self.token = token
    self.credential = credential
    self.connection = connection
    startedAt = now
  }

  /// The connection carries it from now on.
  func attach(to connection: Connection, now: MonotonicTime) {
    guard state == .opening else { fatalError("GameSession: attached in the state \(state)") }
    state = .attached
    self.connection = connection
    startedAt = now
  }

  /// Nothing is read from the game any more; false when it has ended already.
  func end() -> Bool {
    if state == .ended { return false }
    state = .ended
    return true
  }

  /// Notes who waits for its end; false when it has ended already.
  func tells(_ latch: CountDownLatch?) -> Bool {
    if state == .ended { return false }
    if let latch { latches.append(latch) }
    return true
  }

  func tellEnded() {
    for latch in latches { latch.countDown() }
    latches = []
  }

  /// Its connection is gone: nobody is served for it any more.
  func detach() {
    connection = nil
    game.leg = nil
  }
}

/// The game's side of a session, in one struct, so that a turn has one check for exclusive access to all of it.
struct GameSide: ~Copyable {
  /// Nil before the game is called, with `BACKEND=echo:`, and once the game was cut off.
  var leg: BackendLeg?
  /// In text mode: code points that the game has not finished.
  var text: TextRepair?
  var bytesFromPlayer: UInt64 = 0
  var bytesFromGame: UInt64 = 0

  mutating func note(_ event: ReadyEvent) {
    leg?.note(event)
  }

  /// The game has not taken yet what the player sent.
  var waits: Bool { queued > 0 }

  var queued: Int {
    switch leg {
    case .some(let leg): leg.unsent.count
    case nil: 0
    }
  }

  var mayHaveInput: Bool {
    switch leg {
    case .some(let leg): leg.mayHaveInput
    case nil: false
    }
  }

  mutating func takeProgress() -> Bool { leg?.takeProgress() ?? false }
}

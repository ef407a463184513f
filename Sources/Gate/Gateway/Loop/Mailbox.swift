/// What other threads tell a loop: results of work beside it, and orders about its connections.
internal import Admission
internal import Bytes
internal import DeviceWire
internal import KeyStore
internal import Requests
internal import Scheduling
internal import Sockets
internal import Synchronization
internal import System
internal import TLS

enum LoopMessage: Sendable {
  /// What the store knows of the key of the admission that is to open this session. Held elsewhere, as it is long.
  indirect case found(Token, KeyFinding)
  /// The counter of the admission that is to open this session is durable, or is not.
  case committed(Token, CommitResult)
  /// The store has answered for the leg of the session that is about to begin.
  case stored(Token)
  /// This connection's request has brought a genuine key, which is to be registered by this challenge. Held elsewhere, as it
  /// is long.
  indirect case attested(Token, RequestID, NewKey, Unspent?)
  /// The work that this connection's request waits for is done.
  case answer(Token, RequestID, Answer)
  /// The key was revoked, or a newer session took the place; who waits for the end is told.
  case end(Token, SessionEnd, SessionEnding?)
  /// All that was posted before for a revocation is done.
  case revoked(RevocationOrder.Question)
  /// The registry has something to say to the device that plays in this session.
  case notice(Token, DeviceNotice)
  /// The registry knows whose token this is, of which a loop knows the hash.
  case token(Bytes32, of: DeviceID)
  /// Hand a session over to the connection that asks for it.
  case takeOver(Takeover)
  /// What came of that, for the upgrade that is to open this session.
  case handedOver(Token, TakeoverAnswer)
  /// More sessions are without a connection than may be, and this loop has the one that is so for longest.
  case letGoLongest
  /// All sessions keep more than they may: say what those without a connection have.
  case level(RebalancingRound)
  /// So much of what these keep may stay.
  case cut([MemoryRebalancing.Cut])
  /// Newer upgrades of its key take the place of one that still waits for its `101`.
  case superseded(Token)
  /// Work by these settings from now on, and say so.
  case reload(LoopSettings, LoopAcknowledgement)
  /// Close all sessions with 1001, spread over `spread`; refuse new ones.
  case drain(spread: Duration)
  /// Close all connections, spread over `spread`, accept none, and let go of no session that is kept.
  case restart(spread: Duration)
  /// Close what is left.
  case abandon
  /// Describe the sessions, for the control socket.
  case listSessions(@Sendable ([SessionDescription]) -> Void)
  /// Close the sessions that the operator means.
  case close(ClosingOrder)
  /// All that was posted before is done.
  case pass(CountDownLatch)
  /// Say that the loop turns.
  case acknowledge(LoopAcknowledgement)
  case stop

  /// The loop has ended: it has no sessions, and says nothing to any other question.
  func goUnheard() {
    switch self {
    case .end(_, _, let ending): ending?.note()
    case .revoked(let question): question.answer()
    case .listSessions(let reply): reply([])
    case .close(let order): order.unasked.countDown()
    case .pass(let latch): latch.countDown()
    case .takeOver(let takeover): takeover.answer(.gone)
    case .level(let round): round.add([], sum: 0)
    case .found, .committed, .stored, .superseded, .attested, .answer, .handedOver, .letGoLongest, .cut,
      .reload,
      .drain, .restart, .abandon, .acknowledge, .stop, .notice, .token:
      break
    }
  }
}

final class Mailbox: Sendable {
  private struct Box {
    var messages: [LoopMessage] = []
    var isClosed = false
  }

  private let box = Mutex(Box())
  private let wakeUp: WakeUp
  /// Set after each message, so that a turn without mail takes no lock.
  private let hasMail = Atomic(false)
  /// The loop waits, or is about to: otherwise it comes to look by itself.
  private let isAwaited = Atomic(false)

  init() throws(SystemError) {
    wakeUp = try WakeUp()
  }

  func register(with poller: borrowing Poller) throws(SystemError) {
    try wakeUp.register(with: poller, token: Token.mailbox.rawValue)
  }

  func post(_ message: LoopMessage) {
    leave(message)
    call()
  }

  /// Without waking the loop: after several messages the caller wakes it once.
  func leave(_ message: LoopMessage) {
    let isTaken = box.withLock { box in
      if !box.isClosed { box.messages.append(message) }
      return !box.isClosed
    }
    guard isTaken else { return message.goUnheard() }
    hasMail.store(true, ordering: .sequentiallyConsistent)
  }

  /// Wakes the loop if it waits while there is mail.
  func call() {
    // Either this sees that the loop waits, or `prepareToWait` sees the message: both store before they load, and
    // sequentially consistent accesses are in one order for all threads.
    guard hasMail.load(ordering: .sequentiallyConsistent) else { return }
    if isAwaited.exchange(false, ordering: .sequentiallyConsistent) { wakeUp.signal() }
  }

  /// Before the loop waits: from now on a message wakes it.
  /// - Returns: false when there is one already, so that it must not wait.
  func prepareToWait() -> Bool {
    isAwaited.store(true, ordering: .sequentiallyConsistent)
    return !hasMail.load(ordering: .sequentiallyConsistent)
  }

  /// After the wait.
  /// - Parameter woken: the wait has ended by a message's signal.
  func takeAll(woken: Bool) -> [LoopMessage] {
    isAwaited.store(false, ordering: .relaxed)
    if woken { wakeUp.clear() }
    guard hasMail.load(ordering: .sequentiallyConsistent) else { return [] }
    hasMail.store(false, ordering: .sequentiallyConsistent)
    return box.withLock { box in
      let taken = box.messages
      box.messages = []
      return taken
    }
  }

  /// The loop has ended. Messages that are here or still come get the answer of a loop without sessions, so that no
  /// thread waits for one in vain.
  func close() {
    let left = box.withLock { box in
      box.isClosed = true
      defer { box.messages = [] }
      return box.messages
    }
    for message in left { message.goUnheard() }
  }
}

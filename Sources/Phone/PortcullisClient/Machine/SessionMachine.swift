/// One session of the subprotocol `portcullis.v1` on the app's side, over as many connections as it takes
/// (docs/sessions.md): a pure state machine. Events and the time go in, actions come out.
///
/// The owner calls one event at a time, then does what `takeActions` returns, and calls `tick` at `nextTime`. A message is
/// given to `receive` as it comes. `mark` then stands behind it, and when the app has handled what the message told,
/// `handled` is called with that mark: only what is handled is acknowledged.
package struct SessionMachine {
  enum Phase: Equatable {
    case idle
    /// Whether there is a session to come back to cannot be read yet; it is asked then. Infinity: it was asked just now, or
    /// the app is in the background.
    case recalling(until: Double)
    /// An attempt is under way, or a registration for one.
    case connecting
    /// The WebSocket is open; the gate's greeting is to come first.
    case opening(until: Double)
    case attached
    /// Ours or the gate's last word is said, and the Close is awaited; or the end of an attempt that is not wanted any
    /// more.
    case closing(until: Double, GameEnd)
    /// The app has gone to the background: the connection ends, the session waits.
    case parting(until: Double)
    /// Infinity: for the app to come back to the foreground.
    case waiting(until: Double)
    case ended(GameEnd)
  }

  let policy: GameOptions
  /// What is said to the game.
  package internal(set) var client: ClientDescription
  var phase = Phase.idle
  /// Of the session that the next attempt asks for.
  var greeting: SessionGreeting?
  var arrivals = Arrivals()
  var input = UnhandledInput()
  var retries: Retries
  /// What the gate said before its Close, whose code not every platform hands over.
  var saidCode: UInt16?
  /// Whether the game's facts went along with the upgrade.
  var hasSaidClient = false
  /// The app wants the end once everything typed is sent.
  var isFinishing = false
  /// The session is one of an earlier start of the app, and this one knows nothing of how things stand in it.
  var isRelaunched = false
  /// The app is in the background, where it makes no attempts.
  var isAway = false
  /// When the connection was lost that is to be replaced.
  var lostAt: Double?
  /// The network has changed during an attempt: what becomes of it says nothing about the next one.
  var isPathNew = false
  /// The gate has said when to come back: nothing makes that earlier.
  var notBefore: Double?
  /// Why there is no connection, as it was told last.
  var why = GameFailure(.unreachable, detail: "there was no connection yet")
  /// The next attempt may end a long pause of the key's.
  var isHurried = false
  var heardAt = 0.0
  /// When something was sent first since the gate was heard.
  var spokeAt: Double?
  /// The question that the gate has not answered.
  var pingedAt: Double?
  var lastPingAt = -Double.infinity
  /// Whether the gate answers, as it was told last.
  package internal(set) var isAnswering = true
  /// Seconds from the last ping to its pong.
  package internal(set) var roundTrip: Double?
  private var actions: [SessionAction] = []

  /// - Parameter seed: for the pauses between attempts.
  package init(policy: GameOptions, client: ClientDescription, seed: UInt64) {
    self.policy = policy
    self.client = client
    retries = Retries(seed: seed)
  }

  /// Comes back to the session of an earlier start of the app; to be called before `begin`.
  package mutating func adopt(_ remembered: RememberedSession) {
    guard hasNotBegun, let greeting = SessionGreeting(remembered) else { return }
    self.greeting = greeting
    isRelaunched = true
    arrivals = Arrivals(handled: remembered.received)
  }

  // MARK: What the owner asks

  /// What is to be done now, in this order.
  package mutating func takeActions() -> [SessionAction] {
    defer { actions = [] }
    return actions
  }

  /// Whether there is something among it to be told to the app.
  package var isTelling: Bool {
    actions.contains { if case .tell = $0 { true } else { false } }
  }

  package var end: GameEnd? {
    if case .ended(let end) = phase { return end }
    return nil
  }

  package var isAttached: Bool { phase == .attached }

  /// Of one message of input.
  package var maxMessage: Int { greeting?.maxMessage ?? SessionLimit.messageBytes }

  /// Whether one more message of input would be taken.
  package var hasRoom: Bool { takesInput && input.hasRoom(isAttached: isAttached) }

  var takesInput: Bool {
    switch phase {
    case .closing, .ended: false
    case .idle, .recalling, .connecting, .opening, .attached, .parting, .waiting: !isFinishing
    }
  }

  var hasNotBegun: Bool {
    switch phase {
    case .idle, .recalling: true
    case .connecting, .opening, .attached, .closing, .parting, .waiting, .ended: false
    }
  }

  /// When `tick` is to be called, if nothing happens before.
  package var nextTime: Double? {
    var times: [Double] = []
    switch phase {
    case .idle, .connecting, .ended: break
    case .opening(let until), .closing(let until, _), .parting(let until): times.append(until)
    case .recalling(let until), .waiting(let until): if until.isFinite { times.append(until) }
    case .attached: times += [arrivals.due, silence.until].compactMap(\.self)
    }
    if phase != .attached, end == nil, let patience = policy.inputPatience, let oldest = input.oldestUnsent {
      times.append(oldest + patience)
    }
    return times.min()
  }

  private enum Patience {
    case ask, tell, giveUp
  }

  /// What the gate's silence leads to next, and when.
  private var silence: (end: Patience, until: Double) {
    if let pingedAt {
      return isAnswering
        ? (.tell, pingedAt + SessionLimit.answerPatience) : (.giveUp, pingedAt + SessionLimit.pongPatience)
    }
    let idle = heardAt + SessionLimit.silence
    guard let spokeAt else { return (.ask, idle) }
    let soon = max(spokeAt + SessionLimit.silenceAfterInput, lastPingAt + SessionLimit.pingDistance)
    return (.ask, min(idle, soon))
  }

  // MARK: Time

  package mutating func tick(now: Double) {
    dropOldInput(now: now)
    switch phase {
    case .idle, .connecting, .ended: break
    case .opening(let until):
      guard now >= until else { return }
      act(.abandon)
      lose(GameFailure(.timeout, detail: "no greeting in \(Int(SessionLimit.openingPatience)) s"), now: now)
    case .attached:
      acknowledge(now: now)
      let (end, until) = silence
      guard now >= until else { return }
      switch end {
      case .ask: ping(now: now)
      case .tell:
        isAnswering = false
        act(.tell(.answering(false)))
      case .giveUp:
        act(.abandon)
        lose(GameFailure(.timeout, detail: "the gate has stopped answering"), now: now)
      }
    case .closing(let until, let end):
      guard now >= until else { return }
      act(.abandon)
      finish(end)
    case .parting(let until):
      guard now >= until else { return }
      act(.abandon)
      closed(code: 1006, now: now)
    case .recalling(let until):
      if now >= until { recall() }
    case .waiting(let until):
      if now >= until { connect() }
    }
  }

  /// What is too old is not sent: whoever typed it has seen by now that nothing happened.
  mutating func dropOldInput(now: Double) {
    guard phase != .attached, end == nil, let patience = policy.inputPatience else { return }
    let dropped = input.drop(until: now - patience)
    if dropped > 0 { act(.tell(.inputDropped(dropped))) }
  }

  // MARK: Parts of them

  mutating func act(_ action: SessionAction) {
    actions.append(action)
  }

  mutating func ping(now: Double) {
    pingedAt = now
    lastPingAt = now
    act(.ping)
  }

  mutating func finish(_ end: GameEnd) {
    phase = .ended(end)
    switch end {
    case .byGate, .closed, .takenOver, .byApp, .gaveUp, .gone: act(.remember(nil))
    // There may still be a session to come back to.
    case .left, .failed: break
    }
    act(.tell(.state(.ended(end))))
  }

  /// The gate is told what was received, if that is due.
  mutating func acknowledge(now: Double) {
    guard let due = arrivals.due, now >= due else { return }
    sendAcknowledgement()
  }

  mutating func sendAcknowledgement() {
    arrivals.acknowledge()
    remember()
    act(.sendText(AppText.acknowledgement(arrivals.handled)))
  }

  mutating func remember() {
    guard let greeting else { return }
    act(
      .remember(
        RememberedSession(
          id: greeting.id, received: arrivals.handled, handled: input.handled, next: greeting.next)))
  }
}

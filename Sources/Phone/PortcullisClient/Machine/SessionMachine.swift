/// One session of the subprotocol `portcullis.v1` on the app's side, over as many connections as it takes
/// (docs/sessions.md): a pure state machine. Events and the time go in, actions come out.
///
/// The owner calls one event at a time, then does what `takeActions` returns, and calls `tick` at `nextTime`. A message is
/// given to `receive` when it is about to be shown: from then on it counts as received. Those of a connection that was
/// lost before are thrown away; the gate sends them again.
package struct SessionMachine {
  enum Phase: Equatable {
    case idle
    /// An attempt is under way, or a registration for one.
    case connecting
    /// The WebSocket is open; the gate's greeting is to come first.
    case opening(until: Double)
    case attached
    /// Ours or the gate's last word is said, and the Close is awaited; or the end of an attempt that is not wanted any
    /// more.
    case closing(until: Double, SessionEnd)
    case waiting(until: Double)
    case ended(SessionEnd)
  }

  let policy: SessionPolicy
  /// What is said to the game.
  package internal(set) var client: ClientFacts
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
  /// When the connection was lost that is to be replaced.
  var lostAt: Double?
  var heardAt = 0.0
  var pingedAt: Double?
  private var actions: [SessionAction] = []

  /// - Parameter seed: for the pauses between attempts.
  package init(policy: SessionPolicy, client: ClientFacts, seed: UInt64) {
    self.policy = policy
    self.client = client
    retries = Retries(seed: seed)
  }

  // MARK: What the owner asks

  /// What is to be done now, in this order.
  package mutating func takeActions() -> [SessionAction] {
    defer { actions = [] }
    return actions
  }

  package var end: SessionEnd? {
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
    case .idle, .connecting, .opening, .attached, .waiting: !isFinishing
    }
  }

  /// When `tick` is to be called, if nothing happens before.
  package var nextTime: Double? {
    var times: [Double] = []
    switch phase {
    case .idle, .connecting, .ended: break
    case .opening(let until), .closing(let until, _), .waiting(let until): times.append(until)
    case .attached: times += [arrivals.due, silenceEnd].compactMap(\.self)
    }
    if phase != .attached, end == nil, let patience = policy.inputPatience, let oldest = input.oldestUnsent {
      times.append(oldest + patience)
    }
    return times.min()
  }

  /// When the gate has been silent for too long.
  private var silenceEnd: Double {
    if let pingedAt { return pingedAt + SessionLimit.pongPatience }
    return heardAt + (input.isAcknowledgementOwed ? SessionLimit.silenceOwing : SessionLimit.silence)
  }

  // MARK: Time

  package mutating func tick(now: Double) {
    dropOldInput(now: now)
    switch phase {
    case .idle, .connecting, .ended: break
    case .opening(let until):
      guard now >= until else { return }
      act(.abandon)
      lose(now: now)
    case .attached:
      acknowledge(now: now)
      guard now >= silenceEnd else { return }
      if pingedAt == nil {
        pingedAt = now
        act(.ping)
      } else {
        act(.abandon)
        lose(now: now)
      }
    case .closing(let until, let end):
      guard now >= until else { return }
      act(.abandon)
      finish(end)
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

  mutating func finish(_ end: SessionEnd) {
    phase = .ended(end)
    act(.tell(.state(.ended(end))))
  }

  /// The gate is told what was received, if that is due.
  mutating func acknowledge(now: Double) {
    guard let due = arrivals.due, now >= due else { return }
    sendAcknowledgement()
  }

  mutating func sendAcknowledgement() {
    arrivals.acknowledge()
    act(.sendText(AppText.acknowledgement(arrivals.received)))
  }
}

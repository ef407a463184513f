/// How a session gets its connections, loses them, and gets others.
internal import PortcullisProtocol

extension SessionMachine {
  // MARK: Attempts

  /// Nobody can say yet whether there is a session to come back to, nor by which key: an attempt without them would begin
  /// another one, and take its place.
  package mutating func cannotRecall(now: Double) {
    guard hasNotBegun else { return }
    let until = isAway ? .infinity : now + SessionLimit.lockedPause
    why = GameFailure(.storage, detail: "what is remembered is locked")
    if phase == .idle { act(.tellWaiting(until: until, why: why)) }
    phase = .recalling(until: until)
  }

  mutating func recall() {
    phase = .recalling(until: .infinity)
    act(.recall)
  }

  package mutating func begin(now: Double) {
    guard hasNotBegun else { return }
    heardAt = now
    if greeting != nil { lostAt = now }
    if isAway { wait(until: .infinity, why) } else { connect() }
  }

  /// The network is another one, or is back: no reason to wait, and reason to ask whether the gate still hears us.
  package mutating func networkChanged(now: Double) {
    switch phase {
    case .waiting:
      guard !isAway else { return }
      if let notBefore, now < notBefore { wait(until: notBefore, why) } else { hurry() }
    case .attached:
      if pingedAt == nil { ping(now: now) }
    case .connecting: isPathNew = true
    case .idle, .recalling, .opening, .closing, .parting, .ended: break
    }
  }

  /// The player does not want to wait any longer: as if the network had changed.
  package mutating func retry(now: Double) {
    if case .recalling = phase { return recall() }
    if phase != .attached { networkChanged(now: now) }
  }

  private mutating func hurry() {
    isHurried = true
    connect()
  }

  // MARK: Background

  /// The system will stop the app: the gate is told at once, so that the session waits for it instead of a network.
  package mutating func enterBackground(now: Double) {
    isAway = true
    switch phase {
    case .attached: part(now: now)
    case .waiting: wait(until: .infinity, why)
    case .recalling: phase = .recalling(until: .infinity)
    // What is under way goes on to the greeting: only then is there something to come back to.
    case .idle, .connecting, .opening, .closing, .parting, .ended: break
    }
  }

  package mutating func enterForeground(now: Double) {
    isAway = false
    // Whoever brings it there has unlocked the phone.
    if case .recalling = phase { recall() }
    networkChanged(now: now)
  }

  mutating func part(now: Double) {
    sendAcknowledgement()
    act(.close(code: 1001))
    phase = .parting(until: now + SessionLimit.closingPatience)
  }

  mutating func connect() {
    phase = .connecting
    isPathNew = false
    act(.tell(.state(.connecting)))
    requestConnection()
  }

  private mutating func requestConnection() {
    var fields: [GateField] = []
    if let greeting {
      let value = AppText.resume(greeting.id, received: arrivals.received, asksForState: isRelaunched)
      fields.append(GateField(HeaderName.resume, value))
    }
    hasSaidClient = false
    if let field = client.field {
      fields.append(GateField(HeaderName.client, field))
      hasSaidClient = true
    }
    act(.connect(SessionRequest(fields: fields, nonce: greeting?.next, isHurried: isHurried)))
    isHurried = false
  }

  /// The gate has answered 101.
  /// - Parameter subprotocol: the one it chose.
  package mutating func opened(subprotocol: String?, now: Double) {
    // Too late for a session, early enough to say so: otherwise the gate would keep it.
    if case .closing(_, let end) = phase { return close(code: 1000, now: now, end) }
    guard phase == .connecting else { return }
    guard subprotocol == SessionRequest.subprotocol else {
      act(.abandon)
      return failed(
        GameFailure(.interference, detail: "the answer does not choose \(SessionRequest.subprotocol)"),
        now: now)
    }
    saidCode = nil
    pingedAt = nil
    spokeAt = nil
    heardAt = now
    phase = .opening(until: now + SessionLimit.openingPatience)
  }

  /// The key that the gate does not take is given up.
  package mutating func renewed() {
    guard phase == .connecting else { return }
    requestConnection()
  }

  /// The gate, or something in between, has answered otherwise.
  package mutating func refused(_ refusal: GateRefusal, now: Double) {
    if case .closing(_, let end) = phase { return finish(end) }
    guard phase == .connecting else { return }
    // Whatever became of the session, it is not resumed by what was given for it: a challenge is fetched.
    if refusal.known == .nonceInvalid, greeting?.next != nil {
      greeting?.next = nil
      return requestConnection()
    }
    switch retries.judge(refusal) {
    case .atOnce: requestConnection()
    case .renewKey: act(.renewKey(refusal.failure))
    case .after(let pause):
      notBefore = refusal.retryAfter.map { now + $0 }
      wait(pause, after: refusal.failure, now: now)
    case .never: finish(.failed(refusal.failure))
    }
  }

  /// There was no answer at all.
  package mutating func failed(_ failure: GameFailure, now: Double) {
    if case .closing(_, let end) = phase { return finish(end) }
    guard phase == .connecting else { return }
    notBefore = nil
    if isPathNew, !isAway, greeting != nil || policy.triesFirstAgain {
      hurry()
    } else {
      wait(retries.pause(after: failure.kind), after: failure, now: now)
    }
  }

  /// The key is not to be asked before that moment; nil: a pause as after a lost connection.
  package mutating func waits(until: Double?, _ failure: GameFailure, now: Double) {
    if case .closing(_, let end) = phase { return finish(end) }
    guard phase == .connecting else { return }
    notBefore = nil
    wait(until.map { max(0, $0 - now) } ?? retries.pause(), after: failure, now: now)
  }

  /// The attempt has failed in a way that no other one would mend, or none may be made.
  package mutating func giveUp(_ failure: GameFailure) {
    if case .closing(_, let end) = phase { return finish(end) }
    if phase == .connecting || hasNotBegun { finish(.failed(failure)) }
  }

  private mutating func wait(_ pause: Double, after failure: GameFailure, now: Double) {
    let until = now + pause
    guard let greeting else {
      if policy.triesFirstAgain { return wait(until: until, failure) }
      return finish(.failed(failure))
    }
    let isTooLate = until > (lostAt ?? now) + Double(greeting.resumeFor)
    if policy.givesUpWithSession, isTooLate { return finish(.gaveUp) }
    wait(until: until, failure)
  }

  private mutating func wait(until time: Double, _ failure: GameFailure) {
    let until = isAway ? .infinity : time
    why = failure
    phase = .waiting(until: until)
    act(.tellWaiting(until: until, why: failure))
  }

  // MARK: The end of a connection

  /// The connection is gone, and nothing more comes from it.
  /// - Parameter code: of the gate's Close; 1005 if it had none, 1006 if there was no Close.
  package mutating func closed(code: UInt16, now: Double) {
    switch phase {
    case .idle, .recalling, .connecting, .waiting, .ended: break
    case .closing(_, let end):
      // Whether the gate had everything before the connection broke, only another one can tell.
      if code == 1006, isFinishing, !input.isEmpty, end == .byApp { return lose(Self.lost(code), now: now) }
      finish(end)
    case .parting:
      // The gate's Close answers ours; only its own word says more.
      if saidCode == ClosingReason.takenOver.closeCode { return finish(.takenOver) }
      lostAt = lostAt ?? now
      if isAway { wait(until: .infinity, Self.lost(code)) } else { connect() }
    case .opening, .attached:
      switch saidCode ?? code {
      case 1000, 1008: finish(.closed(code: saidCode ?? code))
      case ClosingReason.takenOver.closeCode: finish(.takenOver)
      default: lose(Self.lost(saidCode ?? code), now: now)
      }
    }
  }

  private static func lost(_ code: UInt16) -> GameFailure {
    let detail = code == 1006 ? "the connection was lost" : "the connection was closed with \(code)"
    return GameFailure(.unreachable, detail: detail)
  }

  mutating func lose(_ failure: GameFailure, now: Double) {
    lostAt = lostAt ?? now
    notBefore = nil
    wait(retries.pause(), after: failure, now: now)
  }

  // MARK: Ends that the app wants

  /// Ends the session, in the game as well.
  /// - Parameter whenSent: not before everything typed has been sent, however many connections that takes.
  package mutating func finish(whenSent: Bool, now: Double) {
    isFinishing = whenSent
    switch phase {
    case .attached: close(code: 1000, now: now, .byApp)
    case .closing, .ended: break
    case .opening:
      if whenSent, !input.isEmpty { return }
      close(code: 1000, now: now, .byApp)
    case .connecting:
      if whenSent, !input.isEmpty { return }
      phase = .closing(until: now + SessionLimit.closingPatience, .byApp)
    case .waiting:
      if whenSent, !input.isEmpty { return }
      finish(.byApp)
    case .parting:
      if whenSent, !input.isEmpty { return }
      act(.abandon)
      finish(.byApp)
    case .idle, .recalling: finish(.byApp)
    }
  }

  /// Says Close, and waits for the answer: a connection that is dropped at once may take the Close along.
  mutating func close(code: UInt16, now: Double, _ end: GameEnd) {
    act(.close(code: code))
    phase = .closing(until: now + SessionLimit.closingPatience, end)
  }

  /// Leaves the session in the game, for a later connection.
  package mutating func leave(now: Double) {
    switch phase {
    case .attached:
      act(.sendText(AppText.leave))
      phase = .closing(until: now + SessionLimit.closingPatience, .left)
    case .closing, .ended: break
    case .opening, .parting:
      act(.abandon)
      finish(.left)
    case .idle, .recalling, .connecting, .waiting: finish(.left)
    }
  }
}

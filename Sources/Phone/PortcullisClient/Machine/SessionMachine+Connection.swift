/// How a session gets its connections, loses them, and gets others.
internal import PortcullisProtocol

extension SessionMachine {
  // MARK: Attempts

  /// Nobody can say yet whether there is a session to come back to, nor by which key: an attempt without them would begin
  /// another one, and take its place.
  package mutating func cannotRecall(now: Double) {
    guard hasNotBegun else { return }
    let until = isAway ? .infinity : now + SessionLimit.lockedPause
    if phase == .idle { act(.tell(.state(.waiting(until: until)))) }
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
    if isAway { wait(until: .infinity) } else { connect() }
  }

  /// The network is another one, or is back: no reason to wait, and reason to ask whether the gate still hears us.
  package mutating func networkChanged(now: Double) {
    switch phase {
    case .waiting:
      guard !isAway else { return }
      if let notBefore, now < notBefore { wait(until: notBefore) } else { connect() }
    case .attached:
      guard pingedAt == nil else { return }
      pingedAt = now
      act(.ping)
    case .connecting: isPathNew = true
    case .idle, .recalling, .opening, .closing, .parting, .ended: break
    }
  }

  // MARK: Background

  /// The system will stop the app: the gate is told at once, so that the session waits for it instead of a network.
  package mutating func enterBackground(now: Double) {
    isAway = true
    switch phase {
    case .attached: part(now: now)
    case .waiting: wait(until: .infinity)
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
    act(.connect(SessionRequest(fields: fields)))
  }

  /// The gate has answered 101.
  /// - Parameter subprotocol: the one it chose.
  package mutating func opened(subprotocol: String?, now: Double) {
    // Too late for a session, early enough to say so: otherwise the gate would keep it.
    if case .closing(_, let end) = phase { return close(code: 1000, now: now, end) }
    guard phase == .connecting else { return }
    guard subprotocol == SessionRequest.subprotocol else {
      return close(code: 1000, now: now, .unsupported)
    }
    saidCode = nil
    pingedAt = nil
    heardAt = now
    phase = .opening(until: now + SessionLimit.openingPatience)
  }

  package mutating func registered() {
    guard phase == .connecting else { return }
    requestConnection()
  }

  /// The gate, or something in between, has answered otherwise.
  /// - Parameters:
  ///   - code: of `Portcullis-Error`.
  ///   - retryAfter: in seconds.
  package mutating func refused(status: Int, code: String?, retryAfter: Double?, now: Double) {
    if case .closing(_, let end) = phase { return finish(end) }
    guard phase == .connecting else { return }
    let end = GameEnd.refused(status: status, code: code ?? "")
    let retryAfter = retryAfter.flatMap {
      $0.isFinite ? min(max(0, $0), SessionLimit.longestNamedPause) : nil
    }
    switch retries.judge(status: status, code: code, retryAfter: retryAfter, registers: policy.registers) {
    case .atOnce: requestConnection()
    case .register: act(.register)
    case .after(let pause):
      notBefore = retryAfter.map { now + $0 }
      wait(pause, orEnd: end, now: now)
    case .never: finish(end)
    }
  }

  /// There is no key any more where it was made.
  package mutating func keyLost() {
    if case .closing(_, let end) = phase { return finish(end) }
    guard phase == .connecting else { return }
    if retries.newKey(policy.registers) == .register { act(.register) } else { finish(.failed) }
  }

  /// There was no answer at all.
  package mutating func failed(now: Double) {
    if case .closing(_, let end) = phase { return finish(end) }
    guard phase == .connecting else { return }
    notBefore = nil
    if isPathNew, !isAway, greeting != nil || policy.triesFirstAgain {
      connect()
    } else {
      wait(retries.pause(), orEnd: .failed, now: now)
    }
  }

  /// The attempt has failed in a way that no other one would mend.
  package mutating func giveUp() {
    if case .closing(_, let end) = phase { return finish(end) }
    if phase == .connecting { finish(.failed) }
  }

  private mutating func wait(_ pause: Double, orEnd end: GameEnd, now: Double) {
    let until = now + pause
    guard let greeting else {
      if policy.triesFirstAgain { return wait(until: until) }
      return finish(end)
    }
    let isTooLate = until > (lostAt ?? now) + Double(greeting.resumeFor)
    if policy.givesUpWithSession, isTooLate { return finish(.gaveUp) }
    wait(until: until)
  }

  private mutating func wait(until time: Double) {
    let until = isAway ? .infinity : time
    phase = .waiting(until: until)
    act(.tell(.state(.waiting(until: until))))
  }

  // MARK: The end of a connection

  /// The connection is gone, and nothing more comes from it.
  /// - Parameter code: of the gate's Close; 1005 if it had none, 1006 if there was no Close.
  package mutating func closed(code: UInt16, now: Double) {
    switch phase {
    case .idle, .recalling, .connecting, .waiting, .ended: break
    case .closing(_, let end):
      // Whether the gate had everything before the connection broke, only another one can tell.
      if code == 1006, isFinishing, !input.isEmpty, end == .byApp { return lose(now: now) }
      finish(end)
    case .parting:
      // The gate's Close answers ours; only its own word says more.
      if saidCode == ClosingReason.takenOver.closeCode { return finish(.takenOver) }
      lostAt = lostAt ?? now
      if isAway { wait(until: .infinity) } else { connect() }
    case .opening, .attached:
      switch saidCode ?? code {
      case 1000, 1008: finish(.closed(code: saidCode ?? code))
      case ClosingReason.takenOver.closeCode: finish(.takenOver)
      default: lose(now: now)
      }
    }
  }

  mutating func lose(now: Double) {
    lostAt = lostAt ?? now
    notBefore = nil
    wait(retries.pause(), orEnd: .failed, now: now)
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

/// An admitted session from its `101` to its end: opening, deadlines, and the closing handshake.
internal import Bytes
internal import Configuration
internal import HTTPWire
internal import KeyStore
internal import System
internal import TLS
internal import WebSocketWire

extension Connection {
  // MARK: Opening

  /// The game is connected: one more look at the key, then 101.
  func open(_ admission: Admission) {
    let credential = admission.credential
    if let keyID = credential.keyID, loop.shared.store.isRevoked(keyID) {
      return perform(admission.machine.revoked())
    }
    // Only now, as a peer that is refused causes no byte at the game (SPEC §3).
    guard introducePlayer(credential) else { return perform(admission.machine.gameLost()) }
    let agreement = PermessageDeflate.agreed(on: admission.upgrade.extensions)
    let date = loop.date.text(at: loop.now, clock: loop.shared.clock)
    let response = admission.upgrade.response(extensions: agreement?.response, date: date)
    guard legs.client.tls.write(response.span) else { return close() }
    let waited = loop.now - admission.startedAt
    self.admission = nil
    // Nobody else will be spoken for on this connection.
    peer = source
    exchange = nil
    let deflate = agreement.map {
      DeflateSession($0, messageBytes: loop.settings.frameLimits.messageBytes)
    }
    session = Session(credential: credential, deflate: deflate, settings: loop.settings, now: loop.now)
    stage = .session
    loop.noLongerPending(self)
    counters.admitted.add()
    loop.shared.sessions.increment()
    loop.shared.log.admitted(self, credential, waited: waited)
    if let keyID = credential.keyID { endSurplusSessions(of: keyID) }
    arm(at: loop.now + loop.settings.limits.pingInterval)
    // The game may have spoken first.
    loop.continueLater(self)
  }

  /// The oldest give way when a key has more sessions than it may (SPEC §3, 1008).
  private func endSurplusSessions(of keyID: KeyIdentifier) {
    for surplus in loop.shared.store.surplusSessions(of: keyID, limit: loop.settings.limits.sessionsPerKey) {
      loop.shared.post(.end(Token(rawValue: surplus.token), .replaced), to: surplus)
    }
  }

  // MARK: Ending

  /// Another thread, or another session of the key, ends this one.
  func endFromOutside(_ end: SessionEnd) {
    switch stage {
    case .session: endSession(end)
    case .admission: endAdmission(end)
    case .proxyHeader, .handshake, .exchange, .lingering, .closed: break
    }
    settle()
  }

  /// What has no session yet is told in an answer, by a code of its own for each reason.
  private func endAdmission(_ end: SessionEnd) {
    switch end {
    case .draining: perform(admission?.machine.draining() ?? .nothing)
    case .keyRevoked: perform(admission?.machine.revoked() ?? .nothing)
    case .replaced: perform(admission?.machine.superseded() ?? .nothing)
    // Meant for a session that has gone, or not from outside at all.
    case .gameClosed, .gameFailed, .playerClosed, .playerVanished, .violation, .closedByOperator, .stalled,
      .silent:
      break
    }
  }

  func endSession(_ end: SessionEnd) {
    guard session != nil else { return }
    if session?.end == nil { session?.end = end }
    let action = session?.closing.end(end) ?? .nothing
    if end.cutsGameOff { dropBackend() }
    perform(action)
  }

  private func perform(_ action: ClosingHandshake.Action) {
    switch action {
    case .nothing: break
    case .sendClose(let code, let reason):
      sendClose(code, reason)
      session?.closeDeadline = loop.now + Self.closeTimeout
      arm(within: Self.closeTimeout)
    case .closeAndFinish(let code, let reason):
      sendClose(code, reason)
      finishSession()
    case .finish:
      finishSession()
    }
  }

  private func sendClose(_ code: CloseCode?, _ reason: String) {
    _ = legs.client.tls.write(ControlFrame.close(code, reason: reason).span)
  }

  /// Both legs get what waits for them and their FIN; the session is over.
  private func finishSession() {
    forgetSession()
    finish()
  }

  /// Takes the session out of all counts and lists, and writes its last line in the log.
  func forgetSession() {
    guard let session = session.take() else { return }
    if let keyID = session.credential.keyID { loop.shared.store.removeSession(sessionReference, of: keyID) }
    loop.shared.sessions.decrement()
    counters.sessionsEnded.add()
    counters.bytesFromPlayers.add(Int(clamping: session.bytesFromPlayer))
    counters.bytesFromGame.add(Int(clamping: session.bytesFromGame))
    loop.shared.log.sessionEnded(self, session)
  }

  /// The drain's time is over: whatever is left goes.
  func abandon() {
    switch stage {
    case .session:
      if session?.end == nil { session?.end = .draining }
      close()
    case .proxyHeader, .handshake, .exchange, .admission, .lingering: close()
    case .closed: break
    }
  }

  // MARK: Deadlines

  func sessionDeadlineReached() {
    guard stage == .session, session != nil else { return }
    if isStalled { return endSession(.stalled) }
    if let deadline = session?.closeDeadline, loop.now >= deadline {
      // The reply is awaited from when our Close has left: before it, there may be much for a slow reader to take.
      if legs.client.unsent.isEmpty { return perform(session?.closing.expired() ?? .nothing) }
      session?.closeDeadline = loop.now + Self.closeTimeout
    }
    // While reading is off the player cannot be heard, so its silence proves nothing.
    if session?.isReadingFromPlayer(legs) ?? false {
      guard let lastHeard = session?.lastHeard else { return }
      if loop.now - lastHeard >= loop.settings.limits.pongTimeout { return endSession(.silent) }
    } else {
      session?.lastHeard = loop.now
    }
    pingIfDue()
    armSession()
  }

  private func pingIfDue() {
    guard session?.closing.isOpen ?? false, legs.client.unsent.isEmpty, let lastPing = session?.lastPing
    else {
      return
    }
    guard loop.now - lastPing >= loop.settings.limits.pingInterval else { return }
    session?.lastPing = loop.now
    _ = legs.client.tls.write(ControlFrame.ping().span)
  }

  /// The earliest of what may become due; it is looked at again only when it comes up.
  func armSession() {
    guard let session = session?.times else { return }
    let limits = loop.settings.limits
    var earliest = min(session.lastPing + limits.pingInterval, session.lastHeard + limits.pongTimeout)
    if let blockedSince { earliest = min(earliest, blockedSince + limits.writeStallTimeout) }
    if let deadline = session.closeDeadline { earliest = min(earliest, deadline) }
    arm(at: earliest)
  }

  /// How long the player's reply to our Close is awaited.
  private static let closeTimeout: Duration = .seconds(5)
}

extension Session {
  fileprivate struct Times {
    let lastHeard: MonotonicTime
    let lastPing: MonotonicTime
    let closeDeadline: MonotonicTime?
  }

  fileprivate var times: Times {
    Times(lastHeard: lastHeard, lastPing: lastPing, closeDeadline: closeDeadline)
  }
}

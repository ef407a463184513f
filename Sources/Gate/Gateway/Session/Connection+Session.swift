/// A session on its connection from its `101` to its end: opening, deadlines, and the closing handshake.
internal import Admission
internal import Bytes
internal import Configuration
internal import Conversation
internal import HTTPWire
internal import KeyStore
internal import PortcullisProtocol
internal import Scheduling
internal import SessionWire
internal import System
internal import Telemetry
internal import Time
internal import TLS
internal import Upstream
internal import WebSocketWire

extension Connection {
  // MARK: Opening

  /// The game is connected, or the session that the app goes on with is here: one more look at what lets it in, then 101.
  func open(_ admission: AdmissionAttempt) {
    let session = admission.session
    let isResumed = session.state != .opening
    if let objection = objection(to: admission) { return perform(admission.machine.shutOut(objection)) }
    // Only now, as a peer that is refused causes no byte at the game (docs/protocol.md, "Admission").
    guard isResumed || introducePlayer(to: session) else { return perform(admission.machine.gameLost()) }
    let deflate = DeflateSession.agreed(
      on: admission.upgrade, loop.settings, windows: loop.shared.compressionWindows)
    let date = loop.date.text(at: loop.now, clock: loop.shared.clock)
    let response = admission.upgrade.request.response(
      subprotocol: admission.choice.name, extensions: deflate?.response, date: date)
    guard client.tls.write(response.span) else { return close() }
    // Nobody else will be spoken for on this connection.
    peer = source
    session.subprotocol = admission.choice.subprotocol
    if let dialect = admission.choice.dialect {
      if !isResumed { session.game.conversation = conversation(in: dialect, admission) }
    } else {
      session.game.text = loop.settings.messageType == .text ? TextRepair() : nil
    }
    let stream = PlayerStream(deflate: deflate?.session, settings: loop.settings, now: loop.now)
    let attachment = Attachment(session, stream: stream)
    move(to: .session(attachment))
    loop.attach(session, to: self)
    counters.admissionTimes.record(loop.now - admission.startedAt)
    loop.shared.log.admitted(peerName, session.name, waited: loop.now - admission.startedAt)
    arm(at: loop.now + loop.settings.limits.pingInterval)
    if let conversation = session.game.conversation {
      begin(conversation, attachment, admission, isResumed: isResumed)
    }
    // The game may have spoken first.
    if case .session = stage { loop.continueLater(self) }
  }

  // MARK: Ending

  /// Another thread, or another session of the key, ends the session that this connection opens or carries.
  func endFromOutside(_ end: SessionEnd) {
    switch stage {
    case .session(let attachment):
      endSession(
        attachment, end == .draining && loop.goesOn(attachment.session) ? .restarting : .session(end))
    case .admission(let admission): endAdmission(admission, end)
    case .proxyHeader, .handshake, .exchange, .lingering, .closed: break
    }
  }

  /// What has no session yet is told in an answer, by a code of its own for each reason.
  private func endAdmission(_ admission: AdmissionAttempt, _ end: SessionEnd) {
    switch end {
    case .draining: perform(admission.machine.draining())
    case .keyRevoked: perform(admission.machine.shutOut(.revoked(admission.credential)))
    // The first three never come from outside; the others are for who plays.
    case .gameClosed, .gameFailed, .gameStalled, .replaced, .closedByOperator, .expired, .letGo: break
    }
  }

  /// Newer upgrades of the key take the place of one that still waits.
  func superseded() {
    if case .admission(let admission) = stage { perform(admission.machine.superseded()) }
  }

  func endSession(_ attachment: Attachment, _ end: ConnectionEnd) {
    let session = attachment.session
    var end = end
    if let conversation = session.game.conversation { end = hearOut(conversation, attachment, end) }
    let isFirst = attachment.stream.closing.isOpen
    if attachment.stream.end == nil { counters.noteStall(end) }
    let action = attachment.stream.end(end)
    if let conversation = session.game.conversation, isFirst { conclude(conversation, attachment, end) }
    if end.cutsGameOff, !loop.canStay(session, after: end) { session.game.leg = nil }
    perform(
      hasLastWord(attachment, end) && action == .finish ? .closeAndFinish(nil, reason: "") : action,
      attachment)
    releaseClosedGame(attachment)
  }

  /// A game that has closed its side keeps its connection until it has taken what was said before, and no longer: the
  /// app's Close may take 5 s, or never come.
  func releaseClosedGame(_ attachment: Attachment) {
    guard case .session = stage, !attachment.stream.closing.delivers, !attachment.session.game.waits else {
      return
    }
    attachment.session.game.leg = nil
  }

  /// Under `portcullis.v1` each end of a session is told, also one that elsewhere just happens.
  private func hasLastWord(_ attachment: Attachment, _ end: ConnectionEnd) -> Bool {
    guard case .session = end, attachment.stream.end == end else { return false }
    return attachment.session.game.conversation?.dialect == .portcullis
  }

  private func perform(_ action: ClosingHandshake.Action, _ attachment: Attachment) {
    switch action {
    case .nothing: break
    case .sendClose(let code, let reason):
      sendClose(code, reason, attachment)
      attachment.stream.closeDeadline = loop.now + Self.closeTimeout
      arm(within: Self.closeTimeout)
    case .closeAndFinish(let code, let reason):
      sendClose(code, reason, attachment)
      finish()
    case .finish: finish()
    }
  }

  private func sendClose(_ code: CloseCode?, _ reason: String, _ attachment: Attachment) {
    var (code, reason) = (code, reason)
    if let closing = attachment.session.game.conversation?.closing(for: attachment.stream.end) {
      (code, reason) = (CloseCode(closing), closing.rawValue)
      counters.messagesToPlayers.add()
      _ = client.tls.write(PlayerStream.textFrame(closing.message).span)
    }
    _ = client.tls.write(ControlFrame.close(code, reason: reason).span)
  }

  /// The drain's time is over: whatever is left goes.
  func abandon() {
    if case .session(let attachment) = stage {
      attachment.stream.endSilently(
        loop.goesOn(attachment.session) ? .restarting : .session(.draining))
    }
    close()
  }

  // MARK: Deadlines

  func sessionDeadlineReached(_ attachment: Attachment) {
    if isClientStalled { return endSession(attachment, .playerStalled) }
    if isGameStalled { return endSession(attachment, .session(.gameStalled)) }
    if let deadline = attachment.stream.closeDeadline, loop.now >= deadline {
      // The reply is awaited from when our Close has left: before it, there may be much for a slow reader to take.
      if client.unsent.isEmpty { return perform(attachment.stream.closing.expired(), attachment) }
      attachment.stream.closeDeadline = loop.now + Self.closeTimeout
    }
    // A player may be silent because nothing is read from it, or because it is not pinged: it has much to take first.
    if attachment.stream.isReadingFromPlayer(client, attachment.session.game), client.unsent.isEmpty {
      let silence = deadlines(of: attachment).silence(
        at: loop.now, pingInterval: loop.settings.limits.pingInterval,
        pongTimeout: loop.settings.limits.pongTimeout)
      switch silence {
      case .isShort: break
      case .isLong: return endSession(attachment, .silent)
      case .isOurs(let heard): attachment.stream.lastHeard = heard
      }
    } else {
      attachment.stream.lastHeard = loop.now
    }
    pingIfDue(attachment)
    armSession(attachment)
    // What may be due of a conversation is looked at in its turn.
    if attachment.session.game.conversation != nil { loop.continueLater(self) }
  }

  private func pingIfDue(_ attachment: Attachment) {
    let nextPing = deadlines(of: attachment).nextPing(every: loop.settings.limits.pingInterval)
    guard let nextPing, nextPing <= loop.now else { return }
    attachment.stream.lastPing = loop.now
    _ = client.tls.write(ControlFrame.ping().span)
  }

  /// The earliest of what may become due; it is looked at again when that comes up.
  private func armSession(_ attachment: Attachment) {
    let limits = loop.settings.limits
    let earliest = deadlines(of: attachment).earliest(
      pingInterval: limits.pingInterval, pongTimeout: limits.pongTimeout,
      stallTimeout: limits.writeStallTimeout)
    arm(at: min(earliest, conversationDeadline(attachment)))
  }

  /// The player has taken all that waited for it: it can be pinged again, and answer.
  func sessionDrained(_ attachment: Attachment) {
    attachment.stream.lastHeard = loop.now
    armSession(attachment)
  }

  private func deadlines(of attachment: Attachment) -> SessionDeadlines {
    let mayBePinged = attachment.stream.closing.isOpen && client.unsent.isEmpty
    return SessionDeadlines(
      lastPing: mayBePinged ? attachment.stream.lastPing : nil, lastHeard: attachment.stream.lastHeard,
      blockedSince: blockedSince, close: attachment.stream.closeDeadline)
  }

  /// How long the player's reply to our Close is awaited.
  private static let closeTimeout: Duration = .seconds(5)
}

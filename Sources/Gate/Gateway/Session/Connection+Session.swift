/// A session on its connection from its `101` to its end: opening, deadlines, and the closing handshake.
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
    let session = admission.session
    if let keyID = session.credential.keyID, loop.shared.store.isRevoked(keyID) {
      return perform(admission.machine.revoked())
    }
    // Only now, as a peer that is refused causes no byte at the game (docs/protocol.md, "Admission").
    guard introducePlayer(to: session) else { return perform(admission.machine.gameLost()) }
    let agreement = PermessageDeflate.agreed(on: admission.upgrade.extensions)
    let date = loop.date.text(at: loop.now, clock: loop.shared.clock)
    let response = admission.upgrade.response(extensions: agreement?.response, date: date)
    guard client.tls.write(response.span) else { return close() }
    // Nobody else will be spoken for on this connection.
    peer = source
    let deflate = agreement.map {
      DeflateSession($0, messageBytes: loop.settings.frameLimits.messageBytes)
    }
    session.game.text = loop.settings.messageType == .text ? TextRepair() : nil
    let stream = PlayerStream(deflate: deflate, settings: loop.settings, now: loop.now)
    move(to: .session(Attachment(session, stream: stream)))
    loop.attach(session, to: self)
    loop.shared.log.admitted(self, session.credential, waited: loop.now - admission.startedAt)
    arm(at: loop.now + loop.settings.limits.pingInterval)
    // The game may have spoken first.
    loop.continueLater(self)
  }

  // MARK: Ending

  /// Another thread, or another session of the key, ends the session that this connection opens or carries.
  func endFromOutside(_ end: SessionEnd) {
    switch stage {
    case .session(let attachment): endSession(attachment, .session(end))
    case .admission(let admission): endAdmission(admission, end)
    case .proxyHeader, .handshake, .exchange, .lingering, .closed: break
    }
  }

  /// What has no session yet is told in an answer, by a code of its own for each reason.
  private func endAdmission(_ admission: Admission, _ end: SessionEnd) {
    switch end {
    case .draining: perform(admission.machine.draining())
    case .keyRevoked: perform(admission.machine.revoked())
    // The first three never come from outside; the others are for who plays.
    case .gameClosed, .gameFailed, .gameStalled, .replaced, .closedByOperator: break
    }
  }

  /// Newer upgrades of the key take the place of one that still waits.
  func superseded() {
    if case .admission(let admission) = stage { perform(admission.machine.superseded()) }
  }

  func endSession(_ attachment: Attachment, _ end: ConnectionEnd) {
    let action = attachment.stream.end(end)
    if end.cutsGameOff { attachment.session.game.leg = nil }
    perform(action, attachment)
  }

  private func perform(_ action: ClosingHandshake.Action, _ attachment: Attachment) {
    switch action {
    case .nothing: break
    case .sendClose(let code, let reason):
      sendClose(code, reason)
      attachment.stream.closeDeadline = loop.now + Self.closeTimeout
      arm(within: Self.closeTimeout)
    case .closeAndFinish(let code, let reason):
      sendClose(code, reason)
      finish()
    case .finish: finish()
    }
  }

  private func sendClose(_ code: CloseCode?, _ reason: String) {
    _ = client.tls.write(ControlFrame.close(code, reason: reason).span)
  }

  /// The drain's time is over: whatever is left goes.
  func abandon() {
    if case .session(let attachment) = stage { attachment.stream.endSilently(.session(.draining)) }
    close()
  }

  // MARK: Deadlines

  func sessionDeadlineReached(_ attachment: Attachment) {
    if isStalled {
      let end: ConnectionEnd = client.unsent.isEmpty ? .session(.gameStalled) : .playerStalled
      return endSession(attachment, end)
    }
    if let deadline = attachment.stream.closeDeadline, loop.now >= deadline {
      // The reply is awaited from when our Close has left: before it, there may be much for a slow reader to take.
      if client.unsent.isEmpty { return perform(attachment.stream.closing.expired(), attachment) }
      attachment.stream.closeDeadline = loop.now + Self.closeTimeout
    }
    // A player may be silent because nothing is read from it, or because it is not pinged: it has much to take first.
    if attachment.stream.isReadingFromPlayer(client, attachment.session.game), client.unsent.isEmpty {
      if loop.now - attachment.stream.lastHeard >= loop.settings.limits.pongTimeout {
        return endSession(attachment, .silent)
      }
    } else {
      attachment.stream.lastHeard = loop.now
    }
    pingIfDue(attachment)
    armSession(attachment)
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
    arm(
      at: deadlines(of: attachment).earliest(
        pingInterval: limits.pingInterval, pongTimeout: limits.pongTimeout,
        stallTimeout: limits.writeStallTimeout))
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

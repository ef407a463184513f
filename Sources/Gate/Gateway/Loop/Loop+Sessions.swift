/// A loop's sessions: the one place where they begin, are counted and listed, and end.
internal import Bytes
internal import Configuration
internal import KeyStore
internal import System

extension Loop {
  /// A session for whoever `credential` names, while `connection` waits for its `101`.
  func openSession(by credential: Credential, on connection: Connection) -> GameSession {
    let token = sessions.reserve()
    let session = GameSession(token: token, credential: credential, connection: connection, now: now)
    sessions.insert(session, at: token)
    return session
  }

  /// How other threads name it.
  func reference(to session: Token) -> SessionReference {
    SessionReference(loop: UInt16(index), token: session.rawValue)
  }

  /// The `101` is out.
  func attach(_ session: GameSession, to connection: Connection) {
    session.attach(to: connection, now: now)
    noLongerPending(connection)
    counters.admitted.add()
    shared.sessions.increment()
    if let keyID = session.credential.keyID { enter(session, amongSessionsOf: keyID) }
  }

  /// From now on the session counts among those of its key; the oldest are closed when these are more than it may have
  /// (docs/protocol.md, "Close codes").
  private func enter(_ session: GameSession, amongSessionsOf keyID: KeyIdentifier) {
    let limit = settings.limits.sessionsPerKey
    for surplus in shared.register.admit(reference(to: session.token), of: keyID, limit: limit) {
      shared.post(.end(Token(rawValue: surplus.token), .replaced, nil), to: surplus)
    }
  }

  /// One key does not have more upgrades waiting than it may have sessions: the oldest are refused.
  func supersedeWaiting(of keyID: KeyIdentifier) {
    for surplus in shared.register.surplusWaiting(of: keyID, limit: settings.limits.sessionsPerKey) {
      shared.post(.superseded(Token(rawValue: surplus.token)), to: surplus)
    }
  }

  /// Takes it out of all counts and lists, and writes its last line in the log. One that was never attached only gives its
  /// place in its key's list back.
  func end(_ session: GameSession, on connection: Connection, because end: ConnectionEnd?) {
    let wasAttached = session.state == .attached
    guard session.end() else { return }
    if let keyID = session.credential.keyID {
      shared.register.leave(reference(to: session.token), of: keyID)
    }
    defer { session.tellEnded() }
    guard wasAttached else { return }
    shared.sessions.decrement()
    counters.sessionsEnded.add()
    counters.bytesFromPlayers.add(Int(clamping: session.game.bytesFromPlayer))
    counters.bytesFromGame.add(Int(clamping: session.game.bytesFromGame))
    shared.log.sessionEnded(connection, session, end)
  }

  /// Closes its leg to the game and forgets it.
  func release(_ session: GameSession) {
    session.detach()
    sessions.release(session.token)
  }

  // MARK: For the operator

  var sessionDescriptions: [SessionDescription] {
    var found: [SessionDescription] = []
    sessions.forEach { if let description = $0.description(at: now) { found.append(description) } }
    return found
  }
}

/// A loop's sessions: the one place where they begin, are counted and listed, and end.
internal import Admission
internal import Bytes
internal import Configuration
internal import Conversation
internal import KeyStore
internal import Scheduling
internal import System
internal import Telemetry
internal import Time
internal import Upstream

extension Loop {
  /// A session for the player whom `credential` names, while `connection` waits for its `101`.
  func openSession(by credential: Credential, on connection: Connection) -> GameSession {
    let token = sessions.reserve()
    let session = GameSession(
      token: token, credential: credential, connection: connection, counts: counters.sessions, now: now)
    sessions.insert(session, at: token)
    return session
  }

  /// How other threads name it.
  func reference(to session: Token) -> SessionReference {
    SessionReference(loop: UInt16(index), token: session.rawValue)
  }

  /// The `101` is out.
  func attach(_ session: GameSession, to connection: Connection) {
    let isNew = session.state == .opening
    if !isNew { leaveDetached(session) }
    session.attach(to: connection, number: shared.nextSessionNumber(), now: now)
    noLongerPending(connection)
    (isNew ? counters.admitted : counters.resumed).add()
    shared.sessions.increment()
    if session.isOver { return }
    letGo(shared.detachedByAddress.attach(to: session.payer, limit: settings.limits.connectionsPerAddress))
    enterAmongOthers(session)
  }

  /// From now on the session counts among those of its key or device; those that are too many are closed
  /// (docs/protocol.md, "Close codes").
  private func enterAmongOthers(_ session: GameSession) {
    let limit = settings.limits.sessionsPerKey
    let surplus = session.credential.owners.flatMap { owner in
      shared.register.admit(reference(to: session.token), of: owner, limit: limit)
    }
    // One may be too many in both lists.
    for surplus in Set(surplus) {
      shared.post(.end(Token(rawValue: surplus.token), .replaced, nil), to: surplus)
    }
  }

  /// One key does not have more upgrades waiting than it may have sessions: the oldest are refused.
  func supersedeWaiting(of keyID: KeyIdentifier) {
    for surplus in shared.register.surplusWaiting(of: keyID, limit: settings.limits.sessionsPerKey) {
      shared.post(.superseded(Token(rawValue: surplus.token)), to: surplus)
    }
  }

  // MARK: Ends

  /// `connection` stops carrying the session, which goes on without it, is over, or ends with it.
  func part(_ session: GameSession, from connection: Connection, because end: ConnectionEnd?) {
    if canStay(session, after: end) {
      detach(session, from: connection, because: end)
    } else {
      self.end(session, because: end)
    }
  }

  /// The stay in the game is over: it leaves all counts and lists, and its last line is written in the log. What speaks
  /// `portcullis.v1` keeps its last messages until they are acknowledged.
  func conclude(_ session: GameSession, because end: ConnectionEnd?) {
    let state = session.state
    guard session.conclude() else { return }
    noteLeftOut(of: session)
    session.game.kept?.retire()
    for owner in session.credential.owners {
      shared.register.leave(reference(to: session.token), of: owner)
    }
    defer { session.tellEnded() }
    switch state {
    case .attached: shared.detachedByAddress.detach(from: session.payer)
    case .detached:
      releaseAddress(of: session)
      guard session.detachment?.isDetached == true else { break }
      detached.leave(session)
      concluded.enter(session)
      shared.concluded.increment()
      publishLongest()
    case .opening, .concluded, .ended: return
    }
    counters.sessionsEnded.add()
    session.game.countBytes(in: counters)
    shared.log.sessionEnded(
      session.name, end,
      GateLogger.Ended(
        peer: session.connection?.peerName, bytesFromGame: session.game.bytesFromGame,
        bytesFromPlayer: session.game.bytesFromPlayer, duration: now - session.startedAt))
  }

  /// Nobody can come back to it.
  func end(_ session: GameSession, because end: ConnectionEnd?) {
    conclude(session, because: end)
    if session.state == .concluded { leaveDetached(session) }
    // Until here a connection has something to say to its player, and a drain waits for it.
    if session.state == .attached { shared.sessions.decrement() }
    if !session.end() { return }
    forgetIDs(of: session)
    giveBackBuffers(of: session)
  }

  /// Closes its leg to the game and forgets it.
  func release(_ session: GameSession) {
    session.release()
    sessions.release(session.token)
  }

  // MARK: For the operator

  /// What of a session's words was left out in its turn.
  func noteLeftOut(of session: GameSession) {
    if let leftOut = session.game.conversation?.state.takeLeftOut() { note(leftOut, of: session) }
  }

  /// Counts the options that its game and the gate have agreed on since the last look.
  func noteOptions(of conversation: SessionConversation) {
    let agreed = conversation.state.takeNewOptions()
    if agreed != 0 { note(optionBits: agreed) }
  }

  func note(optionBits bits: UInt16) {
    for (index, counter) in counters.telnetOptions.enumerated() where bits & 1 << UInt16(index) != 0 {
      counter.add()
    }
  }

  func note(_ leftOut: LeftOut, of session: GameSession) {
    counters.messagesLeftOut.add(leftOut.count)
    shared.log.messagesLeftOut(session.name, step: leftOut.word, count: leftOut.count)
  }

  var sessionDescriptions: [SessionDescription] {
    var found: [SessionDescription] = []
    sessions.forEach { if let description = $0.description(on: self) { found.append(description) } }
    return found
  }
}

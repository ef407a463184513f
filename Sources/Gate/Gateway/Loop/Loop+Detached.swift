/// Sessions without a connection: how a loop keeps them, serves them, and lets them go.
///
/// | what | bound |
/// |---|---|
/// | sessions without a connection, concluded ones too | `MAX_DETACHED`: the longest one goes, of those that are concluded first |
/// | those of an address | what its sessions with a connection leave of `MAX_CONNECTIONS_PER_ADDRESS`: the longest one goes |
/// | of them those without an attested key | 5 |
/// | their time | `SESSION_RESUME_FOR` |
/// | their messages | `SESSION_BUFFER` each, `SESSION_BUFFERS_TOTAL` together with those of attached ones |
internal import Addresses
internal import Admission
internal import Bytes
internal import Configuration
internal import Conversation
internal import KeyStore
internal import Scheduling
internal import Sockets
internal import Time
internal import Telemetry
internal import Upstream

extension Loop {
  // MARK: Detaching

  /// Whether somebody may come back after `end`.
  func canStay(_ session: GameSession, after end: ConnectionEnd?) -> Bool {
    guard let conversation = session.game.conversation, conversation.isResumable, goesOn(session) else {
      return false
    }
    if session.isOver { return conversation.state.ledger.hasUnacknowledged && (end?.leavesWord ?? true) }
    return end?.endsResumable != true
  }

  /// Nobody comes back to a gate that stops, but to what goes on in its next process.
  func goesOn(_ session: GameSession) -> Bool {
    isRestarting ? session.isKept : !isStopped && !isDraining
  }

  /// The session goes on without `connection`, for a while.
  func detach(_ session: GameSession, from connection: Connection, because end: ConnectionEnd?) {
    shared.sessions.decrement()
    if !session.isOver {
      shared.detachedByAddress.detach(from: session.payer)
      for owner in session.credential.owners {
        shared.register.detach(reference(to: session.token), of: owner)
      }
    }
    session.detach(now: now)
    let changesHands = session === changingHands
    session.game.conversation?.state.detach(keepsAll: isRestarting || changesHands, now: now)
    if session.isOver { session.game.leg = nil }
    if let conversation = session.game.conversation { describe(session, conversation) }
    // Said once it is in the slot: who reads it may kill the gate.
    shared.log.sessionDetached(connection.peerName, session.name, end)
    // Nobody is away: it has its next connection as soon as it is where that is.
    if changesHands { return }
    // At a restart all lose theirs.
    if !session.isOver, end != .restarting { countForAddress(session) }
    enterDetached(session)
    accountBuffers(of: session)
    serve(session)
  }

  /// Counts it among those without a connection, and lets the longest one go when there are too many.
  func enterDetached(_ session: GameSession) {
    session.detachment?.isDetached = true
    session.detachment?.alarm.set(at: expiry(of: session), for: session.token, in: wheel)
    if session.state == .concluded {
      concluded.enter(session)
      shared.concluded.increment()
    } else {
      detached.enter(session)
    }
    publishLongest()
    if shared.away.increment() > mostDetached { letGoLongestOfAll() }
  }

  /// Somebody has come back, or nobody can any more. One that changes hands has never been here.
  func leaveDetached(_ session: GameSession) {
    guard let detachment = session.detachment, detachment.isDetached else { return }
    detachment.isDetached = false
    releaseAddress(of: session)
    countDetached(session, queued: 0)
    shared.away.decrement()
    if session.state == .concluded {
      concluded.leave(session)
      shared.concluded.decrement()
    } else {
      detached.leave(session)
    }
    publishLongest()
    detachment.alarm.clear()
  }

  /// It has come here for a connection that does not take it up: it goes on without one.
  func staysDetached(_ session: GameSession) {
    guard session.state == .detached || session.state == .concluded, session.detachment?.isDetached == false
    else {
      return
    }
    enterDetached(session)
    goOnDetached(session)
  }

  /// The one that goes first. Of how many stays are over nothing but this keeps an app from making as many as it likes; so
  /// they take nobody's place who may still play.
  var firstToGo: GameSession? { concluded.longest ?? detached.longest }

  func publishLongest() {
    let since = firstToGo.map { Int(clamping: $0.changedAt.nanoseconds) } ?? .max
    // Those of all loops come before the others.
    shared.longestDetached[index].set(concluded.longest == nil ? since : since - .max)
  }

  private func letGoLongestOfAll() {
    let loops = shared.longestDetached.indices.min {
      shared.longestDetached[$0].value < shared.longestDetached[$1].value
    }
    if let loop = loops { shared.mailboxes[loop].post(.letGoLongest) }
  }

  /// One at a time: the next one may be another loop's.
  func letGoLongest() {
    guard shared.away.value > mostDetached else { return }
    if let session = firstToGo { endDetached(session, .letGo) }
    if shared.away.value > mostDetached { letGoLongestOfAll() }
  }

  /// A restart takes all connections at once, and those who played have not gone away by themselves: as many as were taken
  /// up may wait, however few `MAX_DETACHED` says.
  private var mostDetached: Int {
    isRestarting ? .max : max(settings.limits.detached, shared.takenUp.value)
  }

  func endAllDetached(_ reason: SessionEnd) {
    while let session = firstToGo { endDetached(session, reason) }
  }

  // MARK: Addresses

  /// It counts for its player's address, beside the sessions that have a connection. Where these are too many the longest
  /// one goes.
  func countForAddress(_ session: GameSession) {
    session.detachment?.isCountedForAddress = true
    letGo(
      shared.detachedByAddress.enter(
        reference(to: session.token), of: session.payer, isAttested: session.credential.isAttested,
        limit: settings.limits.connectionsPerAddress))
  }

  func releaseAddress(of session: GameSession) {
    guard let detachment = session.detachment, detachment.isCountedForAddress else { return }
    detachment.isCountedForAddress = false
    shared.detachedByAddress.leave(reference(to: session.token), of: session.payer)
  }

  /// Their address has too many.
  func letGo(_ surplus: [SessionReference]) {
    for session in surplus { shared.post(.end(Token(rawValue: session.token), .letGo, nil), to: session) }
  }

  // MARK: Meanwhile

  /// What the game says to a session that nobody listens to, one round.
  func serve(_ session: GameSession) {
    guard session.state == .detached, let conversation = session.game.conversation else { return }
    let kept = session.game.mayHaveInput || session.game.waits ? session.game.kept : nil
    kept?.willTry()
    defer { kept?.didTry() }
    let turn = conversation.proceedDetached(&session.game, on: self)
    countDetached(session, queued: session.game.queued)
    noteOptions(of: conversation)
    switch turn {
    case .ends(let end): endDetached(session, end)
    case .waits(let hasMore):
      accountBuffers(of: session)
      describeChanges(of: session, conversation)
      noteLeftOut(of: session)
      if hasMore { continueLater(session) }
      armDetached(session, conversation)
    }
  }

  private func countDetached(_ session: GameSession, queued: Int) {
    session.game.countBytes(in: counters)
    guard let detachment = session.detachment, detachment.countedQueue != queued else { return }
    counters.queued.add(queued - detachment.countedQueue)
    detachment.countedQueue = queued
  }

  private func armDetached(_ session: GameSession, _ conversation: SessionConversation) {
    let next = conversation.state.nextDeadline(
      keepAlive: settings.telnet.keepAlive, stallTimeout: settings.limits.writeStallTimeout, now: now)
    let due = min(expiry(of: session), next)
    guard let detachment = session.detachment, due != detachment.alarm.deadline else { return }
    detachment.alarm.set(at: due, for: session.token, in: wheel)
  }

  private func expiry(of session: GameSession) -> MonotonicTime {
    session.changedAt + settings.sessions.resumableFor
  }

  /// A reload may have made the time shorter, also of those who wait already.
  func timeDetached() {
    sessions.forEach { session in
      guard session.state == .detached || session.state == .concluded, let detachment = session.detachment
      else {
        return
      }
      let expiry = expiry(of: session)
      if expiry < detachment.alarm.deadline {
        detachment.alarm.set(at: expiry, for: session.token, in: wheel)
      }
    }
  }

  func entryExpired(_ session: GameSession, tick: UInt64) {
    guard let detachment = session.detachment,
      detachment.alarm.rings(tick: tick, for: session.token, in: wheel, now: now), session.connection == nil
    else { return }
    let expiry = expiry(of: session)
    if now >= expiry { return endDetached(session, .expired) }
    detachment.alarm.set(at: expiry, for: session.token, in: wheel)
    serve(session)
  }

  /// The end of a session that has no connection. What its player is still to read stays, unless nobody could ask for it.
  func endDetached(_ session: GameSession, _ reason: SessionEnd) {
    let end = ConnectionEnd.session(reason)
    if !session.isOver { counters.noteStall(end) }
    if reason == .letGo || reason == .expired {
      shared.log.sessionLetGo(session.name, reason, waited: now - session.changedAt)
    }
    if !session.isOver { session.game.conversation?.state.over(reason) }
    if reason.leavesWord, !isDraining, !isStopped, !session.isOver {
      conclude(session, because: end)
      countDetached(session, queued: 0)
      session.game.leg = nil
      accountBuffers(of: session)
    } else {
      self.end(session, because: end)
      release(session)
    }
  }
}

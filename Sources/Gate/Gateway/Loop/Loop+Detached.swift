/// Sessions without a connection: how a loop keeps them, serves them, lets them go, and hands them over to whoever comes
/// back, be it on this loop or on another.
///
/// | what | bound |
/// |---|---|
/// | sessions without a connection, concluded ones too | `MAX_DETACHED`: the longest one goes, of those that are concluded first |
/// | those of an address without an attested key | 5 |
/// | their time | `SESSION_RESUME_FOR` |
/// | their messages | `SESSION_BUFFER` each, `SESSION_BUFFERS_TOTAL` together with those of attached ones |
internal import Addresses
internal import Bytes
internal import Configuration
internal import KeyStore
internal import Sockets
internal import System

/// A connection that has proved its credential asks for the session that it names.
struct Takeover: Sendable {
  let session: Token
  let id: SessionIDHash
  /// How many messages the app has received.
  let received: Int
  let credential: Credential
  /// The upgrade, by the name of its session.
  let by: SessionReference
  /// Where the answer goes.
  let mailbox: Mailbox
}

enum TakeoverAnswer: Sendable {
  case session(SessionParcel)
  /// There is no such session for this app.
  case unknown
  /// It is not there any more: ended, or handed over to another connection.
  case gone
}

extension Loop {
  // MARK: Detaching

  /// Whether somebody may come back after `end`.
  func canStay(_ session: GameSession, after end: ConnectionEnd?) -> Bool {
    guard let conversation = session.game.conversation, conversation.isResumable, !isStopped, !isDraining
    else {
      return false
    }
    if session.isOver { return conversation.hasUnacknowledged && (end?.leavesWord ?? true) }
    return end?.endsResumable != true
  }

  /// The session goes on without `connection`, for a while.
  func detach(_ session: GameSession, from connection: Connection, because end: ConnectionEnd?) {
    shared.sessions.decrement()
    if !session.isOver {
      if let keyID = session.credential.keyID {
        shared.register.detach(reference(to: session.token), of: keyID)
      }
    }
    session.detach(now: now)
    shared.log.sessionDetached(connection, session, end)
    session.game.conversation?.detach()
    if session.isOver { session.game.leg = nil }
    // Who is taken over is away for no longer than it takes.
    if !session.isOver, end != .takenOver { countForAddress(session, leaving: connection) }
    enterAway(session)
    accountBuffers(of: session)
    serve(session)
  }

  /// Counts it among those without a connection, and lets the longest one go when there are too many.
  private func enterAway(_ session: GameSession) {
    session.alarm.set(at: session.changedAt + settings.sessions.resumableFor, for: session.token, in: wheel)
    if session.state == .concluded { concluded.enter(session) } else { away.enter(session) }
    publishLongest()
    if shared.away.increment() > settings.limits.detached { letGoLongestOfAll() }
  }

  /// Somebody has come back, or nobody can any more.
  func leaveAway(_ session: GameSession) {
    releaseAddress(of: session)
    shared.away.decrement()
    if session.state == .concluded { concluded.leave(session) } else { away.leave(session) }
    publishLongest()
    session.alarm.clear()
  }

  /// The one that goes first. Of how many stays are over nothing but this keeps an app from making as many as it likes; so
  /// they take nobody's place who may still play.
  private var firstToGo: GameSession? { concluded.longest ?? away.longest }

  func publishLongest() {
    let since = firstToGo.map { Int(clamping: $0.changedAt.nanoseconds) } ?? .max
    // Those of all loops come before the others.
    shared.longestAway[index].set(concluded.longest == nil ? since : since - .max)
  }

  private func letGoLongestOfAll() {
    let loops = shared.longestAway.indices.min { shared.longestAway[$0].value < shared.longestAway[$1].value }
    if let loop = loops { shared.mailboxes[loop].post(.letGoLongest) }
  }

  /// One at a time: the next one may be another loop's.
  func letGoLongest() {
    guard shared.away.value > settings.limits.detached else { return }
    if let session = firstToGo { endAway(session, .letGo) }
    if shared.away.value > settings.limits.detached { letGoLongestOfAll() }
  }

  func endAllAway(_ reason: SessionEnd) {
    while let session = firstToGo { endAway(session, reason) }
  }

  // MARK: Addresses

  /// It counts for its player's address, behind the connections that are open. Where these are too many the longest one
  /// goes.
  /// - Parameter leaving: a connection that is still counted, and no longer carries it.
  private func countForAddress(_ session: GameSession, leaving connection: Connection?) {
    let address = session.source.address.accountingPrefix
    let open = shared.addressCounts.count(of: address) - (connection?.isCounted == true ? 1 : 0)
    session.isCountedForAddress = true
    let surplus = shared.awayByAddress.enter(
      reference(to: session.token), of: address, isAttested: session.credential.keyID != nil,
      limit: settings.limits.connectionsPerAddress - open)
    if let surplus { shared.post(.end(Token(rawValue: surplus.token), .letGo, nil), to: surplus) }
  }

  func releaseAddress(of session: GameSession) {
    guard session.isCountedForAddress else { return }
    session.isCountedForAddress = false
    shared.awayByAddress.leave(reference(to: session.token), of: session.source.address.accountingPrefix)
  }

  // MARK: Meanwhile

  /// What the game says to a session that nobody listens to, one round.
  func serve(_ session: GameSession) {
    guard session.state == .detached, let conversation = session.game.conversation else { return }
    switch conversation.proceedDetached(&session.game, on: self) {
    case .ends(let end): endAway(session, end)
    case .waits(let hasMore):
      accountBuffers(of: session)
      noteLeftOut(of: session)
      if hasMore { continueLater(session) }
      armAway(session, conversation)
    }
  }

  private func armAway(_ session: GameSession, _ conversation: Conversation) {
    let expiry = session.changedAt + settings.sessions.resumableFor
    let next = conversation.nextDeadline(
      keepAlive: settings.telnet.keepAlive, stallTimeout: settings.limits.writeStallTimeout, now: now)
    let due = min(expiry, next)
    if due != session.alarm.deadline { session.alarm.set(at: due, for: session.token, in: wheel) }
  }

  func entryExpired(_ session: GameSession, tick: UInt64) {
    guard session.alarm.rings(tick: tick, for: session.token, in: wheel, now: now) else { return }
    if session.connection != nil { return }
    let expiry = session.changedAt + settings.sessions.resumableFor
    if now >= expiry { return endAway(session, .expired) }
    session.alarm.set(at: expiry, for: session.token, in: wheel)
    serve(session)
  }

  /// The end of a session that has no connection. What its player is still to read stays, unless nobody could ask for it.
  func endAway(_ session: GameSession, _ reason: SessionEnd) {
    let end = ConnectionEnd.session(reason)
    if reason == .letGo || reason == .expired { shared.log.sessionLetGo(session, reason, now: now) }
    if !session.isOver { session.game.conversation?.over(reason) }
    if reason.leavesWord, !isDraining, !isStopped, !session.isOver {
      conclude(session, because: end)
      session.game.leg = nil
      accountBuffers(of: session)
    } else {
      self.end(session, because: end)
      release(session)
    }
  }

  // MARK: Buffers

  /// Keeps the sum of all sessions' messages; when it is too large, the fullest of those without a connection lose their
  /// oldest ones.
  func accountBuffers(of session: GameSession) {
    guard let conversation = session.game.conversation else { return }
    let change = conversation.takeBufferChange()
    let sum = shared.buffers.change(by: change)
    guard change > 0, sum > settings.limits.sessionBuffersBytes else { return }
    if now >= levelsFrom {
      levelBuffers()
      if shared.buffers.value > settings.limits.sessionBuffersBytes { askOthersToLevel() }
    } else if session.connection == nil {
      // All were looked at in this turn already: it gives back what it took.
      conversation.evict(downTo: max(0, conversation.heldBytes - change))
      _ = shared.buffers.change(by: conversation.takeBufferChange())
    }
  }

  func giveBackBuffers(of session: GameSession) {
    guard let conversation = session.game.conversation else { return }
    conversation.forgetMessages()
    _ = shared.buffers.change(by: conversation.takeBufferChange())
  }

  /// What there is too much of is not here, or of those that are attached: that is not looked for in each turn.
  private func askOthersToLevel() {
    levelsFrom = now + Self.levellingPause
    for other in shared.mailboxes.indices where other != index { shared.mailboxes[other].post(.levelBuffers) }
  }

  private static let levellingPause: Duration = .milliseconds(100)

  /// Takes the excess, and a hundredth of the whole so that this is not asked for with each message, off the fullest.
  func levelBuffers() {
    // At most once a turn.
    levelsFrom = now + .nanoseconds(1)
    guard firstToGo != nil, shared.buffers.value > settings.limits.sessionBuffersBytes else { return }
    let wanted =
      shared.buffers.value - settings.limits.sessionBuffersBytes + settings.limits.sessionBuffersBytes / 100
    var fullest: [(bytes: Int, conversation: Conversation)] = []
    sessions.forEach { session in
      guard session.connection == nil, let conversation = session.game.conversation else { return }
      if conversation.heldBytes > 0 { fullest.append((conversation.heldBytes, conversation)) }
    }
    fullest.sort { $0.bytes > $1.bytes }
    var excess = wanted
    for (index, entry) in fullest.enumerated() where excess > 0 {
      // As far down as the next one stands, so that nobody loses more than the others.
      let next = index + 1 < fullest.count ? fullest[index + 1].bytes : 0
      let before = entry.bytes
      entry.conversation.evict(downTo: max(next / 2, before - excess))
      excess -= before - entry.conversation.heldBytes
      _ = shared.buffers.change(by: entry.conversation.takeBufferChange())
    }
  }

  // MARK: Handing over

  /// Hands the session that `takeover` names to the connection that asks, when it is its own.
  func handOver(_ takeover: Takeover) {
    guard let session = sessions.find(takeover.session),
      let conversation = session.game.conversation, conversation.isKnown(by: takeover.id)
    else { return takeover.answer(.gone) }
    guard session.credential.isSame(as: takeover.credential), conversation.canResume(after: takeover.received)
    else {
      return takeover.answer(.unknown)
    }
    // From here on nothing more of the old connection's is read.
    if let connection = session.connection { turn(of: connection) { $0.takenOver() } }
    guard session.state == .detached || session.state == .concluded else { return takeover.answer(.gone) }
    leaveAway(session)
    if let keyID = session.credential.keyID, !session.isOver {
      shared.register.leave(reference(to: session.token), of: keyID)
    }
    session.game.leave(poller)
    let ids = conversation.ids
    let parcel = session.pack()
    release(session)
    // From here on all of it is the other loop's.
    takeover.answer(.session(parcel))
    // Behind the parcel: who finds the new place asks there behind it.
    let place = reference(to: takeover.session)
    for id in ids { shared.directory.move(id, from: place, to: takeover.by) }
  }

  /// What `handOver` has answered to the upgrade that `token` names.
  func handedOver(_ token: Token, _ answer: TakeoverAnswer) {
    guard let session = sessions.find(token), session.state == .opening, let connection = session.connection
    else {
      if case .session(let parcel) = answer { shelter(parcel) }
      return
    }
    if case .session(let parcel) = answer { adopt(parcel, as: session) }
    turn(of: connection) { $0.handedOver(answer, session) }
  }

  /// Nobody waits for it any more: it goes on without a connection, here.
  private func shelter(_ parcel: SessionParcel) {
    let token = sessions.reserve()
    let session = GameSession(token: token, taking: parcel)
    sessions.insert(session, at: token)
    settle(session)
    if !session.isOver { countForAddress(session, leaving: nil) }
    // It was in nobody's list for a moment, in which its key may have been revoked.
    if let keyID = session.credential.keyID, shared.store.isRevoked(keyID) {
      return endAway(session, .keyRevoked)
    }
    if isDraining || isStopped { return endAway(session, .draining) }
    serve(session)
  }

  private func adopt(_ parcel: SessionParcel, as session: GameSession) {
    session.take(parcel)
    settle(session)
  }

  /// It lives here from now on, without a connection at first.
  private func settle(_ session: GameSession) {
    if let keyID = session.credential.keyID {
      let reference = reference(to: session.token)
      // Only its last words are left of one that is over, and the upgrade that has asked for them waits for no stay any more.
      if session.isOver {
        shared.register.leave(reference, of: keyID)
      } else {
        shared.register.detach(reference, of: keyID)
      }
    }
    for id in session.game.conversation?.ids ?? [] {
      shared.directory.place(id, at: reference(to: session.token))
    }
    session.game.enter(poller, token: session.token)
    enterAway(session)
    carryOutOrders(on: session)
  }

  func forgetIDs(of session: GameSession) {
    for id in session.game.conversation?.ids ?? [] { shared.directory.remove(id) }
  }
}

extension Takeover {
  func answer(_ answer: TakeoverAnswer) {
    mailbox.post(.handedOver(Token(rawValue: by.token), answer))
  }
}

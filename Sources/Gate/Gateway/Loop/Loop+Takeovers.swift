/// Sessions on their way to a connection that asks for them, which is this loop's or another's (docs/sessions.md, "Resuming").
internal import Addresses
internal import Admission
internal import Bytes
internal import Configuration
internal import Conversation
internal import KeyStore
internal import Scheduling
internal import SessionWire
internal import Sockets
internal import System
internal import Telemetry

/// A connection that has proved its credential asks for the session that it names.
struct Takeover: Sendable {
  let session: Token
  let id: SessionIDHash
  /// Only if no upgrade has resumed it by that id yet: as it was signed, it could be presented again.
  let isOnce: Bool
  /// How many messages the app has received.
  let received: Int
  let credential: Credential
  /// Of two upgrades the later one wins, in whatever order they come to ask.
  let order: UInt64
  /// The upgrade, by the name of its session.
  let by: SessionReference
  /// Where the answer goes.
  let mailbox: Mailbox
}

enum TakeoverAnswer: Sendable {
  case session(SessionHandover)
  /// There is no such session for this app.
  case unknown
  /// A later upgrade of the same app has it.
  case late
  /// It is not there any more: ended, or handed over to another connection.
  case gone
}

extension Loop {
  /// Hands the session that `takeover` names to the connection that asks, when it is its own.
  func handOver(_ takeover: Takeover) {
    guard let session = sessions.find(takeover.session),
      let conversation = session.game.conversation, conversation.state.isKnown(by: takeover.id)
    else { return takeover.answer(.gone) }
    guard session.credential.isSame(as: takeover.credential),
      conversation.state.ledger.outgoing.wasSent(takeover.received),
      !takeover.isOnce || conversation.state.isPresent(takeover.id)
    else {
      return takeover.answer(.unknown)
    }
    guard takeover.order >= conversation.state.ledger.upgradeOrder else { return takeover.answer(.late) }
    // From here on nothing more of the old connection's is read.
    if let connection = session.connection {
      changingHands = session
      turn(of: connection) { $0.takenOver() }
      changingHands = nil
    }
    guard session.state == .detached || session.state == .concluded else { return takeover.answer(.gone) }
    leaveDetached(session)
    if !session.isOver {
      for owner in session.credential.owners {
        shared.register.leave(reference(to: session.token), of: owner)
      }
    }
    session.game.leave(poller)
    let ids = conversation.state.ledger.ids
    let handover = session.pack()
    release(session)
    // From here on all of it is the other loop's.
    takeover.answer(.session(handover))
    // After the handover: who finds the new place asks there after it.
    let place = reference(to: takeover.session)
    for id in ids { shared.directory.move(id, from: place, to: takeover.by) }
  }

  /// What `handOver` has answered to the upgrade that `token` names.
  func handedOver(_ token: Token, _ answer: TakeoverAnswer) {
    guard let session = sessions.find(token), session.state == .opening, let connection = session.connection
    else {
      if case .session(let handover) = answer { shelter(handover) }
      return
    }
    if case .session(let handover) = answer { adopt(handover, as: session) }
    turn(of: connection) { $0.handedOver(answer, session) }
    staysDetached(session)
  }

  /// Nobody waits for it any more: it goes on without a connection, here.
  private func shelter(_ handover: SessionHandover) {
    let token = sessions.reserve()
    let session = GameSession(token: token, taking: handover, counts: counters.sessions)
    sessions.insert(session, at: token)
    settle(session)
    goOnDetached(session)
  }

  /// What has come here goes on without a connection.
  func goOnDetached(_ session: GameSession) {
    if !session.isOver { countForAddress(session) }
    session.game.conversation?.state.keepWithinRoom(now: now)
    accountBuffers(of: session)
    // It was in nobody's list for a moment, in which its key may have been revoked.
    if shared.isShutOut(session.credential) {
      return endDetached(session, .keyRevoked)
    }
    if !goesOn(session) { return endDetached(session, .draining) }
    // It came after the others.
    if isStopped { return handOverSessions() }
    serve(session)
  }

  private func adopt(_ handover: SessionHandover, as session: GameSession) {
    session.take(handover)
    settle(session, isAwaited: true)
  }

  /// It lives here from now on, without a connection at first.
  /// - Parameter isAwaited: a connection takes it up in this turn.
  func settle(_ session: GameSession, isAwaited: Bool = false) {
    let place = reference(to: session.token)
    for owner in session.credential.owners {
      // Only its last words are left of one that is over, and the upgrade that has asked for them waits for no stay any more.
      if session.isOver {
        shared.register.leave(place, of: owner)
      } else {
        shared.register.detach(place, of: owner)
      }
    }
    for id in session.game.conversation?.state.ledger.ids ?? [] {
      shared.directory.place(id, at: place)
    }
    session.game.enter(poller, token: session.token)
    if !isAwaited { enterDetached(session) }
    carryOutOrders(on: session)
  }

  func forgetIDs(of session: GameSession) {
    for id in session.game.conversation?.state.ledger.ids ?? [] { shared.directory.remove(id) }
  }
}

extension Takeover {
  func answer(_ answer: TakeoverAnswer) {
    mailbox.post(.handedOver(Token(rawValue: by.token), answer))
  }
}

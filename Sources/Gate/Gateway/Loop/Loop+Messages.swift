/// What other threads tell a loop, and what it does about it.
internal import Admission
internal import KeyStore
internal import Scheduling
internal import System

extension Loop {
  func receive(_ message: LoopMessage) {
    switch message {
    case .found(let token, let finding):
      withSession(token) { session, connection in connection.found(finding, session) }
    case .committed(let token, let result):
      withSession(token) { session, connection in connection.committed(result, session) }
    case .stored(let token): withSession(token) { session, connection in connection.stored(session) }
    case .superseded(let token):
      withSession(token) { _, connection in connection.superseded() }
    case .attested(let token, let request, let key, let challenge):
      enter(key, spending: challenge, for: token, request)
    case .answer(let token, let request, let answer):
      withConnection(token) { $0.answered(request, answer) }
    case .end(let token, let end, let ending):
      guard let session = sessions.find(token), session.tells(ending) else {
        ending?.note()
        return
      }
      self.end(session, fromOutside: end)
    case .revoked(let question): question.answer()
    case .notice(let token, let notice):
      withSession(token) { session, connection in connection.tell(notice, session) }
    case .token(let token, of: let device):
      shared.acceptedTokens.insert(token, of: device)
      // What it was first shown for counts as well; it is over, whatever the device has left.
      _ = shared.deviceRates.take(device, settings.deviceAllowance, now: now)
    case .takeOver(let takeover): handOver(takeover)
    case .handedOver(let token, let answer): handedOver(token, answer)
    case .letGoLongest: letGoLongest()
    case .level(let round): tell(round)
    case .cut(let cuts): carryOut(cuts)
    case .reload(let settings, let taken):
      self.settings = settings
      timeDetached()
      taken.acknowledge(by: index)
    case .drain(let spread):
      isDraining = true
      endAllDetached(.draining)
      drain.begin(sessions: sessionTokens(), spread: spread, now: now)
    case .restart(let spread): beginRestart(spread: spread)
    case .abandon:
      isStopped = true
      connections.forEach { turn(of: $0) { $0.abandon() } }
      if isRestarting { handOverSessions() }
      endAllDetached(.draining)
    case .listSessions(let reply): reply(sessionDescriptions)
    case .close(let order): carryOut(order)
    case .pass(let latch): latch.countDown()
    case .acknowledge(let acknowledgement): acknowledgement.acknowledge(by: index)
    case .stop:
      isStopped = true
      connections.forEach { turn(of: $0) { $0.close() } }
      endAllDetached(.draining)
    }
  }

  func withConnection(_ token: Token, _ body: (Connection) -> Void) {
    if let connection = connections.find(token) { turn(of: connection, body) }
  }

  private func withSession(_ token: Token, _ body: (GameSession, Connection) -> Void) {
    guard let session = sessions.find(token), let connection = session.connection else { return }
    turn(of: connection) { body(session, $0) }
  }

  func sessionTokens() -> [Token] {
    var tokens: [Token] = []
    sessions.forEach { if $0.state != .ended { tokens.append($0.token) } }
    return tokens
  }

  func advanceDrain() {
    if !isDraining { return }
    for token in drain.due(now: now) {
      withSession(token) { _, connection in connection.endFromOutside(.draining) }
    }
  }
}

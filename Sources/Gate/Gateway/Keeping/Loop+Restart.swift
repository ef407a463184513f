/// What becomes of a loop's sessions when the gate gives way to its next process (docs/restarts.md, "What a restart keeps").
///
/// Those that are kept lose their connections and nothing else. All others end, as they do when the gate is stopped for good.
internal import Admission
internal import Scheduling
internal import System

extension Loop {
  /// No connection is accepted any more, and each app that is connected is told to reconnect.
  func beginRestart(spread: Duration) {
    isDraining = true
    isRestarting = true
    acceptor.close(poller)
    for session in sessionsDetached where !session.isKept { endDetached(session, .draining) }
    drain.begin(sessions: sessionTokens(), spread: spread, now: now)
  }

  /// The last thing that happens to them here: all that is theirs goes to the next process, and their games notice nothing.
  func handOverSessions() {
    for session in sessionsDetached where session.isKept {
      shared.storeClient?.pack(session)
      leaveDetached(session)
      if !session.isOver {
        for owner in session.credential.owners {
          shared.register.leave(reference(to: session.token), of: owner)
        }
      }
      forgetIDs(of: session)
      giveBackBuffers(of: session)
      release(session)
    }
  }

  /// Without a connection, concluded ones too.
  private var sessionsDetached: [GameSession] {
    var found: [GameSession] = []
    sessions.forEach { if $0.state == .detached || $0.state == .concluded { found.append($0) } }
    return found
  }
}

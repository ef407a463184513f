/// Revoking a key of a running gate: durable first, then its live sessions end (SPEC §3, §8).
package import Bytes
internal import KeyStore
internal import System

/// What a revocation came to.
package enum RevocationOutcome: Equatable, Sendable {
  /// Durable, and none of the key's sessions is left of so many.
  case revoked(sessions: Int)
  case unknownKey
  /// In force in memory, but not known to be on disk.
  case notDurable
  /// Durable, but so many sessions were still there after the wait.
  case sessionsRemain(Int)
}

extension Gate {
  /// Blocks its caller, which is never a loop, for up to a few seconds.
  package func revokeKey(_ keyID: KeyIdentifier) -> RevocationOutcome {
    let commit = Monitor<KeyStore.CommitResult?>(nil)
    let verdict = shared.store.revoke(keyID, now: shared.clock.wall()) { result in
      commit.withLock { state, wake in
        state = result
        wake.all()
      }
    }
    guard case .revoked(_, let sessions) = verdict else { return verdict == .unknownKey ? .unknownKey : .notDurable }
    for session in sessions { shared.post(.end(Token(rawValue: session.token), .keyRevoked), to: session) }
    guard commit.wait({ $0.map { .done($0) } ?? .wait }) == .committed else { return .notDurable }
    // A session leaves the list when its connection is through with the player; a silent one is given a while.
    let deadline = shared.clock.monotonic() + Self.revocationPatience
    let pause = Signal()
    while true {
      let left = shared.store.sessions(of: keyID).count
      if left == 0 { return .revoked(sessions: sessions.count) }
      if shared.clock.monotonic() >= deadline { return .sessionsRemain(left) }
      pause.wait(until: SystemClock().monotonic() + .milliseconds(5))
    }
  }

  private static let revocationPatience: Duration = .seconds(8)
}

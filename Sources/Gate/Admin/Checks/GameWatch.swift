/// Whether the game is there: known from players' connects where there are any, and else by calling it now and then.
package import System

package struct GameWatch: Sendable {
  package enum Standing: Equatable, Sendable {
    /// It has not been called yet.
    case unknown
    case up
    /// Why a connect fails, as the system says it.
    case away(String)
  }

  /// What the gate knows of the connects that it makes for players.
  package struct Connects: Equatable, Sendable {
    /// Of the last one, if it failed.
    package let failedAt: MonotonicTime?
    /// With a connection to the game each.
    package let sessions: Int

    package init(failedAt: MonotonicTime?, sessions: Int) {
      self.failedAt = failedAt
      self.sessions = sessions
    }
  }

  /// While nobody plays: a game that logs each connect is not filled up by this.
  package static let idleInterval: Duration = .seconds(30)
  /// Until it is back, and where readiness goes by it: what a probe is told is not older than five seconds.
  package static let closeInterval: Duration = .seconds(4)
  /// For a call.
  package static let patience: Duration = .seconds(1)

  private var calledAt: MonotonicTime?
  private var failure: String?

  package init() {}

  /// Whether to call it now; not where players' connects and sessions say all there is to know.
  /// - Parameter isNeeded: by `READY_NEEDS`.
  package func isCallDue(_ connects: Connects, isNeeded: Bool, now: MonotonicTime) -> Bool {
    guard let calledAt else { return true }
    if standing(connects) != .up { return now - calledAt >= Self.closeInterval }
    return connects.sessions == 0
      && now - calledAt >= (isNeeded ? Self.closeInterval : Self.idleInterval)
  }

  /// - Parameter failure: nil when it took the call.
  package mutating func note(call failure: String?, at now: MonotonicTime) {
    calledAt = now
    self.failure = failure
  }

  package func standing(_ connects: Connects) -> Standing {
    if let failedAt = connects.failedAt, failedAt >= calledAt ?? failedAt {
      return .away(failure ?? "a player's connect failed")
    }
    guard calledAt != nil else { return connects.sessions > 0 ? .up : .unknown }
    // It took somebody's call since, whatever ours came to.
    if connects.failedAt == nil, connects.sessions > 0 { return .up }
    return failure.map { .away($0) } ?? .up
  }
}

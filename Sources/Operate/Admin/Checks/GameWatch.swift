/// Whether the game is there: known from players' connects where there are any, and else by calling it now and then.
package import Time

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
  /// Until it is back, and where readiness goes by it. With a second until somebody looks, and what a call may take until it
  /// is overdue, what a probe is told is not older than five seconds.
  package static let closeInterval: Duration = .milliseconds(2500)
  /// For a call.
  package static let patience: Duration = .seconds(1)
  /// A call that should have ended long ago.
  private static let overdue: Duration = .milliseconds(1500)

  private var calledAt: MonotonicTime?
  private var failure: String?
  /// Since when a call has been due; nil while none is.
  private var dueAt: MonotonicTime?

  package init() {}

  /// Whether to call it now; not where players' connects and sessions say all there is to know.
  /// - Parameter isNeeded: by `READY_NEEDS`.
  package func isCallDue(_ connects: Connects, isNeeded: Bool, now: MonotonicTime) -> Bool {
    guard let calledAt else { return true }
    if standing(connects) != .up { return now - calledAt >= Self.closeInterval }
    return connects.sessions == 0
      && now - calledAt >= (isNeeded ? Self.closeInterval : Self.idleInterval)
  }

  /// The same, at each look: since when one is due is remembered.
  package mutating func look(_ connects: Connects, isNeeded: Bool, now: MonotonicTime) -> Bool {
    let isDue = isCallDue(connects, isNeeded: isNeeded, now: now)
    dueAt = isDue ? dueAt ?? now : nil
    return isDue
  }

  /// - Parameter failure: nil when it took the call.
  package mutating func note(call failure: String?, at now: MonotonicTime) {
    calledAt = now
    self.failure = failure
    dueAt = nil
  }

  /// For how long a call has been due, where it should have come to something by now; else nil.
  package func lateness(now: MonotonicTime) -> Duration? {
    guard let dueAt, now - dueAt > Self.overdue else { return nil }
    return now - dueAt
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

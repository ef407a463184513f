/// Who is signed in with a browser: in memory alone, so that a restart signs everybody out (docs/console.md,
/// "Signing in").
package import Bytes
package import Time

package struct AdminSessions: Sendable {
  package struct Session: Sendable {
    /// As `admin list` has it; none is given twice.
    package let number: UInt64
    package let user: String
    /// What each form of a page carries.
    package let formToken: String
    package let startedAt: UnixTime
    package fileprivate(set) var lastUsedAt: UnixTime
    fileprivate let hash: Bytes32
    fileprivate let end: MonotonicTime
    fileprivate var idleEnd: MonotonicTime
  }

  /// A working day: an operator signs in again the next morning.
  package static let lifetime: Duration = .seconds(12 * 3600)
  /// A tab that was left open is nobody at work.
  package static let idleTime: Duration = .seconds(30 * 60)
  /// Of one user: browsers and their private windows; the one that was used least recently goes.
  package static let limitPerUser = 8
  package static let limit = 64

  private var sessions: [Session] = []
  private var made: UInt64 = 0

  package init() {}

  /// - Parameters:
  ///   - hash: of what the cookie says.
  package mutating func begin(
    _ hash: Bytes32, formToken: String, user: String, now: MonotonicTime, at time: UnixTime
  ) -> UInt64 {
    removeEnded(now)
    if sessions.count(where: { $0.user == user }) >= Self.limitPerUser { removeIdlest { $0 == user } }
    if sessions.count >= Self.limit { removeIdlest { _ in true } }
    made += 1
    sessions.append(
      Session(
        number: made, user: user, formToken: formToken, startedAt: time, lastUsedAt: time, hash: hash,
        end: now + Self.lifetime, idleEnd: now + Self.idleTime))
    return made
  }

  /// The session that a cookie names; nil where there is none any more.
  /// - Parameter isActivity: it is used by that, and not by a page that is open somewhere and looks again by itself.
  package mutating func use(
    _ hash: Bytes32, isActivity: Bool = true, now: MonotonicTime, at time: UnixTime
  ) -> Session? {
    var found: Int?
    for (place, session) in sessions.enumerated()
    where session.hash.equalsInConstantTime(hash) && session.isGood(now) {
      found = place
    }
    guard let found else { return nil }
    if isActivity {
      sessions[found].lastUsedAt = time
      sessions[found].idleEnd = now + Self.idleTime
    }
    return sessions[found]
  }

  package func holds(_ number: UInt64, now: MonotonicTime) -> Bool {
    sessions.contains { $0.number == number && $0.isGood(now) }
  }

  /// The oldest first.
  package mutating func all(_ now: MonotonicTime) -> [Session] {
    removeEnded(now)
    return sessions
  }

  /// - Returns: how many there were.
  package mutating func end(_ now: MonotonicTime, where isMeant: (Session) -> Bool) -> Int {
    removeEnded(now)
    let count = sessions.count
    sessions.removeAll(where: isMeant)
    return count - sessions.count
  }

  private mutating func removeEnded(_ now: MonotonicTime) { sessions.removeAll { !$0.isGood(now) } }

  private mutating func removeIdlest(of isMeant: (String) -> Bool) {
    let candidates = sessions.indices.filter { isMeant(sessions[$0].user) }
    guard let idlest = candidates.min(by: { sessions[$0].idleEnd < sessions[$1].idleEnd }) else { return }
    sessions.remove(at: idlest)
  }
}

extension AdminSessions.Session {
  fileprivate func isGood(_ now: MonotonicTime) -> Bool { now < end && now < idleEnd }
}

/// The addresses by which operators sign in: each works once, and for a minute (docs/console.md, "Signing in").
package import Bytes
package import Time

package struct SignInLinks: Sendable {
  package struct Link: Sendable {
    /// The system user that has asked for it.
    package let user: String
    package let madeAt: UnixTime
    fileprivate let hash: Bytes32
    fileprivate let end: MonotonicTime
  }

  /// From the terminal to the browser; found later in a history or a log it is of no use.
  package static let lifetime: Duration = .seconds(60)
  /// Of one user, as it is made in a moment and a script may make many; the oldest goes.
  package static let limitPerUser = 8
  package static let limit = 64

  private var links: [Link] = []

  package init() {}

  package mutating func add(_ hash: Bytes32, for user: String, now: MonotonicTime, at time: UnixTime) {
    removeEnded(now)
    if links.count(where: { $0.user == user }) >= Self.limitPerUser,
      let oldest = links.firstIndex(where: { $0.user == user })
    {
      links.remove(at: oldest)
    }
    if links.count >= Self.limit { links.removeFirst() }
    links.append(Link(user: user, madeAt: time, hash: hash, end: now + Self.lifetime))
  }

  /// Whose it is, without using it up; nil for one that does not work.
  package func owner(of hash: Bytes32, now: MonotonicTime) -> String? {
    place(of: hash, now).map { links[$0].user }
  }

  /// The same, and it works no more.
  package mutating func use(_ hash: Bytes32, now: MonotonicTime) -> String? {
    place(of: hash, now).map { links.remove(at: $0).user }
  }

  /// Those that still work, the oldest first.
  package mutating func pending(_ now: MonotonicTime) -> [Link] {
    removeEnded(now)
    return links
  }

  /// - Returns: how many there were.
  package mutating func remove(where isMeant: (String) -> Bool) -> Int {
    let count = links.count
    links.removeAll { isMeant($0.user) }
    return count - links.count
  }

  private mutating func removeEnded(_ now: MonotonicTime) { links.removeAll { $0.end <= now } }

  /// Looks at all, in time that tells nothing of them.
  private func place(of hash: Bytes32, _ now: MonotonicTime) -> Int? {
    var found: Int?
    for (place, link) in links.enumerated() where link.hash.equalsInConstantTime(hash) && now < link.end {
      found = place
    }
    return found
  }
}

extension SignInLinks.Link {
  package func timeLeft(_ now: MonotonicTime) -> Duration { end - now }
}

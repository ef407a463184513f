/// A loop's sessions without a connection, by how long they have been so: entered at one end, looked at from the other, and
/// left from anywhere, in constant time and without memory of its own.

struct DetachedList {
  private(set) var longest: GameSession?
  private var latest: GameSession?

  mutating func enter(_ session: GameSession) {
    session.detachment?.neighbours.older = latest
    latest?.detachment?.neighbours.newer = session
    latest = session
    if longest == nil { longest = session }
  }

  mutating func leave(_ session: GameSession) {
    let older = session.detachment?.neighbours.older
    let newer = session.detachment?.neighbours.newer
    if longest === session { longest = newer }
    if latest === session { latest = older }
    older?.detachment?.neighbours.newer = newer
    newer?.detachment?.neighbours.older = older
    session.detachment?.neighbours = Neighbours()
  }

  /// Kept with each session, and the list's alone to change.
  struct Neighbours {
    /// The list is taken apart by `leave`, session by session: until then its neighbours hold each other.
    fileprivate var older: GameSession?
    fileprivate var newer: GameSession?
  }
}

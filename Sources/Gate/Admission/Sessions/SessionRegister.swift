/// Which sessions, and upgrades on their way to one, each attested key has, over all loops.
///
/// The register and the key store have locks of their own, and yet a revocation finds every session of its key, however
/// it races with an admission, because each side writes before it reads:
///
/// - An admission enters the register first, and then advances the counter in the store, which refuses a revoked key; one
///   that is refused leaves the register.
/// - A revocation first marks the key in the store, and then reads the register.
///
/// Say the store took the counter. If that came before the mark, the session was in the register before the revocation
/// read it, and is found. If it came after the mark, the counter would have been refused. From there to its `101` and
/// to its end the session stays in the register: `admit` moves it in one step. So it is told to end; and should that word
/// come while it waits for its `101`, the key is looked at again before that is sent.
///
/// A session that is taken up by a new connection changes its name on the way: the one of the upgrade that takes it up was
/// entered before its counter was advanced, and stays. So at every moment one of the two stands here, and the loop that
/// is told about the later one ends what it has taken up.
///
/// Pruning asks under the store's lock whether a key has sessions, with the same argument: a counter that was taken before
/// has its session here, one that comes after finds no key. Who was just entered and will be refused may be counted among
/// those that a revocation ends. Nobody calls the store while holding a lock of the register.
package import Bytes
internal import Synchronization

/// A session by the loop it lives on and the loop's name for it, which no later session has.
package struct SessionReference: Hashable, Sendable {
  package let loop: UInt16
  package let token: UInt64

  package init(loop: UInt16, token: UInt64) {
    self.loop = loop
    self.token = token
  }
}

package final class SessionRegister: Sendable {
  /// Sessions of one key, oldest first.
  private struct Sessions {
    var attached: [SessionReference] = []
    /// By when they were detached.
    var detached: [SessionReference] = []
    var waiting: [SessionReference] = []

    var isEmpty: Bool { attached.isEmpty && detached.isEmpty && waiting.isEmpty }

    mutating func remove(_ session: SessionReference) {
      if let index = waiting.firstIndex(of: session) {
        waiting.remove(at: index)
        // It keeps its room else, as long as the session lasts.
        if waiting.isEmpty { waiting = [] }
      } else if let index = attached.firstIndex(of: session) {
        attached.remove(at: index)
      } else if let index = detached.firstIndex(of: session) {
        detached.remove(at: index)
      }
    }

    /// As many as there are beyond `limit`: those that were detached longest, and only then the oldest attached ones.
    func surplus(beyond limit: Int) -> [SessionReference] {
      let excess = attached.count + detached.count - limit
      return excess > 0 ? Array((detached + attached).prefix(excess)) : []
    }
  }

  private final class Part: Sendable {
    let sessions = Mutex<[KeyIdentifier: Sessions]>([:])
  }

  /// Many, so that loops seldom wait for each other, and so that a dictionary that grows holds a lock only shortly.
  private let parts = (0..<256).map { _ in Part() }

  package init() {}

  private func part(of key: KeyIdentifier) -> Part {
    parts[Int(truncatingIfNeeded: key.digest.leadingWords.0 % UInt64(parts.count))]
  }

  // MARK: The way of a session

  /// One that waits for its `101`; whatever becomes of it, it has to leave.
  package func enter(_ session: SessionReference, of key: KeyIdentifier) {
    part(of: key).sessions.withLock { $0[key, default: Sessions()].waiting.append(session) }
  }

  /// One that waited has its `101`.
  /// - Returns: those that have to go, as there are more than `limit` now; they stay until they leave.
  package func admit(_ session: SessionReference, of key: KeyIdentifier, limit: Int) -> [SessionReference] {
    part(of: key).sessions.withLock { all in
      var sessions = all[key] ?? Sessions()
      sessions.remove(session)
      sessions.attached.append(session)
      all[key] = sessions
      return sessions.surplus(beyond: limit)
    }
  }

  /// One lives on without a connection.
  package func detach(_ session: SessionReference, of key: KeyIdentifier) {
    part(of: key).sessions.withLock { all in
      var sessions = all[key] ?? Sessions()
      sessions.remove(session)
      sessions.detached.append(session)
      all[key] = sessions
    }
  }

  package func leave(_ session: SessionReference, of key: KeyIdentifier) {
    part(of: key).sessions.withLock { all in
      guard var sessions = all[key] else { return }
      sessions.remove(session)
      all[key] = sessions.isEmpty ? nil : sessions
    }
  }

  // MARK: Looking

  /// Those that were admitted, then those that wait.
  package func sessions(of key: KeyIdentifier) -> [SessionReference] {
    part(of: key).sessions.withLock { all in all[key].map { $0.attached + $0.detached + $0.waiting } ?? [] }
  }

  /// The oldest of those that wait, as many as there are beyond `limit`; they stay until they leave.
  package func surplusWaiting(of key: KeyIdentifier, limit: Int) -> [SessionReference] {
    part(of: key).sessions.withLock { all in
      guard let waiting = all[key]?.waiting, waiting.count > limit else { return [] }
      return Array(waiting.dropLast(limit))
    }
  }

  package func hasSessions(of key: KeyIdentifier) -> Bool {
    part(of: key).sessions.withLock { $0[key] != nil }
  }

  /// Keys with at least one.
  package var keyCount: Int { parts.reduce(0) { $0 + $1.sessions.withLock { $0.count } } }
}

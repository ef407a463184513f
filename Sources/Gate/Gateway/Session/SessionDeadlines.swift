/// What may become due in a session as it stands: nothing else may wake its loop.
internal import Time

struct SessionDeadlines {
  /// Nil while the player is not pinged: it has to take something first, or the session is closing.
  let lastPing: MonotonicTime?
  let lastHeard: MonotonicTime
  /// Nil while nothing waits.
  let blockedSince: MonotonicTime?
  /// Until when the reply to our Close is awaited.
  let close: MonotonicTime?

  func nextPing(every interval: Duration) -> MonotonicTime? {
    lastPing.map { $0 + interval }
  }

  /// What to make of how long the player was not heard.
  enum Silence: Equatable {
    case isShort
    case isLong
    /// Long, but the loop itself stood still: the player was not pinged all the while, and what it has said may still wait to
    /// be read. It is given another ping's time, by being heard at `heard`.
    case isOurs(heard: MonotonicTime)
  }

  func silence(at now: MonotonicTime, pingInterval: Duration, pongTimeout: Duration) -> Silence {
    let silence = now - lastHeard
    if silence < pongTimeout { return .isShort }
    guard let ping = nextPing(every: pingInterval), now - ping >= max(pingInterval, Self.usualDelay) else {
      return .isLong
    }
    return .isOurs(heard: lastHeard + (silence - pongTimeout + pingInterval))
  }

  /// A ping may come so late, by the precision of all deadlines and what else a turn has to do.
  private static let usualDelay: Duration = .milliseconds(100)

  func earliest(pingInterval: Duration, pongTimeout: Duration, stallTimeout: Duration) -> MonotonicTime {
    var earliest = lastHeard + pongTimeout
    if let ping = nextPing(every: pingInterval) { earliest = min(earliest, ping) }
    if let blockedSince { earliest = min(earliest, blockedSince + stallTimeout) }
    if let close { earliest = min(earliest, close) }
    return earliest
  }
}

/// What may become due in a session as it stands: nothing else may wake its loop.
internal import System

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

  func earliest(pingInterval: Duration, pongTimeout: Duration, stallTimeout: Duration) -> MonotonicTime {
    var earliest = lastHeard + pongTimeout
    if let ping = nextPing(every: pingInterval) { earliest = min(earliest, ping) }
    if let blockedSince { earliest = min(earliest, blockedSince + stallTimeout) }
    if let close { earliest = min(earliest, close) }
    return earliest
  }
}

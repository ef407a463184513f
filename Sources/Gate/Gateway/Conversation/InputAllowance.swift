/// How often an app may say something (`INPUT_RATE`): a bucket of messages that fills by itself.
internal import Configuration
internal import System

struct InputAllowance {
  /// What one message costs.
  private let interval: Duration
  /// So far ahead of its time a message may be.
  private let burst: Duration
  /// When all that were taken would have had their time.
  private var paidUntil = MonotonicTime(nanoseconds: 0)

  init(_ rate: Rate) {
    interval = rate.per / rate.count
    burst = interval * (rate.burst - 1)
  }

  /// Takes one message; false when it has to wait.
  mutating func take(now: MonotonicTime) -> Bool {
    if next(now: now) > now { return false }
    paidUntil = max(paidUntil, now) + interval
    return true
  }

  /// When the next one may come.
  func next(now: MonotonicTime) -> MonotonicTime {
    let start = max(paidUntil, now)
    return start - now <= burst ? now : now + (start - now - burst)
  }
}

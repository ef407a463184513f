/// How often an app may say something (`INPUT_RATE`): a bucket of messages that fills by itself.
internal import Configuration
internal import System

/// In plain nanoseconds, as each message asks: a `Duration` has 128 bits.
struct InputAllowance {
  /// What one message costs.
  private let interval: UInt64
  /// So far ahead of its time a message may be.
  private let burst: UInt64
  /// When all that were taken would have had their time.
  private var paidUntil = MonotonicTime(nanoseconds: 0)

  init(_ rate: Rate) {
    let duration = rate.per / rate.count
    interval = duration.wholeNanoseconds
    burst = (duration * (rate.burst - 1)).wholeNanoseconds
  }

  /// Takes one message; false when it has to wait.
  mutating func take(now: MonotonicTime) -> Bool {
    if next(now: now) > now { return false }
    paidUntil = max(paidUntil, now).adding(interval)
    return true
  }

  /// When the next one may come.
  func next(now: MonotonicTime) -> MonotonicTime {
    let ahead = max(paidUntil, now).nanoseconds - now.nanoseconds
    return ahead <= burst ? now : now.adding(ahead - burst)
  }
}

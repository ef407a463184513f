/// How often an app may say something (`INPUT_RATE`): a bucket of allowances that fills by itself.
internal import Configuration
package import Time

/// In plain nanoseconds, as each message asks: a `Duration` has 128 bits.
package struct InputAllowance {
  /// What one allowance costs.
  private let interval: UInt64
  /// So far ahead of its time a message may be.
  private let burst: UInt64
  /// When all that were taken would have had their time.
  private var paidUntil = MonotonicTime(nanoseconds: 0)

  /// - Parameter factor: so many times as often as the rate says.
  init(_ rate: Rate, times factor: Int = 1) {
    let duration = rate.per / rate.count / factor
    interval = duration.wholeNanoseconds
    burst = (duration * (factor * rate.burst - 1)).wholeNanoseconds
  }

  /// Takes one message of so many bytes; false when it has to wait. One allowance lets it through, and the others that it
  /// costs are owed: else a large one would wait for ever where few fit.
  mutating func take(bytes: Int = 0, now: MonotonicTime) -> Bool {
    if next(now: now) > now { return false }
    paidUntil = max(paidUntil, now).adding(interval &* Self.cost(bytes: bytes))
    return true
  }

  /// One allowance for each begun 4 KiB, and one for a message of none.
  private static func cost(bytes: Int) -> UInt64 {
    bytes <= bytesOfOne ? 1 : UInt64((bytes + bytesOfOne - 1) / bytesOfOne)
  }

  private static let bytesOfOne = 4096

  /// When the next one may come.
  package func next(now: MonotonicTime) -> MonotonicTime {
    let ahead = max(paidUntil, now).nanoseconds - now.nanoseconds
    return ahead <= burst ? now : now.adding(ahead - burst)
  }
}

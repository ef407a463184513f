/// Durations counted in buckets that grow with what they hold: percentiles of any number of them in 14 KiB.

/// Log-linear: each power of two is split into 64 equal buckets, so a percentile is at most 1/64 too high and
/// never too low. Counts microseconds, exactly below 128 of them.
package struct LatencyHistogram: Equatable, Sendable {
  private var counts = [UInt64](repeating: 0, count: Self.bucketCount)
  package private(set) var count: UInt64 = 0
  /// The longest one itself, not its bucket.
  package private(set) var maximum: Duration = .zero

  private static let splitBits = 6
  /// Over an hour; whatever is longer counts in the last bucket.
  private static let largest: UInt64 = (1 << 32) - 1
  private static let bucketCount = bucket(of: largest) + 1

  package init() {}

  package mutating func record(_ duration: Duration) {
    counts[Self.bucket(of: min(Self.microseconds(duration), Self.largest))] += 1
    count += 1
    maximum = max(maximum, duration)
  }

  package mutating func add(_ other: LatencyHistogram) {
    for index in counts.indices { counts[index] += other.counts[index] }
    count += other.count
    maximum = max(maximum, other.maximum)
  }

  /// The duration that at least so many of a hundred did not exceed (nearest rank); nil without any.
  package func percentile(_ percent: Double) -> Duration? {
    guard count > 0 else { return nil }
    let rank = min(max(1, UInt64((Double(count) * percent / 100).rounded(.up))), count)
    var seen: UInt64 = 0
    for (index, number) in counts.enumerated() where number > 0 {
      seen += number
      guard seen >= rank else { continue }
      // The last bucket has no end of its own.
      if index == Self.bucketCount - 1 { return maximum }
      return min(.microseconds(Int64(clamping: Self.upperBound(of: index))), maximum)
    }
    return maximum
  }

  /// Rounded up, so that no duration counts as less than it was.
  private static func microseconds(_ duration: Duration) -> UInt64 {
    let (seconds, attoseconds) = duration.components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (scaled, tooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000)
    let (sum, overflow) = scaled.addingReportingOverflow(
      (UInt64(attoseconds) + 999_999_999_999) / 1_000_000_000_000)
    return tooLong || overflow ? .max : sum
  }

  /// The leading bit and the six after it name the bucket; those below 128 name themselves.
  private static func bucket(of value: UInt64) -> Int {
    let shift = max(0, UInt64.bitWidth - value.leadingZeroBitCount - splitBits - 1)
    return shift << splitBits + Int(value >> UInt64(shift))
  }

  /// The largest value that falls into a bucket.
  private static func upperBound(of index: Int) -> UInt64 {
    let shift = max(0, index >> splitBits - 1)
    return (UInt64(index - shift << splitBits) + 1) << UInt64(shift) - 1
  }
}

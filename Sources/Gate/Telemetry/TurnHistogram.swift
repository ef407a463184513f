/// How long a loop's turns took, from `epoll_wait`'s return to its next call: counted by the loop, read by any thread.
///
/// Log-linear: each power of two is split into 16 equal buckets, so a percentile is at most 1/16 too high and never too
/// low. Counts microseconds, exactly below 32 of them. A turn costs one more reading of the clock and a few instructions:
/// only the loop adds, so no addition has to be atomic as a whole.
internal import Synchronization
internal import System

package final class TurnHistogram: Sendable {
  private static let splitBits = 4
  /// Over a minute; whatever is longer counts in the last bucket.
  private static let largest: UInt64 = (1 << 26) - 1
  private let buckets = InlineArray<384, Atomic<Int>> { _ in Atomic(0) }
  private let longest = Atomic<UInt64>(0)

  package init() {}

  /// For the loop alone.
  package func record(_ nanoseconds: UInt64) {
    // Rounded up, so that no turn counts as less than it was.
    let microseconds = nanoseconds / 1000 + (nanoseconds.isMultiple(of: 1000) ? 0 : 1)
    let bucket = Self.bucket(of: min(microseconds, Self.largest))
    buckets[bucket].store(buckets[bucket].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    if microseconds > longest.load(ordering: .relaxed) { longest.store(microseconds, ordering: .relaxed) }
  }

  package var reading: TurnReading {
    var filled: [TurnReading.Bucket] = []
    for index in buckets.indices {
      let count = buckets[index].load(ordering: .relaxed)
      if count > 0 {
        filled.append(TurnReading.Bucket(microseconds: Self.upperBound(of: index), count: count))
      }
    }
    return TurnReading(buckets: filled, maximum: Int(clamping: longest.load(ordering: .relaxed)))
  }

  /// The leading bit and the four after it name the bucket; those below 32 name themselves.
  private static func bucket(of value: UInt64) -> Int {
    let shift = max(0, UInt64.bitWidth - value.leadingZeroBitCount - splitBits - 1)
    return shift << splitBits + Int(value >> UInt64(shift))
  }

  /// The largest value that falls into a bucket.
  private static func upperBound(of index: Int) -> Int {
    let shift = max(0, index >> splitBits - 1)
    return (index - shift << splitBits + 1) << shift - 1
  }
}

/// A loop's turns since its start; the difference of two readings is what happened between them.
package struct TurnReading: Equatable, Sendable {
  package struct Bucket: Equatable, Sendable {
    /// The longest turn that counts here.
    package let microseconds: Int
    package let count: Int

    package init(microseconds: Int, count: Int) {
      self.microseconds = microseconds
      self.count = count
    }
  }

  /// Those that hold any, shortest first.
  package let buckets: [Bucket]
  /// Microseconds of the longest turn itself, not of its bucket.
  package let maximum: Int

  package init(buckets: [Bucket], maximum: Int) {
    self.buckets = buckets
    self.maximum = maximum
  }

  package var count: Int { buckets.reduce(0) { $0 + $1.count } }

  /// What was between an earlier reading of the same loop and this one. Its maximum is that of the highest bucket, so at
  /// most 1/16 too high.
  package func since(_ earlier: TurnReading) -> TurnReading {
    var before = earlier.buckets[...]
    var between: [Bucket] = []
    for bucket in buckets {
      while let first = before.first, first.microseconds < bucket.microseconds { before.removeFirst() }
      let known = before.first.map { $0.microseconds == bucket.microseconds ? $0.count : 0 } ?? 0
      if bucket.count > known {
        between.append(Bucket(microseconds: bucket.microseconds, count: bucket.count - known))
      }
    }
    return TurnReading(buckets: between, maximum: min(maximum, between.last?.microseconds ?? 0))
  }

  /// The microseconds that at least so many of a hundred turns did not exceed (nearest rank); 0 without any.
  package func percentile(_ percent: Int) -> Int {
    let rank = max(1, (count * percent + 99) / 100)
    var seen = 0
    for bucket in buckets {
      seen += bucket.count
      if seen >= rank { return min(bucket.microseconds, maximum) }
    }
    return maximum
  }
}

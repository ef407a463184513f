/// How often something took how long, by bounds that never change: counted by one thread, read by any.
///
/// An addition is a load and a store of its own thread's numbers, no more: nobody else writes them.
internal import Synchronization

package final class DurationHistogram: Sendable {
  private let buckets = InlineArray<14, Atomic<Int>> { _ in Atomic(0) }
  private let sum = Atomic<UInt64>(0)

  package init() {}

  /// For the one thread that counts.
  package func record(_ duration: Duration) { record(nanoseconds: duration.wholeNanoseconds) }

  /// The same without a `Duration`, which has 128 bits, where it is done often.
  package func record(nanoseconds: UInt64) {
    let bucket = DurationReading.bucket(of: nanoseconds)
    buckets[bucket].store(buckets[bucket].load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    sum.store(sum.load(ordering: .relaxed) &+ nanoseconds, ordering: .relaxed)
  }

  package var reading: DurationReading {
    var reading = DurationReading()
    reading.nanoseconds = sum.load(ordering: .relaxed)
    for index in buckets.indices { reading.counts[index] = buckets[index].load(ordering: .relaxed) }
    return reading
  }
}

/// The same as a plain value, for counting under a lock that is held already.
package struct DurationReading: Equatable, Sendable {
  /// What took no longer counts there: 1, 2.5 and 5 of each power of ten, from a millisecond to ten seconds.
  package static let bounds: [Duration] = boundNanoseconds.map { .nanoseconds(Int64($0)) }

  private static let boundNanoseconds: [UInt64] = [
    1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000,
    500_000_000,
    1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
  ]

  /// For each bound those that took no longer, and longer than the bound before it; the last for what took longer than all.
  package fileprivate(set) var counts = InlineArray<14, Int>(repeating: 0)
  /// Of all together.
  package fileprivate(set) var nanoseconds: UInt64 = 0

  package init() {}

  package mutating func record(_ duration: Duration) {
    let duration = duration.wholeNanoseconds
    counts[Self.bucket(of: duration)] &+= 1
    nanoseconds &+= duration
  }

  package mutating func add(_ other: Self) {
    for index in counts.indices { counts[index] &+= other.counts[index] }
    nanoseconds &+= other.nanoseconds
  }

  package var count: Int { counts.indices.reduce(0) { $0 + counts[$1] } }

  /// Most of what is counted takes less than the first bound.
  fileprivate static func bucket(of nanoseconds: UInt64) -> Int {
    if nanoseconds <= 1_000_000 { return 0 }
    return boundNanoseconds.firstIndex { nanoseconds <= $0 } ?? boundNanoseconds.count
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.nanoseconds == right.nanoseconds
      && left.counts.indices.allSatisfy { left.counts[$0] == right.counts[$0] }
  }
}

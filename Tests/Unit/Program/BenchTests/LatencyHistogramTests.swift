import Bench
import Testing

/// Percentiles against a sorted list, and the edges of the buckets.
struct LatencyHistogramTests {
  @Test func isEmptyAtFirst() {
    #expect(LatencyHistogram().percentile(50) == nil)
    #expect(LatencyHistogram().count == 0)
  }

  /// Below 128 µs every microsecond has a bucket of its own.
  @Test(arguments: [0, 1, 63, 64, 127])
  func smallOnesAreExact(microseconds: Int) {
    var histogram = LatencyHistogram()
    histogram.record(.microseconds(microseconds))
    histogram.record(.seconds(1))
    #expect(histogram.percentile(50) == .microseconds(microseconds))
  }

  /// The first of each width, and the last one before.
  @Test(arguments: [128, 129, 255, 256, 257, 511, 512, 65_535, 65_536, 1_000_000, 3_599_999_999])
  func isNeverTooLowAndAtMostASixtyFourthTooHigh(microseconds: Int64) throws {
    var histogram = LatencyHistogram()
    histogram.record(.microseconds(microseconds))
    // The longest one caps percentiles: another one above shows the bucket itself.
    histogram.record(.seconds(100_000))
    let found = try #require(histogram.percentile(50))
    #expect(found >= .microseconds(microseconds))
    #expect(found <= .microseconds(microseconds + microseconds / 64))
  }

  @Test func partsOfAMicrosecondRoundUp() {
    var histogram = LatencyHistogram()
    histogram.record(.nanoseconds(1))
    histogram.record(.nanoseconds(5_001))
    histogram.record(.seconds(1))
    #expect(histogram.percentile(1) == .microseconds(1))
    #expect(histogram.percentile(50) == .microseconds(6))
  }

  @Test func whatIsBeyondTheLargestCountsAndIsTheMaximum() {
    var histogram = LatencyHistogram()
    histogram.record(.seconds(1_000_000))
    histogram.record(.seconds(-1))
    #expect(histogram.count == 2)
    #expect(histogram.maximum == .seconds(1_000_000))
    #expect(histogram.percentile(50) == .zero)
    #expect(histogram.percentile(100) == .seconds(1_000_000))
  }

  /// Nearest rank: of 1 to 100, the p-th is p.
  @Test(arguments: [(0.0, 1), (1, 1), (1.5, 2), (50, 50), (90, 90), (99, 99), (99.5, 100), (100, 100)])
  func takesTheNearestRank(percent: Double, expected: Int) {
    var histogram = LatencyHistogram()
    for microseconds in (1...100).reversed() { histogram.record(.microseconds(microseconds)) }
    #expect(histogram.percentile(percent) == .microseconds(expected))
  }

  @Test func agreesWithASortedList() throws {
    var random = SystemRandomNumberGenerator()
    var histogram = LatencyHistogram()
    var list: [Int64] = []
    for _ in 0..<20_000 {
      let microseconds = Int64(
        random.next(upperBound: UInt64(1) << UInt64.random(in: 1...31, using: &random)))
      list.append(microseconds)
      histogram.record(.microseconds(microseconds))
    }
    list.sort()
    for percent in [0.1, 1, 10, 50, 90, 99, 99.9, 100] {
      let exact = list[max(0, Int((Double(list.count) * percent / 100).rounded(.up)) - 1)]
      let found = try #require(histogram.percentile(percent))
      #expect(found >= .microseconds(exact), "p\(percent)")
      #expect(found <= .microseconds(exact + exact / 64), "p\(percent)")
    }
  }

  @Test func sumsAreAsIfRecordedInOne() {
    var left = LatencyHistogram()
    var right = LatencyHistogram()
    var whole = LatencyHistogram()
    for number in 0..<1000 {
      let duration = Duration.microseconds(number * number)
      if number % 3 == 0 { left.record(duration) } else { right.record(duration) }
      whole.record(duration)
    }
    left.add(right)
    #expect(left == whole)
  }
}

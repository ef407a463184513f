/// The loops' turns, counted in buckets.
import Testing

@testable import Telemetry

@Suite struct TurnHistogramTests {
  private static func reading(ofNanoseconds turns: [UInt64]) -> TurnReading {
    let histogram = TurnHistogram()
    for turn in turns { histogram.record(turn) }
    return histogram.reading
  }

  @Test func nothingYet() {
    let reading = TurnHistogram().reading
    #expect(reading == TurnReading(buckets: [], maximum: 0))
    #expect(reading.count == 0 && reading.percentile(99) == 0)
  }

  /// Each length falls into a bucket that is at most a sixteenth longer, and in none that is shorter.
  @Test(arguments: [
    0, 1, 999, 1000, 1001, 31_000, 32_000, 33_000, 63_999, 64_000, 4_999_999, 5_000_001, 999_999_999,
    67_108_863_000,
  ])
  func oneTurn(nanoseconds: UInt64) throws {
    let reading = Self.reading(ofNanoseconds: [nanoseconds])
    let microseconds = Int((nanoseconds + 999) / 1000)
    let bucket = try #require(reading.buckets.first)
    #expect(reading.buckets.count == 1 && bucket.count == 1)
    #expect(bucket.microseconds >= microseconds)
    #expect(bucket.microseconds <= microseconds + microseconds / 16)
    #expect(reading.maximum == microseconds && reading.percentile(99) == microseconds)
  }

  /// Longer than any bucket: counted in the last one, told as it was.
  @Test func longerThanAnyBucket() {
    let reading = Self.reading(ofNanoseconds: [3_600_000_000_000])
    #expect(reading.count == 1)
    #expect(reading.maximum == 3_600_000_000)
  }

  /// Against sorting: a percentile is never too low, and at most a sixteenth too high.
  @Test(arguments: [1, 50, 99, 100])
  func percentiles(percent: Int) {
    var random = SystemRandomNumberGenerator()
    let turns = (0..<1000).map { _ in UInt64.random(in: 0...9_000_000, using: &random) }
    let exact = turns.map { Int(($0 + 999) / 1000) }.sorted()[percent * 10 - 1]
    let found = Self.reading(ofNanoseconds: turns).percentile(percent)
    #expect(found >= exact && found <= exact + exact / 16 + 1)
  }
}

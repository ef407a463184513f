import Testing

@testable import Time

@Suite struct DurationHistogramTests {
  /// At, below and above each bound.
  @Test(arguments: DurationReading.bounds.indices)
  func bounds(_ index: Int) {
    let bound = DurationReading.bounds[index]
    var reading = DurationReading()
    reading.record(bound - .nanoseconds(1))
    reading.record(bound)
    reading.record(bound + .nanoseconds(1))
    #expect(reading.counts[index] == 2)
    #expect(reading.counts[index + 1] == 1)
    #expect(reading.count == 3)
    #expect(reading.nanoseconds == 3 * bound.wholeNanoseconds)
  }

  @Test func isTheSameInBothForms() {
    let histogram = DurationHistogram()
    var reading = DurationReading()
    for nanoseconds in [0, 1, 999_999, 1_000_000, 1_000_001, 7_000_000, 3_600_000_000_000] as [UInt64] {
      histogram.record(nanoseconds: nanoseconds)
      reading.record(.nanoseconds(Int64(nanoseconds)))
    }
    #expect(histogram.reading == reading)
    #expect(histogram.reading.count == 7)
  }

  @Test func sums() {
    var (one, other) = (DurationReading(), DurationReading())
    one.record(.milliseconds(1))
    other.record(.milliseconds(1))
    other.record(.seconds(60))
    one.add(other)
    #expect(one.counts[0] == 2)
    #expect(one.counts[13] == 1)
    #expect(one.nanoseconds == 60_002_000_000)
  }

  /// A clock that was set back counts as no time.
  @Test func negativeIsZero() {
    var reading = DurationReading()
    reading.record(.seconds(-1))
    #expect(reading.counts[0] == 1)
    #expect(reading.nanoseconds == 0)
  }
}

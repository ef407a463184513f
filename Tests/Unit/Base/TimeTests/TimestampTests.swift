import Testing

@testable import Time

/// RFC 3339; the numbers are those of `date -u -d … +%s`.
@Suite struct TimestampTests {
  static let written: [(Int64, String)] = [
    (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
    (1_771_286_400_000, "2026-02-17T00:00:00.000Z"),
    (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_799_999, "2000-02-29T23:59:59.999Z"),
    (951_868_800_000, "2000-03-01T00:00:00.000Z"), (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
    (4_107_456_000_000, "2100-02-28T00:00:00.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    (-2_203_977_600_000, "1900-02-28T00:00:00.000Z"), (-2_203_891_200_000, "1900-03-01T00:00:00.000Z"),
    (253_402_300_799_999, "9999-12-31T23:59:59.999Z"), (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"),
  ]

  @Test(arguments: written) func roundTrip(milliseconds: Int64, text: String) {
    #expect(UnixTime(milliseconds: milliseconds).timestamp == text)
    #expect(UnixTime(timestamp: text)?.milliseconds == milliseconds)
  }

  @Test func everyDayOfFourCenturiesRoundTrips() {
    var last = ""
    for day in Int64(-80_000)..<80_000 {
      let time = UnixTime(milliseconds: day * 86_400_000 + 43_200_001)
      let text = time.timestamp
      #expect(UnixTime(timestamp: text) == time)
      #expect(text > last, "texts sort like times")
      last = text
    }
  }

  static let read: [(String, Int64)] = [
    ("2026-02-17T00:00:00Z", 1_771_286_400_000), ("2026-02-17T00:00:00.1Z", 1_771_286_400_100),
    ("2026-02-17T00:00:00.12Z", 1_771_286_400_120), ("2026-02-17T00:00:00.123456789Z", 1_771_286_400_123),
    ("2026-02-17T00:00:00.9999Z", 1_771_286_400_999), ("2026-02-17T01:00:00+01:00", 1_771_286_400_000),
    ("2026-02-16T18:30:00.5-05:30", 1_771_286_400_500), ("2026-02-17T00:00:00+00:00", 1_771_286_400_000),
    ("2026-02-17T23:59:00+23:59", 1_771_286_400_000), ("1970-01-01T00:00:00.5+00:01", -59_500),
  ]

  @Test(arguments: read) func otherForms(text: String, milliseconds: Int64) {
    #expect(UnixTime(timestamp: text)?.milliseconds == milliseconds)
  }

  @Test(arguments: [
    "", "2026", "2026-02-17", "2026-02-17T00:00:00", "2026-02-17T00:00Z", "2026-02-17 00:00:00Z",
    "2026-02-17t00:00:00z",
    "2026-02-29T00:00:00Z", "2100-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-00-01T00:00:00Z",
    "2026-13-01T00:00:00Z", "2026-04-31T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z",
    "2026-02-17T24:00:00Z", "2026-02-17T00:60:00Z", "2026-02-17T00:00:60Z", "2026-02-17T00:00:00.Z",
    "2026-02-17T00:00:00.1234567890Z", "2026-02-17T00:00:00+24:00", "2026-02-17T00:00:00+01:60",
    "2026-02-17T00:00:00+0100", "2026-02-17T00:00:00+01", "2026-02-17T00:00:00Zx", " 2026-02-17T00:00:00Z",
    "26-02-17T00:00:00Z", "-026-02-17T00:00:00Z", "02026-02-17T00:00:00Z", "2026-2-17T00:00:00Z",
    "2026-02-17T00:00:00,5Z", "２026-02-17T00:00:00Z",
  ])
  func refused(text: String) {
    #expect(UnixTime(timestamp: text) == nil)
  }

  /// An offset must not lead out of the years that the written form has digits for.
  @Test(arguments: ["0000-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"]) func beyondFourDigits(
    text: String
  ) {
    #expect(UnixTime(timestamp: text) == nil)
  }
}

/// Drawings of the last day: what stands where, what is left out, and what they say to who does not see them.
import Prompt
import System
import Time
import Testing

@testable import Console

@Suite struct ChartTests {
  private static let end = UnixTime(milliseconds: 1_795_395_780_000)

  private static func chart(_ players: [Int?], starts: [Int] = [], isWide: Bool = true) -> Chart {
    let points = players.map {
      $0.map { History.Minute(players: $0, admissions: 0, refusals: 0, lagMicroseconds: 0, bytes: 0) }
    }
    let history = History(
      points: points, end: end,
      starts: starts.map { UnixTime(milliseconds: end.milliseconds - Int64($0) * 60_000 + 59_999) })
    return Chart("players", "Players", .count, of: history, isWide: isWide, \.players)
  }

  /// Six minutes at the right: two columns of three, of which each shows its highest.
  @Test func columns() {
    #expect(Self.chart([0, 5, 0, 10, 0, 0]).outline.text == "M1434 200l0-100 3 0 0-100 3 0 0 200")
  }

  @Test func nothingIsDrawnWhereTheGateDidNotRun() {
    let chart = Self.chart([10, 10, 10, nil, nil, nil, 10, 10, 10])
    #expect(chart.outline.text == "M1431 200l0-200 3 0 0 200M1437 200l0-200 3 0 0 200")
    #expect(Self.chart([nil, nil, nil]).outline.text.isEmpty)
    #expect(Self.chart([]).outline.text.isEmpty)
  }

  /// Points beyond a day are of no interest, and neither are starts.
  @Test func aDayAndNoMore() {
    let chart = Self.chart(Array(repeating: 7, count: 3000), starts: [0, 1, 1439, 1440, 5000])
    #expect(chart.values.count == History.minutes)
    #expect(chart.starts == [1439, 1438, 0])
    #expect(chart.outline.text.hasPrefix("M0 200l"))
  }

  @Test(arguments: [
    (0, 6), (5, 6), (6, 6), (7, 8), (9, 10), (10, 10), (11, 20), (568, 600), (601, 800), (999, 1000),
    (1001, 2000),
    (Int.max, Int.max),
  ])
  func top(most: Int, expected: Int) {
    #expect(Self.chart([most]).top == expected)
  }

  @Test func words() {
    let chart = Self.chart([3, 12, nil, 4], starts: [0])
    #expect(
      chart.description
        == "Players in the last 24 hours: now 4, most 12; nothing is known of 23 h 57 min; the gate was started 1 time."
    )
    #expect(
      Self.chart([]).description == "Players in the last 24 hours: now –, most –; nothing is known of 1 d.")
    #expect(Self.chart([1, nil]).now == "–")
  }

  /// Numbers that nobody has, and no trap.
  @Test func extremes() {
    for number in [Int.min, -1, Int.max] { _ = Self.chart([number, 0, number]).outline }
    let history = History(
      points: [], end: UnixTime(milliseconds: .min),
      starts: [UnixTime(milliseconds: .max), UnixTime(milliseconds: .min)])
    #expect(Chart("x", "X", .bytes, of: history, \.players).starts == [1439])
  }
}

@Suite struct WordingTests {
  @Test(arguments: [
    (0, "0"), (999, "999"), (1000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567"), (-1000, "−1,000"),
  ])
  func counts(number: Int, expected: String) {
    #expect(Wording.count(number) == expected)
  }

  @Test(arguments: [
    (UInt64(0), "0 B"), (999, "999 B"), (1000, "1.0 kB"), (99_949, "99.9 kB"), (123_456, "123 kB"),
    (1_234_567, "1.2 MB"), (.max, "18.4 EB"),
  ])
  func bytes(number: UInt64, expected: String) {
    #expect(Wording.bytes(number) == expected)
  }

  @Test(arguments: [
    (-1, "0 µs"), (340, "340 µs"), (1200, "1.2 ms"), (2_500_000, "2.5 s"), (3_600_000_000, "3,600 s"),
  ])
  func microseconds(number: Int, expected: String) {
    #expect(Wording.microseconds(number) == expected)
  }

  @Test(arguments: [
    (Int64(-5), "0 s"), (59, "59 s"), (60, "1 min"), (61, "1 min 1 s"), (3599, "59 min"), (3600, "1 h"),
    (7260, "2 h 1 min"), (86_400, "1 d"), (180_000, "2 d 2 h"), (.max, "106,751,991,167,300 d 15 h"),
  ])
  func durations(seconds: Int64, expected: String) {
    #expect(Wording.duration(seconds: seconds) == expected)
  }

  @Test(arguments: [
    ("203.0.113.7:51234", "203.0.113.7"), ("[2001:db8::7]:51234", "2001:db8::7"),
    ("2001:db8::7", "2001:db8::7"),
    ("203.0.113.7", "203.0.113.7"), ("", ""), ("[", "["), ("unix:", "unix"), ("[]", ""),
  ])
  func addresses(source: String, expected: String) {
    #expect(Wording.address(source) == expected)
  }

  @Test func cutting() {
    #expect(Wording.cut("abc", to: 3) == "abc")
    #expect(Wording.cut("abcd", to: 3) == "abc…")
    #expect(Wording.cut("", to: 0).isEmpty)
    #expect(Wording.cut("a" + String(repeating: "\u{301}", count: 1000), to: 4).unicodeScalars.count == 5)
    #expect(Wording.time(UnixTime(milliseconds: 1_795_395_833_123)) == "2026-11-23 01:03:53 UTC")
  }
}

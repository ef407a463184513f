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

  /// A day's first minute, and these as its last ones.
  private static func day(_ players: [Int?], starts: [Int] = []) -> Chart {
    chart([0] + [Int?](repeating: nil, count: History.minutes - 1 - players.count) + players, starts: starts)
  }

  /// Eight minutes at the right: two columns of four, of which each shows its highest.
  @Test func columns() {
    #expect(Self.day([0, 5, 0, 0, 10, 0, 0, 0]).outline.text == "M0 200h4M1432 200v-100h4v-100h4v200")
  }

  /// What stays as high is one line.
  @Test func levelColumns() {
    #expect(
      Self.day([9, 0, 0, 0, 10, 0, 0, 0, 0, 10, 0, 0]).outline.text.hasSuffix("M1428 200v-180h4v-20h8v200"))
  }

  @Test func nothingIsDrawnWhereTheGateDidNotRun() {
    let chart = Self.day([10, 10, 10, 10, nil, nil, nil, nil, 10, 10, 10, 10])
    #expect(chart.outline.text == "M0 200h4M1428 200v-200h4v200M1436 200v-200h4v200")
    #expect(Self.chart([nil, nil, nil]).outline.text.isEmpty)
    #expect(Self.chart([]).outline.text.isEmpty)
  }

  /// Points beyond a day are of no interest, and neither are starts.
  @Test func aDayAndNoMore() {
    let chart = Self.chart(Array(repeating: 7, count: 3000), starts: [0, 1, 1439, 1440, 5000])
    #expect(chart.values.count == History.minutes)
    #expect(chart.starts == [1439, 1438, 0])
    #expect(chart.outline.text.hasPrefix("M0 200v"))
  }

  /// A new gate has its first hour, a minute a column, until there is more.
  @Test func theFirstHour() {
    let chart = Self.chart([nil, 5, 10])
    #expect(chart.span == 60 && chart.outline.text == "M1392 200v-100h24v-100h24v200")
    #expect(chart.hours.count == 4 && chart.hours.first?.text == "00:15")
    #expect(Self.chart([Int?](repeating: 1, count: 60)).span == 60)
    #expect(Self.chart([Int?](repeating: 1, count: 61)).span == 1440)
  }

  /// Lines across at 1, 2 or 5 and zeros, and little of the height for nothing.
  @Test(arguments: [
    (0, 5, 5), (5, 5, 5), (6, 6, 6), (7, 8, 4), (9, 10, 5), (10, 10, 5), (11, 12, 6), (109, 120, 6),
    (568, 600, 6), (601, 800, 4), (999, 1000, 5), (1001, 1200, 6),
  ])
  func scale(most: Int, top: Int, lines: Int) {
    let chart = Self.chart([most])
    #expect(chart.top == top && chart.scale.count == lines)
    #expect(
      chart.ticks.count == lines + 1 && chart.ticks.last == "0" && chart.ticks.first == Wording.count(top))
  }

  /// Hours of the clock, each where it was; the page says that they are those of UTC.
  @Test func hours() {
    // 01:03:00 is when the last minute began.
    let chart = Self.day([1])
    #expect(
      chart.hours.map(\.text) == ["03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00", "00:00"])
    #expect(chart.hours.last?.x == 1440 - 64 && chart.hours.first?.x == 116)
  }

  /// Parts lie on each other, and none is above the whole.
  @Test func layers() {
    let history = History(
      points: [nil]
        + [(3, 1), (6, 2)].map {
          History.Minute(players: 0, admissions: 0, refusals: $0.0, lagMicroseconds: $0.1, bytes: 0)
        }, end: Self.end, starts: [])
    let chart = Chart(
      "x", "X", .count, of: history,
      layers: [
        Chart.Layer(title: "a", values: [nil, 1, 2]), Chart.Layer(title: "b", values: [nil, 1, 3]),
      ], \.refusals)
    #expect(chart.layers.map(\.values) == [[nil, 1, 2], [nil, 2, 5]])
    #expect(chart.values == [nil, 3, 6] && chart.top == 6)
  }

  /// As a line that ends where it ends; both days have the same scale.
  @Test func theDayBefore() {
    func minutes(_ players: [Int?]) -> [History.Minute?] {
      players.map {
        $0.map { History.Minute(players: $0, admissions: 0, refusals: 0, lagMicroseconds: 0, bytes: 0) }
      }
    }
    let today = [Int?](repeating: 5, count: History.minutes)
    func chart(_ before: [Int?]) -> Chart {
      Chart(
        "x", "Players", .count,
        of: History(points: minutes(today), dayBefore: minutes(before), end: Self.end, starts: []),
        isWide: true,
        \.players)
    }
    let two = chart([8, 8, 8, 8, nil, nil, nil, nil, 10, 2, 2, 2, 4, 4, 4, 4])
    #expect(two.line.text == "M1424 40h4M1432 0h4v120h4" && two.top == 10 && two.most == "5")
    #expect(two.outline.text == "M0 200v-100h1440v100")
    #expect(
      two.description
        == "Players in the last 24 hours: now 5, most 5; the day before at this time 4, most 10.")
    #expect(chart([nil, nil]).line.text.isEmpty && chart([]).line.text.isEmpty && chart([]).top == 5)
    #expect(chart([Int.max, Int.min]).line.text.count > 0)
    // In its first hour a gate that was away for a day has nothing to be compared with.
    let first = History(points: minutes([1]), dayBefore: minutes([9]), end: Self.end, starts: [])
    #expect(Chart("x", "X", .count, of: first, \.players).before.isEmpty)
  }

  @Test func words() {
    let chart = Self.day([3, 12, nil, 4], starts: [0])
    #expect(
      chart.description
        == "Players in the last 24 hours: now 4, most 12; nothing is known of 23 h 56 min; the gate was started 1 time."
    )
    #expect(Self.chart([3, 4]).description.hasPrefix("Players in the last hour: now 4, most 4; nothing"))
    #expect(
      Self.chart([]).description == "Players in the last 24 hours: now –, most –; nothing is known of 1 d.")
    #expect(Self.chart([1, nil]).now == "–")
  }

  /// Numbers that nobody has, and no trap.
  @Test func extremes() {
    for number in [Int.min, -1, Int.max] {
      let chart = Self.chart([number, 0, number])
      _ = (chart.outline, chart.ticks, chart.hours)
    }
    let history = History(
      points: [], end: UnixTime(milliseconds: .min),
      starts: [UnixTime(milliseconds: .max), UnixTime(milliseconds: .min)])
    #expect(Chart("x", "X", .bytes, of: history, \.players).starts == [1439])
  }
}

@Suite struct StripTests {
  private static func minute(_ standing: Standing) -> History.Minute {
    History.Minute(players: 0, admissions: 0, refusals: 0, lagMicroseconds: 0, bytes: 0, standing: standing)
  }

  /// What nobody knows is no fault; what lies between two starts is.
  @Test func upDegradedDown() {
    let up = [History.Minute?](repeating: Self.minute(.good), count: 60)
    let history = History(
      points: [nil, nil] + up + [nil, Self.minute(.doubtful), Self.minute(.good)],
      end: UnixTime(milliseconds: 1_795_395_780_000), starts: [])
    let strip = Strip(of: history)
    #expect(strip.sentence == "up 1 h 1 min · degraded 1 min · down 1 min")
    #expect(strip.outline(.bad).text == "M1437 10v-10h1v10")
    #expect(strip.outline(.good).text == "M1377 10v-10h60v10M1439 10v-10h1v10")
    #expect(Strip(of: History(points: up, end: history.end, starts: [])).sentence == "up 1 h")
  }

  @Test func theWorstOfEachMinuteIsKept() {
    func at(_ seconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }
    var record = StandingRecord()
    for (second, standing) in [(0, Standing.good), (5, .bad), (59, .doubtful), (60, .good), (200, .doubtful)]
    {
      record.note(standing, at: at(UInt64(second)))
    }
    #expect((0...4).map { record.standing(ago: $0) } == [.doubtful, nil, .good, .bad, nil])
    record.note(.good, at: at(10_000_000))
    #expect(record.standing(ago: 0) == .good && record.standing(ago: 3) == nil)
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

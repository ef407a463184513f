/// The last two days over a restart: each minute stands where it was, and nothing is guessed.
import Metrics
import PortcullisProtocol
import Time
import Testing

@testable import Telemetry

@Suite struct EarlierHistoryTests {
  private let start = MonotonicTime(nanoseconds: 5_000_000_000_000)
  private let wall = UnixTime(milliseconds: 1_800_000_000_000)

  private func wall(_ seconds: Double) -> UnixTime {
    UnixTime(milliseconds: wall.milliseconds + Int64(seconds * 1000))
  }

  private func totals(_ players: Int, admissions: Int = 0, refused: Int = 0) -> HistoryTotals {
    var totals = HistoryTotals()
    (totals.players, totals.admissions, totals.refusals[0]) = (players, admissions, refused)
    return totals
  }

  /// A gate that has run for so many minutes, started at `seconds`; the last minute has run for 20 s.
  private func run(_ minutes: Int, from seconds: Double) -> HistoryOnFile {
    var history = HistoryState()
    for minute in 0..<minutes {
      history.note(totals(minute + 1, admissions: (minute + 1) * 10), at: start + .seconds(60 * minute))
    }
    let age = 60 * (minutes - 1) + 20
    return history.onFile(wall: wall(seconds + Double(age)), now: start + .seconds(age))
  }

  private func began(after earlier: [HistoryMinute], at seconds: Double) -> HistoryState {
    var history = HistoryState()
    history.note(totals(99, admissions: 1), at: start)
    history.goOn(after: earlier, wall: wall(seconds), now: start)
    return history
  }

  @Test func theDayGoesOnAndStartsAreMarked() {
    let earlier = run(3, from: 0)
    #expect(earlier.startedAt == wall)
    #expect(earlier.minutes.map(\.begin) == [wall, wall(60), wall(120)])
    #expect(earlier.minutes.map(\.startedAt) == [wall, nil, nil])
    // Ended at 140 s, started again at 320 s.
    let history = began(after: earlier.minutes, at: 320)
    let reading = history.reading(at: start + .seconds(5))
    #expect(reading.minutes.map { $0?.mostPlayers } == [1, 2, 3, nil, nil, nil, 99])
    #expect(reading.lastHour.admissions == 31)
    #expect(reading.starts == [.seconds(325), .seconds(5)] && reading.sinceStart == .seconds(5))
    // And once more, with all of it.
    let again = history.onFile(wall: wall(330), now: start + .seconds(10))
    #expect(again.minutes.map(\.begin) == [wall, wall(60), wall(120), wall(320)])
    #expect(again.minutes.map(\.startedAt) == [wall, nil, nil, wall(320)])
  }

  @Test func whatIsCountedMeanwhileStays() {
    var history = HistoryState()
    history.note(totals(4), at: start)
    history.note(totals(5), at: start + .seconds(60))
    history.goOn(after: run(2, from: 60).minutes, wall: wall(240), now: start + .seconds(70))
    let reading = history.reading(at: start + .seconds(70))
    // It was started at 170 s.
    #expect(reading.minutes.map { $0?.mostPlayers } == [1, 2, 4, 5])
    #expect(reading.starts == [.seconds(180), .seconds(70)])
  }

  @Test func gatesOfOneMinuteAreOne() {
    var history = began(after: run(1, from: 0).minutes, at: 25)
    history.note(totals(99, admissions: 8, refused: 2), at: start + .seconds(1))
    let second = history.onFile(wall: wall(27), now: start + .seconds(2)).minutes
    #expect(second.count == 2)
    let third = began(after: second, at: 30).reading(at: start)
    #expect(third.minutes.map { $0?.mostPlayers } == [99, 99])
    #expect(third.minutes.first??.admissions == 18 && third.refusals.map { $0.lastDay } == [2])
    #expect(third.starts == [.seconds(5), .zero])
  }

  /// A gate that cannot stay up writes a minute each time; what they come to is bounded.
  @Test func aThousandStartsAreFewMinutes() {
    var minutes = run(3, from: -600).minutes
    for number in 0..<1000 {
      let history = began(after: minutes, at: Double(number) * 5)
      minutes = history.onFile(wall: wall(Double(number) * 5 + 2), now: start + .seconds(2)).minutes
    }
    #expect(minutes.count < 200)
    let reading = began(after: minutes, at: 5000).reading(at: start)
    #expect(reading.lastDay.admissions == 1031)
  }

  /// Clocks are corrected by some milliseconds a minute: no hole and no double minute comes of it.
  @Test(arguments: [-40, -1, 1, 40] as [Int64]) func aSlewedClockMakesNoHoles(milliseconds: Int64) {
    var minutes = run(300, from: 0).minutes
    for index in minutes.indices { minutes[index].begin.milliseconds += Int64(index) * milliseconds }
    let last = minutes[299].begin.milliseconds
    for phase: Int64 in [0, 1, 29_999, 30_000, 59_999] {
      var history = HistoryState()
      history.goOn(after: minutes, wall: UnixTime(milliseconds: last + 60_000 + phase), now: start)
      let reading = history.reading(at: start)
      #expect(reading.minutes.compactMap { $0?.mostPlayers }.filter { $0 > 0 } == Array(1...300))
      #expect(reading.minutes.count(where: { $0 == nil }) <= 1)
    }
  }

  @Test func whatIsYetToComeIsLeftOut() {
    // The clock was set back by a minute and a half.
    let reading = began(after: run(3, from: 0).minutes, at: 70).reading(at: start)
    #expect(reading.minutes.map { $0?.mostPlayers } == [1, 2, 99])
    #expect(began(after: run(3, from: 0).minutes, at: -10).reading(at: start).minutes.count == 1)
  }

  @Test func theDayBeforeGoesOn() {
    let minutes = run(2880, from: 0).minutes
    #expect(minutes.count == 2880)
    let reading = began(after: minutes, at: 2 * 86_400).reading(at: start)
    #expect(reading.minutes.compactMap { $0?.mostPlayers } == Array(1442...2880) + [99])
    #expect(reading.dayBefore.compactMap { $0?.mostPlayers } == Array(2...1441))
    #expect(reading.starts == [.zero] && reading.lastDay.admissions == 14_391)
    #expect(began(after: minutes, at: 4 * 86_400 + 60).reading(at: start).minutes.count == 1)
  }

  @Test func aDayIsKeptAndNoMore() {
    let minutes = run(1440, from: 0).minutes
    #expect(minutes.count == 1440)
    // Twelve hours later.
    let half = began(after: minutes, at: 86_400 + 43_200)
    let reading = half.reading(at: start)
    #expect(reading.minutes.count == 1440)
    #expect(reading.minutes.compactMap(\.self).count == 720 && reading.dayBefore.count == 721)
    #expect(reading.starts == [.zero])
    let later = began(after: minutes, at: 2 * 86_400 + 60).reading(at: start)
    #expect(later.minutes.compactMap(\.self).count == 1 && later.dayBefore.compactMap(\.self).count == 1438)
    // The first of them go as this gate's own come.
    var history = half
    history.note(totals(1), at: start + .seconds(3600))
    #expect(history.reading(at: start + .seconds(3600)).minutes.count == 1440)
    #expect(history.onFile(wall: wall(0), now: start).minutes.count <= 2880)
  }

  /// The whole day moves with a clock that is set, as the page shows it.
  @Test func aClockThatIsSetMovesAll() {
    var history = HistoryState()
    history.note(totals(1), at: start)
    history.note(totals(2), at: start + .seconds(60))
    let before = history.onFile(wall: wall(60), now: start + .seconds(60))
    let after = history.onFile(wall: wall(3660), now: start + .seconds(60))
    #expect(before.startedAt == wall && after.startedAt == wall(3600))
    #expect(after.minutes.map(\.begin) == [wall(3600), wall(3660)])
  }
}

/// The last day of the gate, minute by minute: docs/console.md, "Console".
import Metrics
import PortcullisProtocol
import Time
import Testing

@testable import Telemetry

@Suite struct HistoryTests {
  private let start = MonotonicTime(nanoseconds: 5_000_000_000_000)

  private func totals(
    players: Int = 0, admissions: Int = 0, refused: Int = 0, bytes: Int = 0, turns: [(Int, Int)] = []
  ) -> HistoryTotals {
    var totals = HistoryTotals()
    totals.players = players
    totals.admissions = admissions
    totals.refusals[0] = refused
    totals.bytesFromGame = bytes
    totals.turns = [
      TurnReading(
        buckets: turns.map { TurnReading.Bucket(microseconds: $0.0, count: $0.1) },
        maximum: turns.last?.0 ?? 0)
    ]
    return totals
  }

  @Test func nothingIsNoted() {
    let reading = HistoryState().reading(at: start)
    #expect(reading.minutes == [HistoryPeriod()])
    #expect(reading.turns.isEmpty && reading.refusals.isEmpty && reading.sinceStart == .zero)
  }

  @Test func minutesHaveWhatCameInThem() {
    var history = HistoryState()
    history.note(totals(players: 2, admissions: 3), at: start)
    history.note(totals(players: 9, admissions: 5, refused: 1, bytes: 10), at: start + .seconds(59))
    history.note(totals(players: 4, admissions: 6, refused: 1, bytes: 30), at: start + .seconds(60))
    history.note(totals(players: 1, admissions: 6, refused: 4, bytes: 30), at: start + .seconds(61))
    let reading = history.reading(at: start + .seconds(62))
    #expect(reading.minutes.map { $0?.mostPlayers } == [9, 4])
    #expect(reading.minutes.map { $0?.admissions } == [5, 1])
    #expect(reading.minutes.map { $0?.refusals } == [1, 3])
    #expect(reading.minutes.map { $0?.bytesFromGame } == [10, 20])
    #expect(reading.lastHour.admissions == 6 && reading.lastDay.mostPlayers == 9)
    #expect(
      reading.refusals.map(\.code) == [RefusalCode.allCases[0]] && reading.refusals.first?.lastHour == 4)
    #expect(reading.sinceLastBegan == .seconds(2) && reading.sinceStart == .seconds(62))
  }

  /// Stopped by a signal, or with its machine: minutes in which nobody noted anything are none.
  @Test func minutesWithoutTheGateAreEmpty() {
    var history = HistoryState()
    history.note(totals(players: 1), at: start)
    history.note(totals(players: 1, admissions: 7), at: start + .seconds(240))
    let reading = history.reading(at: start + .seconds(240))
    #expect(reading.minutes.map { $0 == nil } == [false, true, true, true, false])
    #expect(reading.minutes.last??.admissions == 7)
    history.note(totals(players: 1, admissions: 9), at: start + .seconds(400 * 86_400))
    let later = history.reading(at: start + .seconds(400 * 86_400))
    #expect(later.minutes.count == 1440 && later.lastDay.admissions == 2)
    // The clock of a machine that was moved may say less than before.
    history.note(totals(players: 1, admissions: 10), at: start)
    #expect(history.reading(at: start).lastDay.admissions == 3)
  }

  @Test func twoDaysAreKeptAndNoMore() {
    var history = HistoryState()
    func run(_ minutes: Range<Int>) {
      for minute in minutes {
        history.note(totals(players: minute, admissions: minute), at: start + .seconds(60 * minute))
      }
    }
    run(0..<1440)
    #expect(history.reading(at: start + .seconds(60 * 1440)).dayBefore.isEmpty)
    run(1440..<1443)
    let second = history.reading(at: start + .seconds(60 * 1443))
    // Each a day before the one at the same distance from the end.
    #expect(second.dayBefore.map { $0?.mostPlayers } == [0, 1, 2])
    #expect(second.minutes.suffix(3).map { $0?.mostPlayers } == [1440, 1441, 1442] && second.starts.isEmpty)
    run(1443..<9000)
    let reading = history.reading(at: start + .seconds(60 * 9000))
    #expect(reading.minutes.count == 1440 && reading.dayBefore.count == 1440)
    #expect(reading.dayBefore.last??.mostPlayers == 8999 - 1440 && history.finished.count == 2879)
    #expect(reading.lastDay.admissions == 1440 && reading.lastHour.admissions == 60)
  }

  /// What the documents say of the memory: minutes in which nobody was refused hold nothing but themselves.
  @Test func minutesWithoutRefusalsAreSmall() {
    #expect(MemoryLayout<HistoryState.Finished?>.stride <= 88)
    var history = HistoryState()
    history.note(totals(refused: 1), at: start)
    history.note(totals(refused: 1), at: start + .seconds(60))
    history.note(totals(refused: 3), at: start + .seconds(120))
    history.note(totals(refused: 3), at: start + .seconds(180))
    let codes = RefusalCode.allCases.count
    #expect(history.finished.map { $0?.refusals.count } == [codes, 0, codes])
    #expect(history.reading(at: start + .seconds(181)).commonest.first?.minutes == [1, 0, 2, 0])
  }

  @Test func lagIsOfTheMinuteAndNotOfTheStart() {
    var history = HistoryState()
    history.note(totals(turns: [(10, 5), (8000, 900)]), at: start)
    history.note(totals(turns: [(10, 1000), (8000, 900)]), at: start + .seconds(60))
    let reading = history.reading(at: start + .seconds(60))
    #expect(reading.minutes.map { $0?.lagMicroseconds } == [8000, 10])
    #expect(reading.turns.first?.percentile(99) == 10 && reading.turns.first?.count == 995)
  }

  @Test func turnsOfTheLastMinuteAlone() {
    var history = HistoryState()
    for second in 0..<300 { history.note(totals(turns: [(20, second)]), at: start + .seconds(second)) }
    let count = history.reading(at: start + .seconds(300)).turns.first?.count ?? 0
    #expect((60...79).contains(count))
  }
}

@Suite struct TurnDifferenceTests {
  private func reading(_ buckets: [(Int, Int)], _ maximum: Int) -> TurnReading {
    TurnReading(
      buckets: buckets.map { TurnReading.Bucket(microseconds: $0.0, count: $0.1) }, maximum: maximum)
  }

  @Test func whatWasBetween() {
    let before = reading([(1, 2), (8, 1)], 8)
    let after = reading([(1, 2), (5, 3), (8, 4), (15, 1)], 14)
    #expect(after.since(before) == reading([(5, 3), (8, 3), (15, 1)], 14))
    #expect(after.since(after) == reading([], 0))
    #expect(after.since(reading([], 0)) == after)
  }
}

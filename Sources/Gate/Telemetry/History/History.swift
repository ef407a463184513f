/// The last two days of the gate, minute by minute, for the console (docs/console.md, "Console"): noted each second by the
/// housekeeper, in memory. What outlives the process is taken from here and given back by the thread that keeps its file.
///
/// Minutes are counted by the monotonic clock, so that a clock that is set neither makes holes nor fills them; a page
/// counts back from now. A minute takes 88 bytes, and 256 more if somebody was refused in it: two days take a quarter of a
/// megabyte where nobody is refused, and 1 MB at most.
package import Metrics
package import PortcullisProtocol
internal import Synchronization
package import Time

/// What is counted since the start, and who is there, at one moment.
package struct HistoryTotals: Equatable, Sendable {
  /// Sessions with a connection.
  package var players = 0
  package var admissions = 0
  package var registrations = 0
  /// In the order of `RefusalCode`.
  package var refusals = [Int](repeating: 0, count: RefusalCode.allCases.count)
  package var bytesFromPlayers = 0
  package var bytesFromGame = 0
  /// By loop.
  package var turns: [TurnReading] = []

  package init(players: Int = 0) {
    self.players = players
  }
}

package struct HistoryReading: Sendable {
  /// Of the last day, oldest first, the running minute last; nil where nobody noted anything, as the process was stopped.
  package let minutes: [HistoryPeriod?]
  /// Those of the day before, each a day before the one at the same distance from the end; empty where none is known.
  package let dayBefore: [HistoryPeriod?]
  /// How long ago the running minute began.
  package let sinceLastBegan: Duration
  /// How long ago the gate was started.
  package let sinceStart: Duration
  /// How long ago it was started each time in the last day's minutes, this one included; the longest ago first.
  package let starts: [Duration]
  package let lastHour: HistoryPeriod
  package let lastDay: HistoryPeriod
  /// Those that occurred in the last day, in the order of the codes.
  package let refusals: [(code: RefusalCode, lastHour: Int, lastDay: Int)]
  /// The three that occurred most often, the commonest first, with how often in each of `minutes`.
  package let commonest: [(code: RefusalCode, minutes: [Int])]
  /// By loop: turns of the last minute, give or take ten seconds.
  package let turns: [TurnReading]
}

package final class History: Sendable {
  private let state = Mutex(HistoryState())

  package init() {}

  package func note(_ totals: HistoryTotals, at now: MonotonicTime) {
    state.withLock { $0.note(totals, at: now) }
  }

  package func goOn(after earlier: [HistoryMinute], wall: UnixTime, now: MonotonicTime) {
    state.withLock { $0.goOn(after: earlier, wall: wall, now: now) }
  }

  package func onFile(wall: UnixTime, now: MonotonicTime) -> HistoryOnFile {
    state.withLock { $0 }.onFile(wall: wall, now: now)
  }

  package func reading(at now: MonotonicTime) -> HistoryReading {
    // A copy, which shares what it holds until the next note: the housekeeper waits for no page.
    state.withLock { $0 }.reading(at: now)
  }
}

struct HistoryState: Sendable {
  static let minutes = HistoryMinute.ofADay
  static let kept = HistoryMinute.kept
  private static let minuteNanoseconds: UInt64 = 60_000_000_000
  /// How many readings of turns are kept, and how far apart.
  private static let markCount = 7
  /// Codes whose every minute is told.
  private static let told = 3
  private static let markDistance: Duration = .seconds(10)

  private struct Minute {
    var period = HistoryPeriod()
    var refusals: [UInt32] = []
    /// When it began.
    var turns: [TurnReading]
  }

  private(set) var startedAt: MonotonicTime?
  /// How many minutes are over.
  private var index = 0
  /// Those that are over, the newest last; those of earlier processes too.
  private(set) var finished: [Finished?] = []
  private var running = Minute(turns: [])
  private var last = HistoryTotals()
  private var marks: [(at: MonotonicTime, turns: [TurnReading])] = []

  struct Finished {
    /// In milliseconds since this gate's start, like all times here; negative of an earlier one.
    var begin: Int64
    /// When a gate was started in it.
    var start: Int64?
    var period: HistoryPeriod
    /// Empty where nobody was refused: most minutes are like that, and take a quarter of the memory.
    var refusals: [UInt32]
  }

  var runningMinute: Finished {
    Finished(
      begin: Int64(index) * HistoryMinute.milliseconds, start: index == 0 ? 0 : nil, period: running.period,
      refusals: running.refusals)
  }

  mutating func note(_ totals: HistoryTotals, at now: MonotonicTime) {
    guard let startedAt else {
      // What came before the first second counts in the first minute.
      self.startedAt = now
      running = Minute(turns: totals.turns.map { _ in TurnReading(buckets: [], maximum: 0) })
      count(totals)
      mark(totals.turns, at: now)
      return
    }
    let nanoseconds = now > startedAt ? now.nanoseconds - startedAt.nanoseconds : 0
    let minute = Int(clamping: nanoseconds / Self.minuteNanoseconds)
    if minute > index { finish(until: minute) }
    count(totals)
    mark(totals.turns, at: now)
  }

  private mutating func finish(until minute: Int) {
    finished.append(runningMinute)
    // Those in which nobody noted anything: the process or the machine was stopped.
    for _ in 0..<min(minute - index - 1, Self.kept) { finished.append(nil) }
    keepTwoDays()
    index = minute
    running = Minute(turns: last.turns)
  }

  private mutating func keepTwoDays() {
    if finished.count >= Self.kept { finished.removeFirst(finished.count - Self.kept + 1) }
  }

  /// In front of what was counted so far, the newest last.
  mutating func prepend(_ earlier: [Finished?]) {
    finished = earlier + finished
    keepTwoDays()
  }

  private mutating func count(_ totals: HistoryTotals) {
    running.period.mostPlayers = max(running.period.mostPlayers, totals.players)
    running.period.admissions += totals.admissions - last.admissions
    running.period.registrations += totals.registrations - last.registrations
    running.period.bytesFromPlayers += totals.bytesFromPlayers - last.bytesFromPlayers
    running.period.bytesFromGame += totals.bytesFromGame - last.bytesFromGame
    for code in totals.refusals.indices {
      let count = totals.refusals[code] - last.refusals[code]
      guard count != 0 else { continue }
      if running.refusals.isEmpty { running.refusals = [UInt32](repeating: 0, count: totals.refusals.count) }
      running.period.refusals += count
      running.refusals[code] &+= UInt32(clamping: count)
    }
    running.period.lagMicroseconds =
      zip(totals.turns, running.turns).map { $0.since($1).percentile(99) }.max() ?? 0
    last = totals
  }

  private mutating func mark(_ turns: [TurnReading], at now: MonotonicTime) {
    if let newest = marks.last, now - newest.at < Self.markDistance { return }
    marks.append((now, turns))
    if marks.count > Self.markCount { marks.removeFirst() }
  }

  func reading(at now: MonotonicTime) -> HistoryReading {
    let lastDay = finished.suffix(Self.minutes - 1)
    let minutes = lastDay.map { $0?.period } + [running.period]
    let refusals = lastDay.map { $0?.refusals } + [running.refusals]
    func period(_ count: Int) -> HistoryPeriod {
      minutes.suffix(count).reduce(into: HistoryPeriod()) { sum, minute in if let minute { sum.add(minute) } }
    }
    func sum(_ code: Int, _ count: Int) -> Int {
      refusals.suffix(count).reduce(0) { $0 + Self.count(code, $1) }
    }
    let began = (startedAt ?? now).adding(UInt64(index) * Self.minuteNanoseconds)
    let oldest = marks.first?.turns ?? []
    let age = (now - (startedAt ?? now)).wholeMilliseconds
    let starts = (lastDay + [runningMinute]).compactMap { $0?.start }
    let told = RefusalCode.allCases.enumerated().compactMap { index, code in
      let day = sum(index, Self.minutes)
      return day > 0 ? (index: index, code: code, lastHour: sum(index, 60), lastDay: day) : nil
    }
    return HistoryReading(
      minutes: minutes, dayBefore: finished.dropLast(lastDay.count).map { $0?.period },
      sinceLastBegan: now - began, sinceStart: now - (startedAt ?? now),
      starts: starts.map { .milliseconds(age - $0) },
      lastHour: period(60), lastDay: period(Self.minutes),
      refusals: told.map { ($0.code, $0.lastHour, $0.lastDay) },
      commonest: told.sorted { $0.lastDay > $1.lastDay }.prefix(Self.told).map { commonest in
        (commonest.code, refusals.map { Self.count(commonest.index, $0) })
      },
      turns: zip(last.turns, oldest).map { $0.since($1) })
  }

  /// - Parameter minute: nil where nobody noted anything.
  private static func count(_ code: Int, _ minute: [UInt32]?) -> Int {
    guard let minute, !minute.isEmpty else { return 0 }
    return Int(minute[code])
  }
}

extension HistoryTotals {
  package init(players: Int, _ loops: [Counters]) {
    self.players = players
    for counters in loops {
      admissions += counters.admitted.value
      registrations += counters.registrations.value
      bytesFromPlayers += counters.bytesFromPlayers.value
      bytesFromGame += counters.bytesFromGame.value
      turns.append(counters.turns.reading)
      for (code, count) in counters.refusalsByCode {
        if let index = RefusalCode.allCases.firstIndex(of: code) { refusals[index] += count }
      }
    }
  }
}

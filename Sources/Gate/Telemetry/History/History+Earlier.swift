/// How the last two days go on over a restart: what this process has counted on its way to a file, and what earlier ones have
/// counted on its way back, each minute where it was by the wall clock.
internal import Metrics
internal import Time

extension HistoryState {
  /// Those that are over and the running one, by the clock as it is now.
  package func onFile(wall: UnixTime, now: MonotonicTime) -> HistoryOnFile {
    let origin = origin(wall, now)
    let minutes = (finished.compactMap(\.self) + [runningMinute]).map { minute in
      HistoryMinute(
        begin: UnixTime(milliseconds: origin + minute.begin),
        startedAt: minute.start.map { UnixTime(milliseconds: origin + $0) }, period: minute.period,
        refusals: minute.refusals)
    }
    return HistoryOnFile(startedAt: UnixTime(milliseconds: origin), minutes: minutes)
  }

  /// - Parameter earlier: in any order. Left out is what the clock has not come to yet, and what is two days old.
  package mutating func goOn(after earlier: [HistoryMinute], wall: UnixTime, now: MonotonicTime) {
    let origin = origin(wall, now)
    var places = [Finished?](repeating: nil, count: Self.kept - 1)
    var newer: (ago: Int64, place: Int)?
    for minute in earlier.sorted(by: { $0.begin > $1.begin }) {
      let ago = origin - minute.begin.milliseconds
      guard ago > 0 else { continue }
      var place = Int((ago - 1) / HistoryMinute.milliseconds)
      // Of one process: the clock may have been corrected a little between the two.
      if let newer, abs(ago - newer.ago - HistoryMinute.milliseconds) <= Self.correction {
        place = newer.place + 1
      }
      guard place < places.count else { break }
      places[place] = Finished(minute, after: origin, with: places[place])
      newer = (ago, place)
    }
    prepend(places.reversed().drop { $0 == nil }.map(\.self))
  }

  /// More than a minute's worth of what clocks are slewed by.
  private static let correction: Int64 = 1000

  /// When this gate was started, by the wall clock.
  private func origin(_ wall: UnixTime, _ now: MonotonicTime) -> Int64 {
    wall.milliseconds - (now - (startedAt ?? now)).wholeMilliseconds
  }
}

extension HistoryState.Finished {
  /// - Parameter other: the later part of the same minute, where gates ran one after the other.
  fileprivate init(_ minute: HistoryMinute, after origin: Int64, with other: Self?) {
    begin = minute.begin.milliseconds - origin
    start = other?.start ?? minute.startedAt.map { $0.milliseconds - origin }
    period = minute.period
    refusals = minute.refusals
    guard let other else { return }
    period.add(other.period)
    if refusals.isEmpty {
      refusals = other.refusals
    } else if !other.refusals.isEmpty {
      refusals = zip(refusals, other.refusals).map { UInt32(clamping: UInt64($0) + UInt64($1)) }
    }
  }
}

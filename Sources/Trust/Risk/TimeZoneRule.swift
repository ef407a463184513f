/// How far from UTC a zone's clocks are at some time, now and as long as its law stays (RFC 9636 §3.3, the footer of a file).
internal import DeviceWire
internal import Time

private let secondsOfDay: Int64 = 86_400

struct TimeZoneRule: Equatable {
  /// In minutes, to the east.
  private let standard: Int
  private let summer: Summer?

  private struct Summer: Equatable {
    let offset: Int
    let start: Turn
    /// Before `start` in the south.
    let end: Turn
  }

  init(offset: Int) {
    standard = offset
    summer = nil
  }

  /// From `60` or `60/120,3.5.0@60,10.5.0@60`, as the table has them.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ",")
    let offsets = parts.first?.split(separator: "/").map { Int($0) } ?? []
    guard let standard = offsets.first ?? nil else { return nil }
    self.standard = standard
    guard parts.count > 1 else {
      guard offsets.count == 1 else { return nil }
      summer = nil
      return
    }
    guard parts.count == 3, offsets.count == 2, let offset = offsets[1], let start = Turn(parts[1]),
      let end = Turn(parts[2])
    else { return nil }
    summer = Summer(offset: offset, start: start, end: end)
  }

  func offset(at time: UnixSeconds) -> Int {
    guard let summer else { return standard }
    let year = UnixTime.civil(fromDays: time.value / secondsOfDay).year
    let (start, end) = (summer.start.seconds(in: year), summer.end.seconds(in: year))
    let isSummer =
      start < end ? (start..<end).contains(time.value) : !(end..<start).contains(time.value)
    return isSummer ? summer.offset : standard
  }
}

/// When clocks are put forward or back: on such a weekday of a month, so many minutes of UTC after that date began.
private struct Turn: Equatable {
  let month: Int64
  /// 1…4, and 5 for the last one.
  let week: Int64
  /// 0 is Sunday.
  let weekday: Int64
  let minute: Int64

  /// From `3.5.0@60`.
  init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "@")
    let date = parts.first?.split(separator: ".").compactMap { Int64($0) } ?? []
    guard parts.count == 2, date.count == 3, let minute = Int64(parts[1]) else { return nil }
    (month, week, weekday, self.minute) = (date[0], date[1], date[2], minute)
  }

  func seconds(in year: Int64) -> Int64 {
    let first = UnixTime.days(fromCivil: year, month, 1)
    // The first day of 1970 was a Thursday.
    let firstWeekday = (first + 4) % 7
    var day = (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
    if day >= UnixTime.days(inMonth: month, of: year) { day -= 7 }
    return (first + day) * secondsOfDay + minute * 60
  }
}

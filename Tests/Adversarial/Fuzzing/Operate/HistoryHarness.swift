/// The history's file (docs/console.md, "Console") as a crash, a disk or another program may have left it: what is read
/// is written and read again as the same, and a day of it can be added up.
@testable internal import Metrics
internal import System

enum HistoryHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    // Past the checksums, which random bytes never have.
    _ = try checkParsed(sealed(bytes))
    return try checkParsed(bytes)
  }

  private static func checkParsed(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let minutes: [HistoryMinute]
    do throws(HistoryFileError) {
      minutes = try HistoryFile.parse(bytes.span)
    } catch {
      return .refused
    }
    try require(minutes.count <= HistoryFile.places, "\(minutes.count) minutes")
    let text = HistoryFile.text(minutes)
    try require(text.count == HistoryFile.bytes, "written, it has \(text.count) bytes")
    let again: [HistoryMinute]
    do throws(HistoryFileError) {
      again = try HistoryFile.parse(text.span)
    } catch {
      throw BrokenProperty("what was written cannot be read: \(error)")
    }
    try require(again == minutes, "written, it reads otherwise")
    var day = HistoryPeriod()
    for minute in minutes {
      day.add(minute.period)
      try require(minute.period.refusals == minute.refusals.reduce(0) { $0 + Int($1) }, "a wrong sum")
      if let start = minute.startedAt { try require(start >= minute.begin, "started before its minute") }
    }
    try require(day.bytesFromPlayers >= 0 && day.bytesFromGame >= 0, "less than nothing")
    return .accepted
  }

  /// Our own head, or that of the input, and the rest as places; each with the checksum that it needs.
  private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
    let isHead = bytes.count > HistoryFile.headBytes && bytes[0] == HistoryFile.magic[0]
    var text = isHead ? HistoryFile.sealed(head: bytes) : HistoryFile.head
    var rest = isHead ? bytes[HistoryFile.headBytes...] : bytes[...]
    while !rest.isEmpty {
      let place = rest.prefix(HistoryFile.placeBytes).dropFirst(4)
      text += HistoryFile.sealed(place: Array(place))
      rest = rest.dropFirst(HistoryFile.placeBytes)
    }
    return text
  }
}

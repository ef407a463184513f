/// `/hours`: the last day of the overview's drawings in numbers, for who does not see them and for who wants them exactly.
internal import Prompt
internal import System
internal import Time

struct HoursPage: Sendable {
  var history: History
}

extension HoursPage: ConsolePage {
  func html(_ frame: PageFrame) -> [UInt8] {
    let layout = Layout(
      entry: .overview, heading: "The last 24 hours, hour by hour", above: ("Overview", .overview))
    return layout.html(frame) { $0.table(table) }
  }

  func live() -> LiveAnswer {
    var answer = LiveAnswer()
    answer.add(table)
    return answer
  }

  private var table: Table {
    let points = Array(history.points.suffix(History.minutes))
    var rows: [[Cell]] = []
    var end = points.count
    while end > 0 {
      let begin = max(end - 60, 0)
      let minutes = points[begin..<end].compactMap { $0 }
      let from = history.end.milliseconds - Int64(points.count - 1 - begin) * 60_000
      let time = Cell.time(UnixTime(milliseconds: from))
      if minutes.isEmpty {
        rows.append([time, .text("did not run"), .none, .none, .none, .none])
      } else {
        rows.append([
          time, .number(minutes.map(\.players).max() ?? 0),
          .number(minutes.reduce(0) { $0 &+ $1.admissions }),
          .number(minutes.reduce(0) { $0 &+ $1.refusals }),
          .microseconds(minutes.map(\.lagMicroseconds).max() ?? 0),
          .bytes(minutes.reduce(0) { $0 &+ $1.bytes }),
        ])
      }
      end = begin
    }
    return Table(
      name: "hours", caption: "The latest first",
      columns: [
        .init("from", "From"), .init("players", "Most players", isNumber: true),
        .init("admissions", "Admissions", isNumber: true), .init("refusals", "Refusals", isNumber: true),
        .init("lag", "Slowest turn", isNumber: true), .init("traffic", "Traffic", isNumber: true),
      ], rows: rows, empty: "Nothing is known yet.")
  }
}

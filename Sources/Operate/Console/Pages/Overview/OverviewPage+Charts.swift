/// The last day of the overview: drawings, and the same in words and numbers for who does not see them.
internal import Prompt
internal import System
internal import Time

extension OverviewPage {
  var charts: [Chart] {
    [
      Chart("chart-players", "Players", .count, of: history, isWide: true, \.players),
      Chart("chart-admissions", "Admissions a minute", .count, of: history, \.admissions),
      Chart("chart-refusals", "Refusals a minute", .count, of: history, \.refusals),
      Chart("chart-lag", "Slowest turns", .microseconds, of: history, \.lagMicroseconds),
      Chart("chart-traffic", "Traffic a minute", .bytes, of: history) { Int(clamping: $0.bytes) },
    ]
  }

  func startsAndGaps(_ html: inout HTML) {
    let starts = history.starts.suffix(5)
    let missing = History.minutes - history.points.count { $0 != nil }
    if starts.isEmpty, missing <= 0 { return }
    html.element(.p, .class(.note)) { html in
      if !starts.isEmpty {
        html.text("\(history.starts.count == 1 ? "Dashed line" : "Dashed lines"): the gate was started ")
        for (index, start) in starts.enumerated() {
          if index > 0 { html.text(index == starts.count - 1 ? " and " : ", ") }
          html.cell(.time(start))
        }
        if history.starts.count > starts.count {
          html.text(" and \(Wording.count(history.starts.count - starts.count)) times before")
        }
        html.text(". ")
      }
      if missing > 0 {
        html.text(
          "Nothing is drawn for \(Wording.duration(seconds: Int64(missing) * 60)) in which this gate did not run."
        )
      }
    }
  }

  /// What the drawings show, as a table.
  func hours(_ html: inout HTML) {
    html.element(.details) { html in
      html.element(.summary, text: "The same hour by hour, as a table")
      html.table(hoursTable)
    }
  }

  private var hoursTable: Table {
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
      name: "hours", caption: "The last 24 hours, the latest first",
      columns: [
        .init("from", "From"), .init("players", "Most players", isNumber: true),
        .init("admissions", "Admissions", isNumber: true), .init("refusals", "Refusals", isNumber: true),
        .init("lag", "Slowest turn", isNumber: true), .init("traffic", "Traffic", isNumber: true),
      ], rows: rows, empty: "Nothing is known yet.")
  }
}

extension HTML {
  /// A part of a page with its heading of the second rank.
  mutating func section(_ heading: String, content: (inout HTML) -> Void) {
    element(.section) { html in
      html.element(.h2, text: heading)
      content(&html)
    }
  }
}

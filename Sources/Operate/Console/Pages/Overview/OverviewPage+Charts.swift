/// The last day of the overview: drawings, and the same in words and numbers for who does not see them.
internal import PortcullisProtocol
internal import Prompt
internal import System
internal import Time

extension OverviewPage {
  var charts: [Chart] {
    [
      Chart("chart-players", "Players", .count, of: history, isWide: true, \.players),
      Chart("chart-admissions", "Admissions a minute", .count, of: history, \.admissions),
      Chart(
        "chart-refusals", "Refusals a minute", .count, of: history,
        layers: history.commonest.map { Chart.Layer(title: $0.code.rawValue, values: $0.minutes) },
        \.refusals),
      Chart("chart-lag", "Slowest turns", .microseconds, of: history, \.lagMicroseconds),
      Chart("chart-traffic", "Traffic a minute", .bytes, of: history) { Int(clamping: $0.bytes) },
    ]
  }

  /// Empty as long as no day before is known.
  var aboutDayBefore: String {
    let isDrawn = history.span == History.minutes && history.dayBefore.contains { $0 != nil }
    return isDrawn ? "The thin line is the day before. " : ""
  }

  func startsAndGaps(_ html: inout HTML) {
    let starts = history.starts.suffix(5)
    let missing = history.span - history.points.suffix(history.span).count { $0 != nil }
    html.element(.p, .class(.note)) { html in
      if history.span < History.minutes, let first = history.points.firstIndex(where: { $0 != nil }) {
        html.text("Collecting since ")
        html.moment(
          UnixTime(milliseconds: history.end.milliseconds - Int64(history.points.count - 1 - first) * 60_000))
        html.text(": the day is shown after the first hour. ")
      }
      if !starts.isEmpty {
        html.text("\(history.starts.count == 1 ? "Dashed line" : "Dashed lines"): the gate was started ")
        for (index, start) in starts.enumerated() {
          if index > 0 { html.text(index == starts.count - 1 ? " and " : ", ") }
          html.moment(start)
        }
        if history.starts.count > starts.count {
          html.text(" and \(Wording.count(history.starts.count - starts.count)) times before")
        }
        html.text(". ")
      }
      if missing > 0, history.span == History.minutes {
        html.text(
          "Nothing is drawn for \(Wording.duration(seconds: Int64(missing) * 60)) in which this gate did not run. "
        )
      }
      html.element(.span, .text(.dataLive, "day-before"), text: aboutDayBefore)
      html.element(.span, .fixed(.dataZone), text: "Hours are in UTC.")
    }
  }
}

extension HTML {
  /// A time to be found on an axis: by the clock, however long ago it was.
  fileprivate mutating func moment(_ time: UnixTime) {
    element(
      .time, .fixed(.dataExact), .text(.dateTime, time.timestamp), .text(.title, time.timestamp),
      text: Wording.time(time))
  }

  /// A part of a page with its heading of the second rank.
  mutating func section(_ heading: String, content: (inout HTML) -> Void) {
    element(.section) { html in
      html.element(.h2, text: heading)
      content(&html)
    }
  }
}

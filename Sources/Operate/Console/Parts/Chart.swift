/// One number over the last day as a small drawing, with its words: a column for a few minutes, nothing where the gate did
/// not run, a mark where it was started.
internal import JSON
internal import Prompt
internal import System
internal import Time

struct Chart: Sendable {
  enum Unit: Sendable {
    case count
    case microseconds
    case bytes

    func text(_ number: Int) -> String {
      switch self {
      case .count: Wording.count(number)
      case .microseconds: Wording.microseconds(number)
      case .bytes: Wording.bytes(UInt64(max(number, 0)))
      }
    }

    /// The least height: a single player is no mountain.
    fileprivate var least: Int {
      switch self {
      case .count: 5
      case .microseconds: 1000
      case .bytes: 1000
      }
    }
  }

  static let width = History.minutes
  static let height = 200
  /// A screen has no more columns to show; a page of half a dozen charts is short for it.
  private let minutesPerColumn: Int

  let name: StaticString
  let title: String
  let unit: Unit
  /// Oldest first; nil where the gate did not run.
  let values: [Int?]
  /// In minutes from the left.
  let starts: [Int]

  /// - Parameter number: what of a minute is drawn.
  init(
    _ name: StaticString, _ title: String, _ unit: Unit, of history: History, isWide: Bool = false,
    _ number: (History.Minute) -> Int
  ) {
    self.name = name
    self.title = title
    self.unit = unit
    minutesPerColumn = isWide ? 3 : 6
    let points = history.points.suffix(Self.width)
    values = points.map { $0.map(number) }
    let end = history.end.milliseconds / 60_000
    starts = history.starts.map { Int(clamping: $0.milliseconds / 60_000 - end) + Self.width - 1 }
      .filter { (0..<Self.width).contains($0) }
  }

  // MARK: Words

  var now: String { values.last.flatMap { $0 }.map(unit.text) ?? "–" }
  var most: String { values.compactMap { $0 }.max().map(unit.text) ?? "–" }

  /// What whoever does not see the drawing is told.
  var description: String {
    var text = "\(title) in the last 24 hours: now \(now), most \(most)"
    let missing = Self.width - values.count { $0 != nil }
    if missing > 0 { text += "; nothing is known of \(Wording.duration(seconds: Int64(missing) * 60))" }
    if !starts.isEmpty { text += "; the gate was started \(Wording.count(starts.count, "time", "times"))" }
    return text + "."
  }

  // MARK: Drawing

  /// The number at the top: one digit and zeros, of which the half is a plain number too.
  var top: Int {
    let most = max(values.compactMap { $0 }.max() ?? 0, unit.least)
    var step = 1
    while true {
      for factor in [1, 2, 3, 4, 6, 8] where factor * step >= most { return factor * step }
      let (next, isTooLarge) = step.multipliedReportingOverflow(by: 10)
      if isTooLarge || next > Int.max / 8 { return most }
      step = next
    }
  }

  var outline: Outline {
    let top = Double(top)
    let first = Self.width - values.count
    var outline = Outline()
    var isDrawing = false
    var right = 0
    for start in stride(from: 0, to: values.count, by: minutesPerColumn) {
      let minutes = values[start..<min(start + minutesPerColumn, values.count)]
      let left = first + start
      guard let most = minutes.compactMap({ $0 }).max() else {
        if isDrawing { outline.line(to: right, Self.height) }
        isDrawing = false
        continue
      }
      let height = Self.height - Int((Double(max(most, 0)) / top * Double(Self.height)).rounded())
      if !isDrawing { outline.move(to: left, Self.height) }
      isDrawing = true
      right = left + minutes.count
      outline.line(to: left, height)
      outline.line(to: right, height)
    }
    if isDrawing { outline.line(to: right, Self.height) }
    return outline
  }
}

// MARK: HTML and JSON

extension HTML {
  mutating func chart(_ chart: Chart) {
    element(.figure, .class(.chart)) { html in
      html.element(.figureCaption) { html in
        html.element(.span, .class(.chartTitle), text: chart.title)
        html.text(" ")
        html.element(.span, .class(.note)) { html in
          html.text("now ")
          html.element(.span, .text(.dataLive, "\(chart.name)-now"), text: chart.now)
          html.text(" · most ")
          html.element(.span, .text(.dataLive, "\(chart.name)-most"), text: chart.most)
        }
      }
      html.element(.div, .class(.plot)) { html in
        html.element(.div, .class(.scale), .fixed(.ariaHidden, "true")) { html in
          html.element(.span, .text(.dataLive, "\(chart.name)-top"), text: chart.unit.text(chart.top))
          html.element(.span, text: "0")
        }
        html.drawing(of: chart)
        html.element(.div, .class(.span), .fixed(.ariaHidden, "true")) { html in
          for text in ["24 h ago", "12 h ago", "now"] { html.element(.span, text: text) }
        }
      }
    }
  }

  private mutating func drawing(of chart: Chart) {
    element(
      .svg, .fixed(.viewBox, "0 0 1440 200"), .fixed(.preserveAspectRatio, "none"), .fixed(.role, "img"),
      .text(.ariaLabel, chart.description), .text(.dataChart, "\(chart.name)"), .fixed(.focusable, "false")
    ) { html in
      for x in [360, 720, 1080] { html.line(.grid, x, 0, x, Chart.height) }
      html.line(.grid, 0, Chart.height / 2, Chart.width, Chart.height / 2)
      html.element(.path, .class(.area), .drawing(chart.outline))
      html.element(.g) { html in
        for start in chart.starts { html.line(.start, start, 0, start, Chart.height) }
      }
      html.line(.base, 0, Chart.height, Chart.width, Chart.height)
    }
  }

  private mutating func line(_ style: StyleClass, _ x1: Int, _ y1: Int, _ x2: Int, _ y2: Int) {
    element(
      .line, .class(style), .number(.fromX, x1), .number(.fromY, y1), .number(.toX, x2), .number(.toY, y2))
  }
}

extension Chart {
  func writeValues(to writer: inout JSONWriter) {
    writer.member("\(name)-now", now)
    writer.member("\(name)-most", most)
    writer.member("\(name)-top", unit.text(top))
  }

  func writeDrawing(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("label", description)
    writer.member("d", outline.text)
    writer.name("starts")
    writer.beginArray()
    for start in starts { writer.value(start) }
    writer.endArray()
    writer.endObject()
  }
}

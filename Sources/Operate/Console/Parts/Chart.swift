/// One number over the last day, or over a new gate's first hour, as a small drawing with its words: a column for a few
/// minutes, nothing where the gate did not run, a mark where it was started, and the day before as a line to compare with.
internal import Prompt
internal import System
internal import Time

struct Chart: Sendable {
  enum Unit: String, Sendable {
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

  /// A part of the whole, which lies at its foot.
  struct Layer: Sendable {
    let title: String
    let values: [Int?]
  }

  static let width = History.minutes
  static let height = 200

  let name: StaticString
  let title: String
  let unit: Unit
  let isWide: Bool
  /// Minutes that the width stands for.
  let span: Int
  /// Oldest first; nil where the gate did not run.
  let values: [Int?]
  /// Of the day before, each a day before the value at the same distance from the end; empty in the first hour.
  let before: [Int?]
  /// The lowest first, each on those below it.
  let layers: [Layer]
  /// In minutes from the left.
  let starts: [Int]
  /// When the last minute is over: the right edge.
  let end: UnixTime

  /// - Parameters:
  ///   - layers: parts of `number`, by minutes as `history` has them.
  ///   - number: what of a minute is drawn.
  init(
    _ name: StaticString, _ title: String, _ unit: Unit, of history: History, isWide: Bool = false,
    layers: [Layer] = [], _ number: (History.Minute) -> Int
  ) {
    self.name = name
    self.title = title
    self.unit = unit
    self.isWide = isWide
    let span = history.span
    self.span = span
    let points = history.points.suffix(span)
    values = points.map { $0.map(number) }
    before = span == Self.width ? history.dayBefore.suffix(span).map { $0.map(number) } : []
    var sum = [Int?](repeating: 0, count: points.count)
    self.layers = layers.map { layer in
      let part = layer.values.suffix(points.count)
      if part.count == sum.count {
        sum = zip(sum, part).map { below, own in below.flatMap { below in own.map { below &+ $0 } } }
      }
      return Layer(title: layer.title, values: sum)
    }
    let minute = history.end.milliseconds / 60_000
    starts = history.starts.map { Int(clamping: $0.milliseconds / 60_000 - minute) + span - 1 }
      .filter { (0..<span).contains($0) }
    let (edge, isOver) = history.end.milliseconds.addingReportingOverflow(60_000)
    end = UnixTime(milliseconds: isOver ? .max : edge)
  }

  // MARK: Words

  var now: String { values.last.flatMap { $0 }.map(unit.text) ?? "–" }
  var most: String { values.compactMap { $0 }.max().map(unit.text) ?? "–" }

  /// The drawing in words, for readers who do not see it.
  var description: String {
    var text = "\(title) in the last \(span == Self.width ? "24 hours" : "hour"): now \(now), most \(most)"
    let missing = span - values.count { $0 != nil }
    if let most = before.compactMap({ $0 }).max().map(unit.text) {
      let then = before.last.flatMap { $0 }.map(unit.text) ?? "–"
      text += "; the day before at this time \(then), most \(most)"
    }
    if missing > 0 { text += "; nothing is known of \(Wording.duration(seconds: Int64(missing) * 60))" }
    if !starts.isEmpty { text += "; the gate was started \(Wording.count(starts.count, "time", "times"))" }
    return text + "."
  }

  // MARK: Scales

  /// The lines across: steps of 1, 2 or 5 and zeros, six at most, so that little is left empty at the top.
  var scale: (step: Int, count: Int) {
    let most = max((values + before).compactMap { $0 }.max() ?? 0, unit.least)
    var power = 1
    while true {
      for factor in [1, 2, 5] {
        let step = factor * power
        let count = (most - 1) / step + 1
        if count <= 6, !count.multipliedReportingOverflow(by: step).overflow { return (step, count) }
      }
      let (next, isTooLarge) = power.multipliedReportingOverflow(by: 10)
      if isTooLarge || next > Int.max / 5 { return (most, 1) }
      power = next
    }
  }

  /// The number at the top.
  var top: Int { scale.step * scale.count }

  /// From the top down to nothing.
  var ticks: [String] { (0...scale.count).reversed().map { unit.text($0 * scale.step) } }

  /// Full hours, or quarters of the first one, in UTC: the script has those of the reader's zone.
  var hours: [(x: Int, text: String)] {
    let quarter: Int64 = 900_000
    let (right, left) = (end.milliseconds, end.milliseconds &- Int64(span) * 60_000)
    guard left > 0, right > left else { return [] }
    return stride(from: (left / quarter + 1) * quarter, to: right, by: Int64.Stride(quarter)).compactMap {
      time in
      let minutes = Int(time / 60_000 % 1440)
      if span == Self.width, minutes % (hoursApart * 60) != 0 { return nil }
      let x = Int((time - left) * Int64(Self.width) / (Int64(span) * 60_000))
      return (x, String(UnixTime(milliseconds: time).timestamp.dropFirst(11).prefix(5)))
    }
  }

  var hoursApart: Int { isWide ? 3 : 6 }

  // MARK: Drawing

  var outline: Outline { outline(of: values) }

  /// The day before, a line that does not come down where it ends.
  var line: Outline { outline(of: before, isArea: false) }

  /// - Parameter isArea: down to the ground at both ends.
  func outline(of values: [Int?], isArea: Bool = true) -> Outline {
    let top = Double(top)
    let unit = Self.width / span
    // A screen has no more columns to show; a page of half a dozen charts is short for it.
    let minutesPerColumn = unit > 1 ? 1 : isWide ? 4 : layers.isEmpty ? 8 : 12
    let first = span - values.count
    var outline = Outline()
    var drawn: Int?
    var right = 0
    for start in stride(from: 0, to: values.count, by: minutesPerColumn) {
      let minutes = values[start..<min(start + minutesPerColumn, values.count)]
      let left = (first + start) * unit
      guard let most = minutes.compactMap({ $0 }).max() else {
        if drawn != nil {
          outline.line(to: right, drawn ?? 0)
          if isArea { outline.line(to: right, Self.height) }
        }
        drawn = nil
        continue
      }
      let height = Self.height - Int((Double(max(most, 0)) / top * Double(Self.height)).rounded())
      if drawn == nil { outline.move(to: left, isArea ? Self.height : height) }
      // What stays as high is one line.
      if let before = drawn, before != height { outline.line(to: left, before) }
      if drawn != height { outline.line(to: left, height) }
      drawn = height
      right = left + minutes.count * unit
    }
    if let drawn {
      outline.line(to: right, drawn)
      if isArea { outline.line(to: right, Self.height) }
    }
    return outline
  }
}

extension History {
  /// A day; an hour as long as there is no more than that.
  var span: Int {
    let points = points.suffix(Self.minutes)
    guard let first = points.firstIndex(where: { $0 != nil }) else { return Self.minutes }
    return points.endIndex - first <= Self.firstHour ? Self.firstHour : Self.minutes
  }

  static let firstHour = 60
}

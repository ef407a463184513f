/// Rows below a heading, in columns as wide as what stands in them: for a person at a terminal. Scripts get plain lines.
import System

package struct TextTable {
  package struct Column: Sendable {
    let heading: String
    let isNumber: Bool
    let canBeCut: Bool

    /// - Parameters:
    ///   - isNumber: it ends where the others end.
    ///   - canBeCut: what it says is worth less than a line that fits.
    package init(_ heading: String, isNumber: Bool = false, canBeCut: Bool = false) {
      self.heading = heading
      self.isNumber = isNumber
      self.canBeCut = canBeCut
    }
  }

  package struct Cell: ExpressibleByStringInterpolation, Sendable {
    let text: String
    let colour: Paint.Colour?

    package init(_ text: String, _ colour: Paint.Colour? = nil) {
      self.text = text
      self.colour = colour
    }

    package init(stringLiteral text: String) { self.init(text) }
  }

  private static let gap = "  "
  /// What a column that is cut keeps.
  private static let least = 8

  private let columns: [Column]
  private var widths: [Int]
  private var rows: [[Cell]] = []
  private var hasHeading: Bool

  package init(_ columns: [Column], hasHeading: Bool = true) {
    self.columns = columns
    self.hasHeading = hasHeading
    widths = columns.map(\.heading.displayColumns)
  }

  /// Rows that wait to be taken.
  package var count: Int { rows.count }

  /// - Parameter cells: one for each column; those that lack at the end are empty.
  package mutating func add(_ cells: [Cell]) {
    rows.append(cells)
    for (index, cell) in cells.enumerated() where index < widths.count {
      widths[index] = max(widths[index], cell.text.displayColumns)
    }
  }

  /// The lines of what was added since the last time, the heading before the first of all.
  /// - Parameter window: how wide the terminal is; nil where nothing is to be cut.
  package mutating func take(in window: Int?, _ paint: Paint) -> [String] {
    let widths = fitted(to: window)
    var lines: [String] = []
    if hasHeading { lines.append(line(columns.map { Cell($0.heading, .bold) }, widths, paint)) }
    hasHeading = false
    lines += rows.map { line($0, widths, paint) }
    rows.removeAll(keepingCapacity: true)
    return lines
  }

  /// The widest column that may be cut gives first.
  private func fitted(to window: Int?) -> [Int] {
    var widths = widths
    guard let window else { return widths }
    var excess = widths.reduce(0, +) + Self.gap.count * (widths.count - 1) - window
    while excess > 0 {
      let givers = widths.indices.filter { columns[$0].canBeCut && widths[$0] > Self.least }
      guard let widest = givers.max(by: { widths[$0] < widths[$1] }) else { break }
      widths[widest] -= 1
      excess -= 1
    }
    return widths
  }

  private func line(_ cells: [Cell], _ widths: [Int], _ paint: Paint) -> String {
    var line = ""
    // Nothing follows the last text of a line.
    let last = cells.lastIndex { !$0.text.isEmpty } ?? 0
    for (index, (cell, width)) in zip(cells, widths).enumerated() where index <= last {
      let text = Wording.cut(cell.text, toColumns: width)
      let room = String(repeating: " ", count: max(0, width - text.displayColumns))
      let shown = paint(text, cell.colour)
      if index > 0 { line += Self.gap }
      line += columns[index].isNumber ? room + shown : index == last ? shown : shown + room
    }
    return line
  }
}

extension Output {
  /// So many rows are looked at for the width of columns, before the first of them is shown.
  private static var most: Int { 1000 }

  /// Adds a row, and shows those that wait once they are many.
  package mutating func row(_ cells: [TextTable.Cell], of table: inout TextTable) throws {
    table.add(cells)
    if table.count >= Self.most { try rows(of: &table) }
  }

  /// Shows the rows that wait.
  package mutating func rows(of table: inout TextTable) throws {
    for line in table.take(in: WindowSize(of: 1)?.columns, .standardOutput) { try self.line(line) }
  }
}

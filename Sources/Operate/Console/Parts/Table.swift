/// A table of a page: a caption, columns with their headings, rows, and a sentence for none.
internal import JSON

struct Table: Sendable {
  struct Column: Sendable {
    let name: StaticString
    let title: String
    /// To the right, with digits below each other.
    let isNumber: Bool
    /// Left out where there is no room: the row's own page has it.
    let isMinor: Bool
    /// How the row stands: beside its head where each row takes two lines.
    let isMark: Bool
    /// Words of the gate's own, of which none is cut in two.
    let isWhole: Bool

    init(
      _ name: StaticString, _ title: String, isNumber: Bool = false, isMinor: Bool = false,
      isMark: Bool = false, isWhole: Bool = false
    ) {
      self.name = name
      self.title = title
      self.isNumber = isNumber
      self.isMinor = isMinor
      self.isMark = isMark
      self.isWhole = isWhole
    }

    fileprivate var style: Attribute? {
      .class(
        isNumber ? .number : nil, isMinor ? .minor : nil, isMark ? .standing : nil, isWhole ? .whole : nil)
    }
  }

  let name: StaticString
  let caption: String
  /// The heading above says it already: only read aloud.
  var hidesCaption = false
  /// The first one heads its row.
  let columns: [Column]
  /// As many cells as there are columns.
  let rows: [[Cell]]
  /// In place of rows.
  let empty: String
}

extension HTML {
  /// A part of the page that is there while the table has rows; the script shows and hides it with them.
  /// - Parameter isWhole: else it is there without rows too, as something was looked for.
  mutating func shown(
    with table: Table, _ classes: StyleClass..., isWhole: Bool = true, content: (inout HTML) -> Void
  ) {
    element(
      .section, .classes(classes), isWhole ? .text(.dataSome, "\(table.name)") : nil,
      isWhole && table.rows.isEmpty ? .fixed(.hidden) : nil, content: content)
  }

  /// In place of filters and empty tables: how the first row comes to be. There while none of the tables has rows.
  /// - Parameter isWhole: all is shown that there is: nothing is looked for, and it is the first page.
  mutating func blank(_ tables: [Table], isWhole: Bool, content: (inout HTML) -> Void) {
    guard isWhole else { return }
    element(
      .section, .class(.panel, .blank), .text(.dataNone, tables.map { "\($0.name)" }.joined(separator: " ")),
      tables.contains { !$0.rows.isEmpty } ? .fixed(.hidden) : nil, content: content)
  }

  mutating func table(_ table: Table) {
    element(.table, .text(.dataTable, "\(table.name)"), .text(.dataEmpty, table.empty)) { html in
      html.element(
        .caption, .class(table.hidesCaption ? .onlyRead : nil),
        .text(.dataLive, "\(table.name)-caption"), text: table.caption)
      html.element(.thead) { html in
        html.element(.tr) { html in
          for column in table.columns {
            html.element(
              .th, .fixed(.scope, "col"), column.style,
              .text(.dataColumn, "\(column.name)"), text: column.title)
          }
        }
      }
      html.element(.tbody) { html in
        for row in table.rows { html.row(row, table.columns) }
        if table.rows.isEmpty {
          html.element(.tr) { html in
            html.element(.td, .class(.empty), .number(.columnSpan, table.columns.count), text: table.empty)
          }
        }
      }
    }
  }

  private mutating func row(_ cells: [Cell], _ columns: [Table.Column]) {
    element(.tr) { html in
      for (index, (cell, column)) in zip(cells, columns).enumerated() {
        // Where there is no room for columns, a number says what it counts.
        let label = column.isNumber ? Attribute.text(.dataLabel, column.title) : nil
        let style = column.style
        if index == 0 {
          html.element(.th, .fixed(.scope, "row"), style, label) { $0.cell(cell) }
        } else {
          html.element(.td, style, label) { $0.cell(cell) }
        }
      }
    }
  }
}

extension JSONWriter {
  /// Rows as objects by the columns' names.
  mutating func rows(of table: Table) {
    beginArray()
    for row in table.rows {
      beginObject()
      for (cell, column) in zip(row, table.columns) {
        name("\(column.name)")
        self.cell(cell)
      }
      endObject()
    }
    endArray()
  }
}

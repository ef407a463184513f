/// A table of a page: a caption, columns with their headings, rows, and a sentence for none.
internal import JSON

struct Table: Sendable {
  struct Column: Sendable {
    let name: StaticString
    let title: String
    /// To the right, with digits below each other.
    let isNumber: Bool

    init(_ name: StaticString, _ title: String, isNumber: Bool = false) {
      self.name = name
      self.title = title
      self.isNumber = isNumber
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
  mutating func table(_ table: Table) {
    element(.table, .text(.dataTable, "\(table.name)"), .text(.dataEmpty, table.empty)) { html in
      html.element(
        .caption, .class(table.hidesCaption ? .onlyRead : nil),
        .text(.dataLive, "\(table.name)-caption"), text: table.caption)
      html.element(.thead) { html in
        html.element(.tr) { html in
          for column in table.columns {
            html.element(
              .th, .fixed(.scope, "col"), .class(column.isNumber ? .number : nil),
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
        // Where there is no room for columns, each cell says what it is.
        let label = Attribute.text(.dataLabel, column.title)
        let style = Attribute.class(column.isNumber ? .number : nil)
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

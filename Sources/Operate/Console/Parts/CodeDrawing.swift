/// A QR code as a drawing in the page: dark on white in every scheme, with the light rim without which readers do not find it.
internal import QRCode

struct CodeDrawing: Sendable {
  /// What one module takes, where there is room.
  private static let pixels = 5

  let code: QRCode

  var size: Int { code.width + 2 * QRCode.quietZone }
  var pixels: Int { size * Self.pixels }

  /// Each run of dark modules is a line of one module's breadth through the middle of its row.
  var outline: Outline {
    var outline = Outline()
    for row in 0..<code.width {
      var column = 0
      while column < code.width {
        guard code.isDark(column: column, row: row) else {
          column += 1
          continue
        }
        let start = column
        while code.isDark(column: column, row: row) { column += 1 }
        outline.move(to: start, row)
        outline.line(to: column, row)
      }
    }
    return outline
  }
}

extension HTML {
  mutating func code(_ drawing: CodeDrawing, says label: String) {
    element(
      .svg, .class(.scan), .viewBox(x: -QRCode.quietZone, aboveRow: -QRCode.quietZone, size: drawing.size),
      .number(.width, drawing.pixels), .number(.height, drawing.pixels), .fixed(.role, "img"),
      .text(.ariaLabel, label), .fixed(.focusable, "false")
    ) { $0.element(.path, .drawing(drawing.outline)) }
  }
}

/// A QR code in a page: what is drawn is what the code is.
import QRCode
import Testing

@testable import Console

@Suite struct CodeDrawingTests {
  /// Module by module, from the lines of the drawing.
  @Test(arguments: ["A", "PORTCULLIS:/1/AAAAAAAAAAAAAAAAAA/BBBBBBBBBBBBBBBB/CCCCCCCC/GATE.EXAMPLE:443"])
  func everyModuleIsDrawn(text: String) throws {
    let code = try #require(QRCode(text))
    let drawing = CodeDrawing(code: code)
    var dark = Set<[Int]>()
    for match in drawing.outline.text.matches(of: /M(\d+) (\d+)h(\d+)/) {
      let (column, row, count) = try (
        #require(Int(match.1)), #require(Int(match.2)), #require(Int(match.3))
      )
      for module in column..<column + count { #expect(dark.insert([module, row]).inserted) }
    }
    for row in 0..<code.width {
      for column in 0..<code.width {
        #expect(dark.contains([column, row]) == code.isDark(column: column, row: row), "\(column), \(row)")
      }
    }
    #expect(drawing.size == code.width + 8 && drawing.pixels.isMultiple(of: drawing.size))
  }
}

/// How a terminal shows a QR code: two rows of modules in a line of half blocks, black on white whatever its own colours are.
extension QRCode {
  /// Light modules around the code, without which readers do not find it (ISO/IEC 18004, "Quiet zone").
  package static let quietZone = 4
  /// Enough on a screen, where nothing else is drawn beside the code; for windows that have no room for more.
  package static let narrowQuietZone = 2

  /// How many columns a line takes.
  package var terminalColumns: Int { terminalColumns(quietZone: Self.quietZone) }

  package func terminalColumns(quietZone: Int) -> Int { width + 2 * quietZone }

  /// The lines, without their ends. Each sets its colours (ECMA-48 SGR) and puts them back.
  ///
  /// Black and white are 16 and 231 of the 256 colours: the first sixteen are what a theme makes of them.
  package var terminalLines: [String] { terminalLines(quietZone: Self.quietZone) }

  package func terminalLines(quietZone: Int) -> [String] {
    let start = -quietZone
    let end = width + quietZone
    return stride(from: start, to: end, by: 2).map { row in
      let blocks = (start..<end).map { column in
        // An odd number of rows leaves half a line, which is as light as the quiet zone above it.
        switch (isDark(column: column, row: row), isDark(column: column, row: row + 1)) {
        case (false, false): " "
        case (true, false): "▀"
        case (false, true): "▄"
        case (true, true): "█"
        }
      }
      return "\u{1B}[38;5;16;48;5;231m\(blocks.joined())\u{1B}[0m"
    }
  }
}

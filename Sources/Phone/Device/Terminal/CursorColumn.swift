/// Where a terminal's cursor stands in its line, as far as that follows from the text that went there: escape sequences
/// take no room, wide characters take two columns, and what does not fit goes on in the next line.
internal import System

struct CursorColumn: Equatable {
  private enum Escape { case none, begun, control, string, stringEnding }

  /// From 0 to `columns`: at `columns` the line is full, and the next character opens another.
  private(set) var column = 0
  var columns: Int
  private var escape = Escape.none

  init(columns: Int) {
    self.columns = columns
  }

  mutating func pass(_ bytes: [UInt8]) {
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars { pass(scalar) }
  }

  private mutating func pass(_ scalar: Unicode.Scalar) {
    switch escape {
    case .none: print(scalar)
    case .begun:
      // ECMA-48: `[` opens a control sequence; `]`, `P`, `X`, `^` and `_` open strings.
      switch scalar {
      case "[": escape = .control
      case "]", "P", "X", "^", "_": escape = .string
      case " "..."/": break
      default: escape = .none
      }
    case .control: if ("@"..."~").contains(scalar) { escape = .none }
    case .string:
      if scalar == "\u{7}" { escape = .none }
      if scalar == "\u{1B}" { escape = .stringEnding }
    case .stringEnding: escape = .none
    }
  }

  private mutating func print(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\u{1B}": escape = .begun
    case "\r", "\n": column = 0
    case "\u{8}": column = max(0, column - 1)
    case "\t": column = min(columns, (column / 8 + 1) * 8)
    default:
      let width = scalar.displayColumns
      if column + width > columns { column = 0 }
      column += width
    }
  }
}

/// Where a terminal's cursor stands in its line, as far as that follows from the text that went there: escape sequences
/// take no room, wide characters take two columns, and what does not fit goes on in the next line.
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
      let width = Self.width(of: scalar)
      if column + width > columns { column = 0 }
      column += width
    }
  }

  /// How many columns a character takes: after UAX #11 and its table, in large blocks.
  static func width(of scalar: Unicode.Scalar) -> Int {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0: return 0
    case 0x20..<0x300: return 1
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: break
    }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return 1
    }
  }
}

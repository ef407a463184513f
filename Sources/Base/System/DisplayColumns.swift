/// How many columns of a terminal a character takes: after UAX #11 and its table, in large blocks.
extension Unicode.Scalar {
  package var displayColumns: Int {
    switch value {
    case 0..<0x20, 0x7F..<0xA0: return 0
    case 0x20..<0x300: return 1
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF, 0x20000...0x3FFFD:
      return 2
    default: break
    }
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format: return 0
    default: return 1
    }
  }
}

extension StringProtocol {
  /// Of all characters together. Escape sequences count as what they would be in print.
  package var displayColumns: Int { unicodeScalars.reduce(0) { $0 + $1.displayColumns } }
}

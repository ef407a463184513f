/// Which characters of a text are shown: the script writes what the gate would have written.

enum ShownText {
  /// Control characters, format characters (marks of direction, zero-width ones, tags), and what no text may hold.
  static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
      scalar != "\n" && scalar != "\t"
    case .unassigned: scalar.properties.isNoncharacterCodePoint
    default: false
    }
  }

  /// With U+FFFD in place of each that is not.
  static func visible(_ text: String) -> String {
    if text.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) { return text }
    return String(
      String.UnicodeScalarView(text.unicodeScalars.map { isHidden($0) ? "\u{FFFD}" : $0 }))
  }
}

/// HTML on its way to being bytes: text enters it escaped, and in no other way.
package struct HTML: Sendable {
  /// UTF-8.
  package private(set) var bytes: [UInt8] = []

  package init() {}

  /// Text between tags, or within the quotes of an attribute's value: what either would read as markup is written as a
  /// character reference (HTML Living Standard, "Escaping a string"), and so are characters that change the direction of
  /// what follows or do not show (Unicode UAX #9), and control characters, which stand as U+FFFD.
  package mutating func text(_ text: String) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": append("&amp;")
      case "<": append("&lt;")
      case ">": append("&gt;")
      case "\"": append("&quot;")
      case "'": append("&#39;")
      case "\n", "\t": bytes.append(UInt8(scalar.value))
      default:
        if Self.isHidden(scalar) { append("\u{FFFD}") } else { append(String(Character(scalar))) }
      }
    }
  }

  /// Control characters, and format characters: marks of direction, zero-width ones, tags.
  private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: true
    default: false
    }
  }

  private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }
}

/// Why an operator has revoked a key, in his own words: 1 to 256 printable characters (docs/key-store.md, "Snapshot").
package struct RevocationReason: Equatable, Sendable {
  package static let longest = 256

  package let text: String

  /// Blanks around it are not a part of it. Nil when nothing is left, when it is too long, and when it holds what does not
  /// show as it is: control characters, marks that turn the reading direction, what has no meaning in Unicode.
  package init?(_ text: String) {
    let scalars = Array(text.unicodeScalars)
    guard let first = scalars.firstIndex(where: { $0 != " " }),
      let last = scalars.lastIndex(where: { $0 != " " }), last - first < Self.longest,
      scalars[first...last].allSatisfy(Self.isPrintable)
    else { return nil }
    var kept = String.UnicodeScalarView()
    kept.append(contentsOf: scalars[first...last])
    self.text = String(kept)
  }

  /// A character of the text is a scalar of Unicode here: a letter may carry any number of marks.
  private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
    default: true
    }
  }
}

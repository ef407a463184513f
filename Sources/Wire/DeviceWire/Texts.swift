/// Texts that people read or type: which characters none of them holds, and the forms of those that messages carry.
internal import Bytes

/// What a person is shown must look like what it is.
package enum ShownText {
  /// Characters that hide, end a line or turn the reading direction: C0, DEL and C1; the Arabic letter mark; zero width
  /// characters, joiners and marks; separators and bidi controls; invisible operators and isolates; the byte order mark;
  /// tags (UAX #9, UTR #36).
  package static func isRefused(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x0000...0x001F, 0x007F...0x009F, 0x061C, 0x200B...0x200F, 0x2028...0x202E, 0x2060...0x2069, 0xFEFF,
      0xE0000...0xE007F:
      true
    default: false
    }
  }

  /// Whether none of the refused characters is in it.
  package static func isClean(_ text: String) -> Bool { !text.unicodeScalars.contains(where: isRefused) }
}

extension String {
  /// Whether both are the same bytes: `==` holds texts for equal that only look alike, which sign differently.
  package func isSameText(as other: String) -> Bool {
    utf8.span.isEqual(to: other.utf8.span)
  }
}

/// What a phone calls itself: 1 to 128 bytes, without refused characters, and never normalised.
package struct DeviceName: Hashable, Sendable {
  package let text: String

  package init?(_ text: String) {
    guard (1...128).contains(text.utf8.count), ShownText.isClean(text) else { return nil }
    self.text = text
  }

  package static func == (left: Self, right: Self) -> Bool { left.text.isSameText(as: right.text) }

  package func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

/// Whom a token is for: at most 256 bytes; empty for the gate itself.
package struct Audience: Hashable, Sendable {
  package let text: String

  package static let gate = Self(checked: "")

  package init?(_ text: String) {
    guard text.utf8.count <= 256, ShownText.isClean(text) else { return nil }
    self.init(checked: text)
  }

  private init(checked text: String) {
    self.text = text
  }

  package var isGate: Bool { text.isEmpty }

  package static func == (left: Self, right: Self) -> Bool { left.text.isSameText(as: right.text) }

  package func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

/// The digits that show an approver which request is his: two to six, or none where none were issued.
package struct MatchCode: Hashable, Sendable {
  package let text: String

  package static let none = Self(checked: "")

  /// From two to six of `0` to `9`, or an empty text.
  package init?(_ text: String) {
    guard text.isEmpty || (2...6).contains(text.utf8.count),
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    self.init(checked: text)
  }

  private init(checked text: String) {
    self.text = text
  }

  package var isNone: Bool { text.isEmpty }
}

/// Texts that people are shown or that are signed, which are compared as bytes and hold nothing that hides.

/// What a person is shown must look like what it is.
public enum ShownText {
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

  /// Beyond them, what takes no room of its own or looks like nothing: soft hyphen, joiners, fillers of Hangul, Mongolian
  /// and variation selectors, annotations. With one of them a name looks like another (UTS #39 §5.4).
  package static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00AD, 0x034F, 0x115F...0x1160, 0x17B4...0x17B5, 0x180B...0x180F, 0x3164, 0xFE00...0xFE0F, 0xFFA0,
      0xFFF9...0xFFFB, 0x1BCA0...0x1BCA3, 0x1D173...0x1D17A, 0xE0100...0xE01EF:
      true
    default: false
    }
  }

  /// Whether no refused character is in it: what a summary is read with.
  public static func isReadable(_ text: String) -> Bool { !text.unicodeScalars.contains(where: isRefused) }

  /// Whether it may be taken in to be shown: nothing in it is refused, and nothing is invisible. The selector that makes
  /// a picture of an emoji changes what is seen, and every keyboard writes it: behind one it may stand.
  public static func isClean(_ text: String) -> Bool {
    var isBehindEmoji = false
    for scalar in text.unicodeScalars {
      if isRefused(scalar) { return false }
      if isInvisible(scalar), !(scalar == pictureSelector && isBehindEmoji) { return false }
      isBehindEmoji = !scalar.isASCII && scalar.properties.isEmoji
    }
    return true
  }

  private static let pictureSelector: Unicode.Scalar = "\u{FE0F}"
}

extension String {
  /// Whether both are the same bytes: `==` holds texts for equal that only look alike, which sign differently.
  package func isSameText(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// What a phone calls itself: 1 to 128 bytes, without refused characters, and never normalised.
public struct DeviceName: Hashable, Sendable {
  /// As it was given.
  public let text: String

  /// Nil for what no phone may be called.
  public init?(_ text: String) {
    guard (1...128).contains(text.utf8.count), ShownText.isClean(text) else { return nil }
    self.text = text
  }

  /// As a store has it: taken in by the rules of its time.
  package init?(stored text: String) {
    guard (1...128).contains(text.utf8.count), ShownText.isReadable(text) else { return nil }
    self.text = text
  }

  /// As bytes.
  public static func == (left: Self, right: Self) -> Bool { left.text.isSameText(as: right.text) }

  /// Of its bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

/// Whom a token is for: at most 256 bytes; empty for the gate itself.
public struct Audience: Hashable, Sendable {
  /// As tokens name it.
  public let text: String

  /// The gate itself.
  public static let gate = Self(checked: "")

  /// Nil for what is too long, or holds what hides.
  public init?(_ text: String) {
    guard text.utf8.count <= 256, ShownText.isClean(text) else { return nil }
    self.init(checked: text)
  }

  private init(checked text: String) {
    self.text = text
  }

  /// Whether it is the gate itself.
  public var isGate: Bool { text.isEmpty }

  /// As bytes.
  public static func == (left: Self, right: Self) -> Bool { left.text.isSameText(as: right.text) }

  /// Of its bytes.
  public func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

/// The digits that show an approver which request is his: two to six, or none where none were issued.
public struct MatchCode: Hashable, Sendable {
  /// Empty for none.
  public let text: String

  /// Where none were issued.
  public static let none = Self(checked: "")

  /// From two to six of `0` to `9`, or an empty text.
  public init?(_ text: String) {
    guard text.isEmpty || (2...6).contains(text.utf8.count),
      text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    self.init(checked: text)
  }

  private init(checked text: String) {
    self.text = text
  }

  /// Whether there are no digits.
  public var isNone: Bool { text.isEmpty }
}

/// The value of `GMCP_AGAIN`: the GMCP packages whose last value is said again (docs/sessions.md, "State again").

package struct AgainSelection: Equatable, Sendable {
  /// In lower case; a word that ends in `.` stands for all packages below it.
  private let words: [[UInt8]]

  /// Names of packages, `Name.*` for all below one, or `*`. Nil if a word is none of these.
  package init?(words: [String]) {
    var lowered: [[UInt8]] = []
    for word in words {
      if word == "*" {
        lowered.append([])
        continue
      }
      var name = word.utf8.map(Self.lowercased)
      if name.suffix(2) == [UInt8(ascii: "."), UInt8(ascii: "*")] { name.removeLast() }
      guard name.first != UInt8(ascii: "."), !name.isEmpty, name.allSatisfy(Self.isOfName) else { return nil }
      lowered.append(name)
    }
    self.words = lowered
  }

  private init(known words: [String]) {
    self.words = words.map { Array($0.utf8) }
  }

  /// `Char.*,Room.*,Group.*`.
  package static let usual = Self(known: ["char.", "room.", "group."])

  package func takes(_ name: Span<UInt8>) -> Bool {
    words.contains { word in
      if word.isEmpty { return true }
      if word.last == UInt8(ascii: ".") {
        return name.count > word.count && Self.isSame(name.extracting(0..<word.count), word.span)
      }
      return Self.isSame(name, word.span)
    }
  }

  /// Without case, of ASCII letters alone.
  static func isSame(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where lowercased(left[index]) != lowercased(right[index]) { return false }
    return true
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }
}

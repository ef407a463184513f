/// A certificate's serial number as a number, so that its spelling does not matter.

package struct CertificateSerial: Hashable, Sendable, CustomStringConvertible {
  /// The highest first.
  private let words: Words

  private struct Words: Hashable, Sendable {
    var a: UInt64 = 0
    var b: UInt64 = 0
    var c: UInt64 = 0

    mutating func append(_ value: UInt8, bits: UInt64) {
      a = a << bits | b >> (64 - bits)
      b = b << bits | c >> (64 - bits)
      c = c << bits | UInt64(value)
    }
  }

  /// From the bytes of a number that is not negative, the highest first; nil for more than 24.
  package init?(magnitude bytes: Span<UInt8>) {
    guard bytes.count <= Self.byteCount else { return nil }
    var words = Words()
    for index in bytes.indices { words.append(bytes[index], bits: 8) }
    self.words = words
  }

  /// From one or more hexadecimal digits in either case; nil for others, and for what is beyond 24 bytes.
  package init?(hex text: String) {
    self.init(hex: text.utf8.span)
  }

  init?(hex digits: Span<UInt8>) {
    guard !digits.isEmpty else { return nil }
    var words = Words()
    for index in digits.indices {
      guard let value = Self.value(digits[index]), words.a >> 60 == 0 else { return nil }
      words.append(value, bits: 4)
    }
    self.words = words
  }

  /// Lower case, without leading zeros.
  package var hex: String {
    var text = ""
    for word in [words.a, words.b, words.c] {
      let digits = String(word, radix: 16)
      if text.isEmpty, word == 0 { continue }
      text += text.isEmpty ? digits : String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
    return text.isEmpty ? "0" : text
  }

  package var description: String { hex }

  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// RFC 5280 §4.1.2.2 allows 20.
  private static let byteCount = 24
}

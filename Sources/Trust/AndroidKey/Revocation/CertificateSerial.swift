/// A certificate's serial number as a number, so that its spelling does not matter.
internal import Bytes

package struct CertificateSerial: Hashable, Sendable, CustomStringConvertible {
  /// Its last 24 bytes, the highest first: longer ones break RFC 5280 §4.1.2.2, and are numbers all the same.
  private let words: Words
  /// What is before them, without leading zeros.
  private let front: [UInt8]

  private struct Words: Hashable, Sendable {
    var a: UInt64 = 0
    var b: UInt64 = 0
    var c: UInt64 = 0

    static let byteCount = 24

    init(_ bytes: Span<UInt8>) {
      for index in bytes.indices {
        a = a << 8 | b >> 56
        b = b << 8 | c >> 56
        c = c << 8 | UInt64(bytes[index])
      }
    }
  }

  /// From the bytes of a number that is not negative, the highest first.
  package init(magnitude bytes: Span<UInt8>) {
    let frontCount = max(0, bytes.count - Words.byteCount)
    words = Words(bytes.extracting(frontCount..<bytes.count))
    var front: [UInt8] = []
    for index in 0..<frontCount where !front.isEmpty || bytes[index] != 0 { front.append(bytes[index]) }
    self.front = front
  }

  /// From one or more hexadecimal digits in either case; nil for others.
  package init?(hex text: String) {
    self.init(hex: text.utf8.span)
  }

  init?(hex digits: Span<UInt8>) {
    guard !digits.isEmpty else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2 + 1)
    for index in digits.indices {
      guard let value = Self.value(digits[index]) else { return nil }
      // The last digit is the lower half of a byte, however many there are.
      if index == 0 || (digits.count - index).isMultiple(of: 2) {
        bytes.append(value)
      } else {
        bytes[bytes.count - 1] = bytes[bytes.count - 1] << 4 | value
      }
    }
    self.init(magnitude: bytes.span)
  }

  /// Lower case, without leading zeros.
  package var hex: String {
    let text = Hex.encode(front.span) + [words.a, words.b, words.c].map(Self.digits).joined()
    let shown = text.drop { $0 == "0" }
    return shown.isEmpty ? "0" : String(shown)
  }

  private static func digits(_ word: UInt64) -> String {
    let digits = String(word, radix: 16)
    return String(repeating: "0", count: 16 - digits.utf8.count) + digits
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
}

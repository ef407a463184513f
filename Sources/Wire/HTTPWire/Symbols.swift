/// The byte classes of HTTP's grammar (RFC 9110 §5.6, RFC 3986 §2), and comparisons on ASCII.
enum Symbol {
  static let tab = UInt8(ascii: "\t")
  static let lineFeed = UInt8(ascii: "\n")
  static let carriageReturn = UInt8(ascii: "\r")
  static let space = UInt8(ascii: " ")
  static let quote = UInt8(ascii: "\"")
  static let comma = UInt8(ascii: ",")
  static let slash = UInt8(ascii: "/")
  static let colon = UInt8(ascii: ":")
  static let question = UInt8(ascii: "?")
  static let percent = UInt8(ascii: "%")

  /// `tchar` (RFC 9110 §5.6.2).
  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
      UInt8(ascii: "%"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"),
      UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// What a field value may hold: visible ASCII, space and tab. RFC 9110 §5.5 lets 8-bit bytes through;
  /// docs/protocol.md, "HTTP" does not.
  static func isValue(_ byte: UInt8) -> Bool {
    byte == tab || (0x20...0x7E).contains(byte)
  }

  /// What a request target may hold: the characters of RFC 3986 without `#`, which never goes over the wire.
  static func isTarget(_ byte: UInt8) -> Bool {
    switch byte {
    case slash, question, colon, percent, UInt8(ascii: "@"), UInt8(ascii: "["), UInt8(ascii: "]"): true
    default: isHostName(byte)
    }
  }

  /// `unreserved / sub-delims`: what a registered name may hold beside percent-encoded bytes.
  static func isHostName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"), UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"),
      UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","),
      UInt8(ascii: ";"), UInt8(ascii: "="):
      true
    default: false
    }
  }

  static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(lowercased(byte))
  }

  static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  @inline(__always)
  static func all(_ bytes: Span<UInt8>, _ isAllowed: (UInt8) -> Bool) -> Bool {
    for index in bytes.indices where !isAllowed(bytes[index]) { return false }
    return true
  }

  /// Every `%` is followed by two hexadecimal digits (RFC 3986 §2.1).
  static func percentEncodingIsWhole(_ bytes: Span<UInt8>) -> Bool {
    for index in bytes.indices where bytes[index] == percent {
      guard index + 2 < bytes.count, isHexDigit(bytes[index + 1]), isHexDigit(bytes[index + 2]) else {
        return false
      }
    }
    return true
  }

  static func equal(_ bytes: Span<UInt8>, _ text: String) -> Bool {
    bytes.count == text.utf8.count && begins(bytes, with: text)
  }

  static func equalIgnoringCase(_ bytes: Span<UInt8>, _ text: String) -> Bool {
    bytes.count == text.utf8.count && begins(bytes, with: text, ignoringCase: true)
  }

  static func begins(_ bytes: Span<UInt8>, with text: String, ignoringCase: Bool = false) -> Bool {
    let expected = text.utf8.span
    guard bytes.count >= expected.count else { return false }
    for index in expected.indices where bytes[index] != expected[index] {
      guard ignoringCase, lowercased(bytes[index]) == lowercased(expected[index]) else { return false }
    }
    return true
  }

  static func equalIgnoringCase(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
    guard left.count == right.count else { return false }
    for index in left.indices where lowercased(left[index]) != lowercased(right[index]) { return false }
    return true
  }
}

/// `token` (RFC 9110 §5.6.2), for those who read field values.
package enum TokenSyntax {
  package static func isTokenByte(_ byte: UInt8) -> Bool { Symbol.isToken(byte) }

  package static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(Symbol.isToken)
  }
}

/// Bytes as text, as far as headers and requests need it: base64 and base64url (RFC 4648), and hexadecimal digits.
package enum TextEncoding {
  /// RFC 4648 §4, with padding.
  package static func base64(_ bytes: [UInt8]) -> String {
    let text = encode(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
    return text + String(repeating: "=", count: (3 - bytes.count % 3) % 3)
  }

  /// RFC 4648 §5, without padding.
  package static func base64URL(_ bytes: [UInt8]) -> String {
    encode(bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
  }

  private static func encode(_ bytes: [UInt8], _ alphabet: String) -> String {
    let alphabet = Array(alphabet.utf8)
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count / 3 * 4 + 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let group = bytes[start..<min(start + 3, bytes.count)]
      var value = 0
      for byte in group { value = value << 8 | Int(byte) }
      value <<= 8 * (3 - group.count)
      for sextet in 0...group.count { text.append(alphabet[value >> (18 - 6 * sextet) & 63]) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil for what is not two digits for each byte.
  package static func bytes(ofHex text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(ofDigit: digits[start]), let low = value(ofDigit: digits[start + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// RFC 4648 §4, with padding; nil for anything else.
  package static func bytes(ofBase64 text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 4) else { return nil }
    let padding = digits.suffix(2).count { $0 == UInt8(ascii: "=") }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 4 * 3)
    var group = 0
    for (place, digit) in digits.enumerated() {
      let isPadding = place >= digits.count - padding
      guard let sextet = isPadding ? 0 : value(ofBase64: digit) else { return nil }
      group = group << 6 | sextet
      if place % 4 == 3 {
        bytes += [UInt8(group >> 16 & 255), UInt8(group >> 8 & 255), UInt8(group & 255)]
        group = 0
      }
    }
    bytes.removeLast(padding)
    // What the padding stands for is zero, or the same bytes would have several texts.
    return base64(bytes) == text ? bytes : nil
  }

  private static func value(ofBase64 digit: UInt8) -> Int? {
    switch digit {
    case 0x41...0x5A: Int(digit) - 0x41
    case 0x61...0x7A: Int(digit) - 0x61 + 26
    case 0x30...0x39: Int(digit) - 0x30 + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }

  private static func value(ofDigit digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x41 + 10
    case 0x61...0x66: digit - 0x61 + 10
    default: nil
    }
  }
}

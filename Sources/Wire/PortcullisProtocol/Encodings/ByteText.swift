/// Bytes as text, as messages have them: hexadecimal in lower case, base64url without padding (docs/protocol.md).

/// One spelling for each value when written; what is read is refused where it is ambiguous.
public enum ByteText {
  /// Two lower-case digits a byte.
  public static func hex(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    return String(
      decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
  }

  /// Nil for an odd number of digits, and for anything but lower-case ones.
  public static func bytes(hex text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    for place in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(ofHex: digits[place]), let low = value(ofHex: digits[place + 1]) else {
        return nil
      }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func value(ofHex digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }

  /// With the alphabet of RFC 4648 §5, without padding.
  public static func base64URL(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let part = bytes[start..<min(start + 3, bytes.count)]
      var group: UInt32 = 0
      for place in 0..<3 { group = group << 8 | (place < part.count ? UInt32(part[start + place]) : 0) }
      for place in 0...part.count { text.append(alphabet[Int(group >> UInt32(18 - 6 * place) & 63)]) }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// From either alphabet of RFC 4648: that of §4 with its padding, that of §5 with or without. Nil for a mixture of both,
  /// for other characters, and for spare bits that are not zero.
  public static func bytes(base64 text: String) -> [UInt8]? {
    var symbols = Array(text.utf8)
    let whole = symbols.count
    while symbols.last == UInt8(ascii: "="), whole - symbols.count < 2 { symbols.removeLast() }
    let isPadded = symbols.count < whole
    if isPadded, !whole.isMultiple(of: 4) { return nil }
    if symbols.count % 4 == 1 { return nil }
    var isPlain = false
    var isURL = false
    var bytes: [UInt8] = []
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for symbol in symbols {
      let value: UInt8
      switch symbol {
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = symbol - UInt8(ascii: "A")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): value = symbol - UInt8(ascii: "a") + 26
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = symbol - UInt8(ascii: "0") + 52
      case UInt8(ascii: "+"), UInt8(ascii: "/"):
        isPlain = true
        value = symbol == UInt8(ascii: "+") ? 62 : 63
      case UInt8(ascii: "-"), UInt8(ascii: "_"):
        isURL = true
        value = symbol == UInt8(ascii: "-") ? 62 : 63
      default: return nil
      }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> count))
      bits &= 1 << count - 1
    }
    if isPlain && isURL || bits != 0 { return nil }
    // The alphabet of §4 needs its padding.
    if isPlain, !whole.isMultiple(of: 4) { return nil }
    return bytes
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}

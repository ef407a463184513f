/// Base64 (RFC 4648) under the one rule of SPEC §3: one alphabet a value, spare bits zero.
///
/// The alphabet of §4 needs its padding; that of §5 (base64url) may leave it out. No white space, no line breaks.
package enum Base64 {
  /// With the alphabet of §4 and padding.
  package static func encode(_ bytes: Span<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    append(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  /// The same, behind what `text` already holds.
  package static func append(_ bytes: Span<UInt8>, to text: inout [UInt8]) {
    var index = 0
    while index < bytes.count {
      let left = bytes.count - index
      let group =
        UInt32(bytes[index]) << 16 | (left > 1 ? UInt32(bytes[index + 1]) << 8 : 0)
        | (left > 2 ? UInt32(bytes[index + 2]) : 0)
      text.append(alphabet[Int(group >> 18)])
      text.append(alphabet[Int(group >> 12 & 63)])
      text.append(left > 1 ? alphabet[Int(group >> 6 & 63)] : padding)
      text.append(left > 2 ? alphabet[Int(group & 63)] : padding)
      index += 3
    }
  }

  /// The bytes, or nil when `text` breaks the rule.
  package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
    var digits = text.count
    while digits > 0, text.count - digits < 2, text[digits - 1] == padding { digits -= 1 }
    let padded = digits < text.count
    if padded, !text.count.isMultiple(of: 4) { return nil }
    if digits % 4 == 1 { return nil }

    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits / 4 * 3 + 2)
    var usesStandard = false
    var usesURL = false
    var bits: UInt32 = 0
    for index in 0..<digits {
      let symbol = text[index]
      switch symbol {
      case UInt8(ascii: "+"), UInt8(ascii: "/"): usesStandard = true
      case UInt8(ascii: "-"), UInt8(ascii: "_"): usesURL = true
      default: break
      }
      let value = values[Int(symbol)]
      guard value < 64 else { return nil }
      bits = bits << 6 | UInt32(value)
      if index % 4 == 3 {
        bytes.append(UInt8(truncatingIfNeeded: bits >> 16))
        bytes.append(UInt8(truncatingIfNeeded: bits >> 8))
        bytes.append(UInt8(truncatingIfNeeded: bits))
        bits = 0
      }
    }
    switch digits % 4 {
    case 2:
      guard bits & 0xF == 0 else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: bits >> 4))
    case 3:
      guard bits & 0x3 == 0 else { return nil }
      bytes.append(UInt8(truncatingIfNeeded: bits >> 10))
      bytes.append(UInt8(truncatingIfNeeded: bits >> 2))
    default: break
    }
    if usesStandard, usesURL { return nil }
    // Only base64url may go without padding.
    if usesStandard, !padded, digits % 4 != 0 { return nil }
    return bytes
  }

  private static let padding = UInt8(ascii: "=")
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 255, count: 256)
    for (value, symbol) in alphabet.enumerated() { table[Int(symbol)] = UInt8(value) }
    table[Int(UInt8(ascii: "-"))] = 62
    table[Int(UInt8(ascii: "_"))] = 63
    return table
  }()
}

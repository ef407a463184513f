/// Base64 (RFC 4648) under the one rule of docs/protocol.md, "Registration": one alphabet a value, spare bits zero.
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

  /// With the alphabet of §5 and without padding.
  package static func encodeURL(_ bytes: Span<UInt8>) -> String {
    var text: [UInt8] = []
    append(bytes, to: &text)
    while text.last == padding { text.removeLast() }
    for index in text.indices {
      switch text[index] {
      case UInt8(ascii: "+"): text[index] = UInt8(ascii: "-")
      case UInt8(ascii: "/"): text[index] = UInt8(ascii: "_")
      default: break
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes, or nil when `text` breaks the rule.
  package static func decode(_ text: Span<UInt8>) -> [UInt8]? { decode(text, refusing: 0) }

  /// - Parameter refused: marks of symbols that are refused even where all are of one alphabet.
  private static func decode(_ text: Span<UInt8>, refusing refused: UInt8) -> [UInt8]? {
    var digits = text.count
    while digits > 0, text.count - digits < 2, text[digits - 1] == padding { digits -= 1 }
    let padded = digits < text.count
    if padded, !text.count.isMultiple(of: 4) { return nil }
    if digits % 4 == 1 { return nil }

    let whole = digits / 4 * 4
    var bytes: [UInt8] = []
    bytes.reserveCapacity(whole / 4 * 3 + 2)
    // The union of all values: what kinds of symbols there were shows in the upper bits.
    var seen: UInt8 = 0
    bytes.append(addingCapacity: whole / 4 * 3) { output in
      var index = 0
      while index < whole {
        let group = group(of: 4, text, index, &seen)
        output.append(UInt8(truncatingIfNeeded: group >> 16))
        output.append(UInt8(truncatingIfNeeded: group >> 8))
        output.append(UInt8(truncatingIfNeeded: group))
        index += 4
      }
    }
    var spare: UInt32 = 0
    switch digits - whole {
    case 2:
      let group = group(of: 2, text, whole, &seen)
      bytes.append(UInt8(truncatingIfNeeded: group >> 4))
      spare = group & 0xF
    case 3:
      let group = group(of: 3, text, whole, &seen)
      bytes.append(UInt8(truncatingIfNeeded: group >> 10))
      bytes.append(UInt8(truncatingIfNeeded: group >> 2))
      spare = group & 0x3
    default: break
    }
    // Both bits: a symbol of neither alphabet, or of the two one each.
    if seen & (standard | url) == standard | url || seen & refused != 0 || spare != 0 { return nil }
    // Only base64url may go without padding.
    if seen & standard != 0, !padded, digits % 4 != 0 { return nil }
    return bytes
  }

  /// The bytes of text with the alphabet of §5 and without padding, its one form; else nil.
  package static func decodeURL(_ text: Span<UInt8>) -> [UInt8]? {
    // Anywhere but at the end, padding is in no alphabet.
    if let last = text.indices.last, text[last] == padding { return nil }
    return decode(text, refusing: standard)
  }

  /// The bits of `count` symbols, those of the first one uppermost. What kinds they are of is added to `seen`.
  @inline(__always)
  private static func group(of count: Int, _ text: Span<UInt8>, _ index: Int, _ seen: inout UInt8) -> UInt32 {
    var group: UInt32 = 0
    for place in index..<index + count {
      let value = values[Int(text[place])]
      seen |= value
      group = group << 6 | UInt32(value & 63)
    }
    return group
  }

  private static let padding = UInt8(ascii: "=")
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  /// Marks the two symbols that only the alphabet of §4 has.
  private static let standard: UInt8 = 0x40
  /// Those of §5. What is in neither alphabet has both marks.
  private static let url: UInt8 = 0x80
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: standard | url, count: 256)
    for (value, symbol) in alphabet.enumerated() { table[Int(symbol)] = UInt8(value) }
    table[Int(UInt8(ascii: "+"))] = 62 | standard
    table[Int(UInt8(ascii: "/"))] = 63 | standard
    table[Int(UInt8(ascii: "-"))] = 62 | url
    table[Int(UInt8(ascii: "_"))] = 63 | url
    return table
  }()
}

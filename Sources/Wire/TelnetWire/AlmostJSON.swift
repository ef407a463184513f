/// JSON as some games write it: control characters raw in a string, bytes that are no UTF-8, half of a surrogate pair.
///
/// A map that gets the whole message as one string has lost the number of the room for a colour in its name. So each of the
/// three is read as what a careful writer would have sent: an escape, or U+FFFD. Nothing else is repaired, and data that is
/// no JSON even so stays a text (docs/sessions.md, "From the gate").
internal import JSON

enum AlmostJSON {
  /// Nil for what is no JSON in this reading either. GMCP is UTF-8, whatever the game's charset.
  static func repaired(_ data: ArraySlice<UInt8>) -> [UInt8]? {
    // One U+FFFD for each sequence that cannot be decoded. ASCII, and so a quote, is never a part of one.
    let text = Array(String(decoding: data, as: UTF8.self).utf8)
    let json = escaped(text)
    return TelnetEngine.isJSON(json.span) ? json : nil
  }

  private static func escaped(_ text: [UInt8]) -> [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(text.count + 16)
    var isInString = false
    var index = 0
    while index < text.count {
      let byte = text[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""):
        isInString.toggle()
        json.append(byte)
      case UInt8(ascii: "\\") where isInString && index < text.count:
        if let unit = unit(text, at: index) {
          appendEscape(of: unit, text, &index, to: &json)
        } else {
          json.append(byte)
          // A control character is none of those that may be escaped: it stays as it is, and the text no JSON.
          json.append(text[index])
          index += 1
        }
      case 0..<0x20 where isInString: JSONWriter.append(escapeOf: byte, to: &json)
      default: json.append(byte)
      }
    }
    return json
  }

  /// The escape whose `u` stands at `index`, or U+FFFD in its place where it is half of a pair.
  private static func appendEscape(
    of first: UInt16, _ text: [UInt8], _ index: inout Int, to json: inout [UInt8]
  ) {
    let start = index - 1
    index += unitLength
    if UTF16.isLeadSurrogate(first) {
      let second =
        index < text.count && text[index] == UInt8(ascii: "\\") ? unit(text, at: index + 1) : nil
      if let second, UTF16.isTrailSurrogate(second) { index += 1 + unitLength }
    }
    let isAlone = index == start + 1 + unitLength && first >> 11 == 0xD800 >> 11
    if isAlone { json.append(contentsOf: "\\ufffd".utf8) } else { json += text[start..<index] }
  }

  /// Of `u` and four digits; nil for anything else.
  private static func unit(_ text: [UInt8], at start: Int) -> UInt16? {
    guard start + unitLength <= text.count, text[start] == UInt8(ascii: "u") else { return nil }
    let digits = text[start + 1..<start + unitLength]
    // No sign before them, which the standard library would take.
    guard digits.allSatisfy({ (0x30...0x39).contains($0) || (0x41...0x46).contains($0 & 0xDF) }) else {
      return nil
    }
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  private static let unitLength = 5
}

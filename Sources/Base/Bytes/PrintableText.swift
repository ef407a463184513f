/// Text of unknown origin made fit for a log line, a table or a terminal (docs/logs.md, "Logs"): nothing in it can
/// end the line, move the cursor, turn the reading direction or pass for another field.
package enum PrintableText {
  /// Stands for what was cut off.
  package static let cutMark = "\u{2026}"

  /// As it is when it is plain, else in double quotes with escapes: a value with a space, `=`, `"` or `\`, an
  /// empty one, and any with something escaped. C0, DEL, C1, line separators and bidi controls become `\n`,
  /// `\r`, `\t` or `\uXXXX`, bytes that are no UTF-8 become `\xNN`.
  ///
  /// - Parameter limit: bytes kept, cut between characters; `cutMark` follows when something is left out.
  package static func appendField(_ bytes: Span<UInt8>, limit: Int = .max, to line: inout [UInt8]) {
    let kept = keptCount(of: bytes, limit: limit)
    if isPlain(bytes, kept) {
      line.append(copying: bytes.extracting(0..<kept))
      if kept < bytes.count { line += cutMark.utf8 }
      return
    }
    appendQuoted(bytes, kept: kept, to: &line) { byte, line in
      line += "\\x".utf8
      appendHex(UInt32(byte), digits: 2, to: &line)
    }
  }

  package static func field(_ bytes: Span<UInt8>, limit: Int = .max) -> String {
    var line: [UInt8] = []
    appendField(bytes, limit: limit, to: &line)
    return String(decoding: line, as: UTF8.self)
  }

  package static func field(_ text: String, limit: Int = .max) -> String {
    field(Array(text.utf8).span, limit: limit)
  }

  /// A JSON string with its quotes (RFC 8259 §7). What a field escapes is escaped here too; bytes that are no
  /// UTF-8, for which JSON has no escape, become U+FFFD.
  package static func appendJSON(_ bytes: Span<UInt8>, limit: Int = .max, to line: inout [UInt8]) {
    let kept = keptCount(of: bytes, limit: limit)
    appendQuoted(bytes, kept: kept, to: &line) { _, line in line += "\\ufffd".utf8 }
  }

  package static func json(_ text: String) -> String {
    var line: [UInt8] = []
    appendJSON(Array(text.utf8).span, to: &line)
    return String(decoding: line, as: UTF8.self)
  }

  /// How many bytes stay when at most `limit` may: never a part of a character, unless it was no character
  /// before.
  package static func keptCount(of bytes: Span<UInt8>, limit: Int) -> Int {
    guard bytes.count > limit else { return bytes.count }
    var end = max(limit, 0)
    while end > 0, limit - end < 3, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    return bytes[end] & 0xC0 == 0x80 ? max(limit, 0) : end
  }

  /// - Parameter invalid: appends what stands for a byte that is no UTF-8.
  private static func appendQuoted(
    _ bytes: Span<UInt8>, kept: Int, to line: inout [UInt8], invalid: (UInt8, inout [UInt8]) -> Void
  ) {
    line.append(UInt8(ascii: "\""))
    var index = 0
    while index < kept {
      let run = endOfRun(bytes, from: index, before: kept)
      line.append(copying: bytes.extracting(index..<run))
      index = run
      if index == kept { break }
      guard let (scalar, length) = scalar(in: bytes, at: index) else {
        invalid(bytes[index], &line)
        index += 1
        continue
      }
      switch scalar {
      case 0x22, 0x5C: line += [UInt8(ascii: "\\"), UInt8(truncatingIfNeeded: scalar)]
      case 0x0A: line += "\\n".utf8
      case 0x0D: line += "\\r".utf8
      case 0x09: line += "\\t".utf8
      case _ where isControl(scalar):
        line += "\\u".utf8
        appendHex(scalar, digits: 4, to: &line)
      default: for offset in index..<index + length { line.append(bytes[offset]) }
      }
      index += length
    }
    if kept < bytes.count { line += cutMark.utf8 }
    line.append(UInt8(ascii: "\""))
  }

  private static func isPlain(_ bytes: Span<UInt8>, _ count: Int) -> Bool {
    var index = 0
    while index < count {
      if isPlainASCII(bytes[index]) {
        index += 1
        continue
      }
      guard let (scalar, length) = scalar(in: bytes, at: index), !isControl(scalar) else { return false }
      switch scalar {
      case 0x20, 0x22, 0x3D, 0x5C: return false
      default: index += length
      }
    }
    return count > 0
  }

  private static func isPlainASCII(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x22, 0x3D, 0x5C: false
    default: (0x21...0x7E).contains(byte)
    }
  }

  /// Past the ASCII that stands for itself: most text is nothing else.
  private static func endOfRun(_ bytes: Span<UInt8>, from start: Int, before end: Int) -> Int {
    var index = start
    while index < end {
      switch bytes[index] {
      case 0x22, 0x5C: return index
      case 0x20...0x7E: index += 1
      default: return index
      }
    }
    return index
  }

  /// C0, DEL, C1; the line separators U+2028 and U+2029, at which some viewers break; the bidi controls of
  /// UAX #9.
  private static func isControl(_ scalar: UInt32) -> Bool {
    switch scalar {
    case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// The code point that starts here with its length in bytes, or nil when the byte starts none (RFC 3629
  /// §4).
  private static func scalar(in bytes: Span<UInt8>, at index: Int) -> (value: UInt32, length: Int)? {
    let first = bytes[index]
    let length: Int
    let smallest: UInt32
    var value: UInt32
    switch first {
    case 0x00...0x7F: return (UInt32(first), 1)
    case 0xC2...0xDF: (length, smallest, value) = (2, 0x80, UInt32(first & 0x1F))
    case 0xE0...0xEF: (length, smallest, value) = (3, 0x800, UInt32(first & 0x0F))
    case 0xF0...0xF4: (length, smallest, value) = (4, 0x1_0000, UInt32(first & 0x07))
    default: return nil
    }
    guard bytes.count - index >= length else { return nil }
    for offset in 1..<length {
      let byte = bytes[index + offset]
      guard byte & 0xC0 == 0x80 else { return nil }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    guard value >= smallest, value <= 0x10_FFFF, !(0xD800...0xDFFF).contains(value) else { return nil }
    return (value, length)
  }

  private static func appendHex(_ value: UInt32, digits: Int, to line: inout [UInt8]) {
    for place in stride(from: digits - 1, through: 0, by: -1) {
      let digit = UInt8(truncatingIfNeeded: value >> (4 * UInt32(place)) & 0xF)
      line.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
  }
}

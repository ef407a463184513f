/// As much of JSON (RFC 8259) as the messages of a session need, without a dependency: the members of one object, whose
/// values stay as they came.

/// A whole JSON object.
struct JSONText {
  private let bytes: [UInt8]
  private let members: [String: Range<Int>]

  /// Nil for what is no JSON object, or nests deeper than `depthLimit`. Of members with one name the last counts.
  init?(object bytes: [UInt8], depthLimit: Int = SessionLimit.jsonDepth) {
    var reader = JSONScanner(bytes, depthLimit: depthLimit)
    guard let members = reader.members() else { return nil }
    self.bytes = bytes
    self.members = members
  }

  /// The value's own bytes.
  func raw(_ name: String) -> [UInt8]? { members[name].map { Array(bytes[$0]) } }

  func string(_ name: String) -> String? {
    guard let range = members[name], bytes[range.lowerBound] == UInt8(ascii: "\"") else { return nil }
    return JSONScanner.unescaped(bytes[(range.lowerBound + 1)..<(range.upperBound - 1)])
  }

  func boolean(_ name: String) -> Bool? {
    switch raw(name) {
    case Array("true".utf8)?: true
    case Array("false".utf8)?: false
    default: nil
    }
  }

  func integer(_ name: String) -> Int? {
    raw(name).flatMap { Int(String(decoding: $0, as: UTF8.self)) }
  }

  /// Whether there is one JSON value and nothing else.
  static func isValue(_ bytes: [UInt8], depthLimit: Int) -> Bool {
    var reader = JSONScanner(bytes, depthLimit: depthLimit)
    return reader.isOneValue()
  }

  /// With its quotes.
  static func quoted(_ text: String) -> [UInt8] {
    var quoted = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): quoted += [UInt8(ascii: "\\"), byte]
      case 0..<0x20, 0x7F:
        let digits = Array("0123456789abcdef".utf8)
        quoted += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default: quoted.append(byte)
      }
    }
    return quoted + [UInt8(ascii: "\"")]
  }
}

/// Walks over JSON once; each function stands at the first byte of what it reads, and answers nil or false where that is
/// not what the grammar asks for.
private struct JSONScanner {
  private let bytes: [UInt8]
  private let depthLimit: Int
  private var position = 0

  init(_ bytes: [UInt8], depthLimit: Int) {
    self.bytes = bytes
    self.depthLimit = depthLimit
  }

  /// The members of an object and nothing behind it.
  mutating func members() -> [String: Range<Int>]? {
    var members: [String: Range<Int>] = [:]
    skipSpace()
    let isRead = list(from: "{", to: "}") { scanner in
      let start = scanner.position
      guard scanner.string() else { return false }
      let name = Self.unescaped(scanner.bytes[(start + 1)..<(scanner.position - 1)])
      guard let name, let value = scanner.valueBehindColon(depth: 1) else { return false }
      members[name] = value
      return true
    }
    skipSpace()
    return isRead && position == bytes.count ? members : nil
  }

  mutating func isOneValue() -> Bool {
    skipSpace()
    guard value(depth: 1) else { return false }
    skipSpace()
    return position == bytes.count
  }

  private mutating func value(depth: Int) -> Bool {
    guard depth <= depthLimit, position < bytes.count else { return false }
    switch bytes[position] {
    case UInt8(ascii: "\""): return string()
    case UInt8(ascii: "{"):
      return list(from: "{", to: "}") { scanner in
        scanner.string() && scanner.valueBehindColon(depth: depth + 1) != nil
      }
    case UInt8(ascii: "["):
      return list(from: "[", to: "]") { scanner in scanner.value(depth: depth + 1) }
    case UInt8(ascii: "t"): return word("true")
    case UInt8(ascii: "f"): return word("false")
    case UInt8(ascii: "n"): return word("null")
    default: return number()
    }
  }

  private mutating func valueBehindColon(depth: Int) -> Range<Int>? {
    skipSpace()
    guard take(":") else { return nil }
    skipSpace()
    let start = position
    return value(depth: depth) ? start..<position : nil
  }

  private mutating func list(
    from open: Unicode.Scalar, to close: Unicode.Scalar, _ element: (inout JSONScanner) -> Bool
  ) -> Bool {
    guard take(open) else { return false }
    skipSpace()
    if take(close) { return true }
    while true {
      skipSpace()
      guard element(&self) else { return false }
      skipSpace()
      if take(close) { return true }
      guard take(",") else { return false }
    }
  }

  /// Its escapes are judged by `unescaped`, where the text is wanted; here only where it ends.
  private mutating func string() -> Bool {
    guard take("\"") else { return false }
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        position += 1
        return true
      case UInt8(ascii: "\\"): position += 2
      case 0..<0x20: return false
      default: position += 1
      }
    }
    return false
  }

  private mutating func number() -> Bool {
    _ = take("-")
    let whole = digits()
    guard whole.count == 1 || whole.count > 1 && bytes[whole.lowerBound] != UInt8(ascii: "0") else {
      return false
    }
    if take("."), digits().isEmpty { return false }
    guard take("e") || take("E") else { return true }
    if !take("+") { _ = take("-") }
    return !digits().isEmpty
  }

  private mutating func digits() -> Range<Int> {
    let start = position
    while position < bytes.count, (0x30...0x39).contains(bytes[position]) { position += 1 }
    return start..<position
  }

  private mutating func word(_ word: String) -> Bool {
    guard bytes[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: scalar) else { return false }
    position += 1
    return true
  }

  private mutating func skipSpace() {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
  }

  /// What stands between the quotes; nil for an escape that is none. Half a surrogate pair becomes U+FFFD.
  static func unescaped(_ bytes: ArraySlice<UInt8>) -> String? {
    guard bytes.contains(UInt8(ascii: "\\")) else { return String(decoding: bytes, as: UTF8.self) }
    var units: [UInt16] = []
    var rest = bytes
    while let byte = rest.first {
      guard byte == UInt8(ascii: "\\") else {
        let end = rest.firstIndex(of: UInt8(ascii: "\\")) ?? rest.endIndex
        units += Array(String(decoding: rest[..<end], as: UTF8.self).utf16)
        rest = rest[end...]
        continue
      }
      guard let escape = rest.dropFirst().first else { return nil }
      rest = rest.dropFirst(2)
      switch escape {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): units.append(UInt16(escape))
      case UInt8(ascii: "b"): units.append(0x08)
      case UInt8(ascii: "f"): units.append(0x0C)
      case UInt8(ascii: "n"): units.append(0x0A)
      case UInt8(ascii: "r"): units.append(0x0D)
      case UInt8(ascii: "t"): units.append(0x09)
      case UInt8(ascii: "u"):
        let digits = rest.prefix(4)
        guard digits.count == 4, !digits.contains(UInt8(ascii: "+")), !digits.contains(UInt8(ascii: "-")),
          let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { return nil }
        units.append(unit)
        rest = rest.dropFirst(4)
      default: return nil
      }
    }
    return String(decoding: units, as: UTF16.self)
  }
}

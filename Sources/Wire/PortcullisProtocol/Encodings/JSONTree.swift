/// JSON as a tree (RFC 8259), read whole and strictly: what phones have to understand of a gate's answers.

/// The rule that a text breaks, by its word. The first one in this order is told, but for those from `syntax` to `surrogate`,
/// of which it is the first one met on the way through the text.
public enum CanonicalJSONError: String, Error, CaseIterable, Sendable {
  /// More than 8,192 bytes, as it was read or as it is written.
  case size
  /// Not well-formed UTF-8.
  case utf8
  /// RFC 8259.
  case syntax
  /// More than eight objects and arrays inside each other.
  case depth
  /// Anything but a whole number of −(2⁵³−1)…2⁵³−1, written as such.
  case number
  /// A member's name comes twice.
  case duplicate
  /// `null`, or an array that holds something else than strings.
  case type
  /// Half a surrogate pair, by escape.
  case surrogate
  /// Not an object.
  case top
  /// A string or name holds a character that no shown text may hold.
  case character
  /// Not the members that a summary has.
  case members
  /// Good, but not in the canonical form.
  case canonical
}

package indirect enum JSONTree: Sendable {
  case null
  case boolean(Bool)
  /// As it was written.
  case number(String)
  case string(String)
  case array([JSONTree])
  case object(Object)

  package struct Object: Sendable {
    package let members: [(name: String, value: JSONTree)]

    /// The member of exactly these bytes.
    package subscript(name: String) -> JSONTree? {
      members.first { $0.name.isSameText(as: name) }?.value
    }
  }

  package var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }
  package var string: String? { if case .string(let string) = self { string } else { nil } }
  package var array: [JSONTree]? { if case .array(let array) = self { array } else { nil } }
  package var object: Object? { if case .object(let object) = self { object } else { nil } }

  /// A whole number of −(2⁵³−1)…2⁵³−1, written as one.
  package var integer: Int64? {
    guard case .number(let text) = self, text != "-0", let number = Int64(text),
      CanonicalObject.integers.contains(number)
    else { return nil }
    return number
  }

  /// - Parameters:
  ///   - depthLimit: how many objects and arrays may be inside each other.
  ///   - isCanonical: whether numbers, `null` and arrays break the rules of `CanonicalObject` already.
  package init(
    parsing bytes: [UInt8], depthLimit: Int, isCanonical: Bool = false
  ) throws(CanonicalJSONError) {
    // What is not well-formed is replaced, and then differs.
    guard String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes) else { throw .utf8 }
    var reader = Reader(bytes: bytes, depthLimit: depthLimit, isCanonical: isCanonical)
    self = try reader.value()
    guard reader.peek() == nil else { throw .syntax }
  }
}

/// Walks over the text once.
private struct Reader {
  let bytes: [UInt8]
  let depthLimit: Int
  let isCanonical: Bool
  var position = 0
  var depth = 0

  /// The next byte that is no white space.
  mutating func peek() -> UInt8? {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) { position += 1 }
    return position < bytes.count ? bytes[position] : nil
  }

  mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  mutating func value() throws(CanonicalJSONError) -> JSONTree {
    switch peek() {
    case UInt8(ascii: "{"): return .object(try object())
    case UInt8(ascii: "["): return .array(try array())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .boolean(true))
    case UInt8(ascii: "f"): return try word("false", .boolean(false))
    case UInt8(ascii: "n"):
      let null = try word("null", .null)
      if isCanonical { throw .type }
      return null
    default: return try number()
    }
  }

  private mutating func word(_ word: String, _ value: JSONTree) throws(CanonicalJSONError) -> JSONTree {
    let end = position + word.utf8.count
    guard end <= bytes.count, bytes[position..<end].elementsEqual(word.utf8) else { throw .syntax }
    position = end
    return value
  }

  private mutating func enter() throws(CanonicalJSONError) {
    position += 1
    guard depth < depthLimit else { throw .depth }
    depth += 1
  }

  private mutating func object() throws(CanonicalJSONError) -> JSONTree.Object {
    try enter()
    defer { depth -= 1 }
    var members: [(name: String, value: JSONTree)] = []
    var names: Set<[UInt8]> = []
    if take("}") { return JSONTree.Object(members: members) }
    repeat {
      guard peek() == UInt8(ascii: "\"") else { throw .syntax }
      let name = try string()
      guard take(":") else { throw .syntax }
      guard names.insert(Array(name.utf8)).inserted else { throw .duplicate }
      members.append((name, try value()))
    } while take(",")
    guard take("}") else { throw .syntax }
    return JSONTree.Object(members: members)
  }

  private mutating func array() throws(CanonicalJSONError) -> [JSONTree] {
    try enter()
    defer { depth -= 1 }
    var elements: [JSONTree] = []
    if take("]") { return elements }
    repeat {
      let element = try value()
      if isCanonical, element.string == nil { throw .type }
      elements.append(element)
    } while take(",")
    guard take("]") else { throw .syntax }
    return elements
  }

  private mutating func number() throws(CanonicalJSONError) -> JSONTree {
    let start = position
    skip("-")
    if !skip("0") { try digits() }
    if skip(".") { try digits() }
    if skip("e") || skip("E") {
      if !skip("+") { skip("-") }
      try digits()
    }
    if position < bytes.count, Self.isDigit(bytes[position]) { throw .syntax }
    let number = JSONTree.number(String(decoding: bytes[start..<position], as: UTF8.self))
    if isCanonical, number.integer == nil { throw .number }
    return number
  }

  @discardableResult
  private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
    guard position < bytes.count, bytes[position] == UInt8(ascii: byte) else { return false }
    position += 1
    return true
  }

  private mutating func digits() throws(CanonicalJSONError) {
    let start = position
    while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
    if position == start { throw .syntax }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  // MARK: Strings

  private mutating func string() throws(CanonicalJSONError) -> String {
    position += 1
    var text: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text += Array(String(try escaped()).utf8)
      case 0..<0x20: throw .syntax
      default: text.append(byte)
      }
    }
    throw .syntax
  }

  /// What stands behind a backslash.
  private mutating func escaped() throws(CanonicalJSONError) -> Unicode.Scalar {
    guard position < bytes.count else { throw .syntax }
    let letter = bytes[position]
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw .syntax
    }
    let first = try fourDigits()
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xDC00, skip("\\") else { throw .surrogate }
    guard skip("u") else {
      // What follows is another escape, or none.
      guard position < bytes.count, "\"\\/bfnrt".utf8.contains(bytes[position]) else { throw .syntax }
      throw .surrogate
    }
    let second = try fourDigits()
    guard (0xDC00...0xDFFF).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    else { throw .surrogate }
    return scalar
  }

  private mutating func fourDigits() throws(CanonicalJSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard position < bytes.count else { throw .syntax }
      switch bytes[position] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(bytes[position] - 0x30)
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(bytes[position] - 0x57)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(bytes[position] - 0x37)
      default: throw .syntax
      }
      position += 1
    }
    return value
  }
}

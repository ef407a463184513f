/// Reads JSON by being asked for the next thing (RFC 8259), without building a tree.
///
/// Strict: UTF-8 is checked, nesting is limited, a surrogate stands in a pair, nothing is repaired. A caller
/// that walks an object itself also compares its member names (`SeenNames`); `skipValue` and `JSONValue` do
/// it alone.
package struct JSONReader: ~Escapable {
  let bytes: Span<UInt8>
  private let depthLimit: Int
  /// How many objects and arrays are open here.
  private var depth = 0
  /// One bit a level: whether something came before in that object or array, so that a comma is due.
  private var hasElements: UInt64 = 0
  /// The next byte to be read.
  package private(set) var position: Int

  /// - Parameters:
  ///   - start: where to begin in `bytes`; offsets of errors count from the start of `bytes`.
  ///   - depthLimit: how many objects and arrays may be open at once, at most 63.
  @_lifetime(copy bytes)
  package init(_ bytes: Span<UInt8>, from start: Int = 0, depthLimit: Int) {
    precondition((0..<64).contains(depthLimit), "JSONReader keeps one bit a level")
    self.bytes = bytes
    self.depthLimit = depthLimit
    position = start
  }

  /// A string's contents as they stand between the quotes: already checked, not yet unescaped.
  package struct Text: Sendable {
    package let range: Range<Int>
    package let isEscaped: Bool
  }

  // MARK: The next thing

  /// The first byte of the next token, which stays unread; nil at the end.
  package mutating func peek() -> UInt8? {
    skipWhitespace()
    return position < bytes.count ? bytes[position] : nil
  }

  /// Nothing but white space may be left.
  package mutating func finish() throws(JSONError) {
    if peek() != nil { throw JSONError(.trailingBytes, at: position) }
  }

  /// After this come `nextMember` and a value in turn.
  package mutating func enterObject() throws(JSONError) {
    try enter(UInt8(ascii: "{"))
  }

  /// As after `enterObject`, for a reader that starts between the members of an object.
  package mutating func resumeObject(hasMembers: Bool) {
    depth = 1
    hasElements = hasMembers ? 2 : 0
  }

  /// The next member's name, with its value up next; nil once the object has ended.
  package mutating func nextMember() throws(JSONError) -> Text? {
    guard try nextElement(before: UInt8(ascii: "}")) else { return nil }
    let name = try readString()
    try expect(UInt8(ascii: ":"))
    return name
  }

  /// After this come `nextElement` and a value in turn.
  package mutating func enterArray() throws(JSONError) {
    try enter(UInt8(ascii: "["))
  }

  /// Whether another value is up next; false once the array has ended.
  package mutating func nextElement() throws(JSONError) -> Bool {
    try nextElement(before: UInt8(ascii: "]"))
  }

  package mutating func readString() throws(JSONError) -> Text {
    try expect(UInt8(ascii: "\""))
    let start = position
    var isEscaped = false
    while true {
      position = endOfPlain(from: position)
      guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
      let byte = bytes[position]
      if byte == UInt8(ascii: "\"") {
        position += 1
        return Text(range: start..<position - 1, isEscaped: isEscaped)
      }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        // Escapes come in rows, and each of them alone would cost a look at eight bytes.
        repeat { try skipEscape() } while position < bytes.count && bytes[position] == UInt8(ascii: "\\")
      } else if byte >= 0x80 {
        try skipMultibyte(byte)
      } else {
        throw JSONError(.controlCharacter, at: position)
      }
    }
  }

  /// Past all that stands for itself: ASCII but for the quote, the backslash and control characters.
  private func endOfPlain(from start: Int) -> Int {
    var index = start
    while bytes.count - index >= 8 {
      let word = Self.word(bytes.extracting(index..<index + 8))
      // The top bit of a byte is set where it is no ASCII, below 0x20, or one of the two. A borrow reaches only bytes
      // behind one that is found, and the first one found counts.
      let quotes = word ^ Self.each(UInt8(ascii: "\""))
      let backslashes = word ^ Self.each(UInt8(ascii: "\\"))
      let marks = word | (word &- Self.each(0x20)) | (quotes &- Self.each(1)) | (backslashes &- Self.each(1))
      let found = marks & Self.each(0x80)
      if found != 0 { return index + found.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < bytes.count, Self.isPlain(bytes[index]) { index += 1 }
    return index
  }

  /// Eight single loads of a span whose length is known become one of the processor's.
  @inline(__always)
  static func word(_ bytes: Span<UInt8>) -> UInt64 {
    let low =
      UInt64(bytes[0]) | UInt64(bytes[1]) << 8 | UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 24
    let high =
      UInt64(bytes[4]) << 32 | UInt64(bytes[5]) << 40 | UInt64(bytes[6]) << 48 | UInt64(bytes[7]) << 56
    return low | high
  }

  @inline(__always)
  private static func each(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  /// The number's text, as it stands.
  package mutating func readNumber() throws(JSONError) -> Range<Int> {
    skipWhitespace()
    let start = position
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try skipDigits() }
    if take(UInt8(ascii: ".")) { try skipDigits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try skipDigits()
    }
    // `01` and `1x`: what follows a number is never a digit or a letter.
    if position < bytes.count, Self.isDigit(bytes[position]) { throw JSONError(.invalidNumber, at: position) }
    return start..<position
  }

  /// `true`, `false` or `null`, by its first letter.
  package mutating func readLiteral() throws(JSONError) -> Literal {
    guard let first = peek() else { throw JSONError(.unexpectedEnd, at: position) }
    switch first {
    case UInt8(ascii: "t"):
      let letters: InlineArray<_, UInt8> = [0x74, 0x72, 0x75, 0x65]
      return try readWord(letters, .true)
    case UInt8(ascii: "f"):
      let letters: InlineArray<_, UInt8> = [0x66, 0x61, 0x6C, 0x73, 0x65]
      return try readWord(letters, .false)
    case UInt8(ascii: "n"):
      let letters: InlineArray<_, UInt8> = [0x6E, 0x75, 0x6C, 0x6C]
      return try readWord(letters, .null)
    default: throw JSONError(.unexpectedByte, at: position)
    }
  }

  package enum Literal: Sendable { case `true`, `false`, null }

  /// Passes over one whole value, as strictly as if it were wanted.
  @discardableResult
  package mutating func skipValue() throws(JSONError) -> Range<Int> {
    var names = SeenNames()
    return try skipValue(&names)
  }

  /// The same, with the memory of other values of this text.
  @discardableResult
  package mutating func skipValue(_ names: inout SeenNames) throws(JSONError) -> Range<Int> {
    guard let first = peek() else { throw JSONError(.unexpectedEnd, at: position) }
    let start = position
    switch first {
    case UInt8(ascii: "{"):
      try enterObject()
      var object = names.open()
      while let name = try nextMember() {
        guard names.insert(name, of: &object, in: self) else {
          throw JSONError(.duplicateName, at: name.range.lowerBound)
        }
        try skipValue(&names)
      }
      names.close(object)
    case UInt8(ascii: "["):
      try enterArray()
      while try nextElement() { try skipValue(&names) }
    case UInt8(ascii: "\""):
      _ = try readString()
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      _ = try readNumber()
    default:
      _ = try readLiteral()
    }
    return start..<position
  }

  // MARK: Tokens

  private mutating func enter(_ bracket: UInt8) throws(JSONError) {
    try expect(bracket)
    guard depth < depthLimit else { throw JSONError(.depthExceeded, at: position - 1) }
    depth += 1
    hasElements &= ~(1 << UInt64(depth))
  }

  private mutating func nextElement(before end: UInt8) throws(JSONError) -> Bool {
    guard let byte = peek() else { throw JSONError(.unexpectedEnd, at: position) }
    if byte == end {
      position += 1
      depth -= 1
      return false
    }
    let bit: UInt64 = 1 << UInt64(depth)
    if hasElements & bit != 0 { try expect(UInt8(ascii: ",")) }
    hasElements |= bit
    return true
  }

  @inline(__always)
  private mutating func expect(_ wanted: UInt8) throws(JSONError) {
    guard let byte = peek() else { throw JSONError(.unexpectedEnd, at: position) }
    guard byte == wanted else { throw JSONError(.unexpectedByte, at: position) }
    position += 1
  }

  @inline(__always)
  private mutating func take(_ wanted: UInt8) -> Bool {
    guard position < bytes.count, bytes[position] == wanted else { return false }
    position += 1
    return true
  }

  /// Most tokens have none in front of them.
  @inline(__always)
  private mutating func skipWhitespace() {
    if position < bytes.count, bytes[position] <= 0x20 { skipAllWhitespace() }
  }

  private mutating func skipAllWhitespace() {
    while position < bytes.count, Self.isWhitespace(bytes[position]) { position += 1 }
  }

  @inline(__always)
  private mutating func skipDigits() throws(JSONError) {
    guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
    guard Self.isDigit(bytes[position]) else { throw JSONError(.invalidNumber, at: position) }
    while position < bytes.count, Self.isDigit(bytes[position]) { position += 1 }
  }

  @inline(__always)
  private mutating func readWord<let count: Int>(
    _ letters: InlineArray<count, UInt8>, _ literal: Literal
  ) throws(JSONError) -> Literal {
    for index in letters.indices {
      guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: position) }
      guard take(letters[index]) else { throw JSONError(.unexpectedByte, at: position) }
    }
    return literal
  }

  private mutating func skipEscape() throws(JSONError) {
    let start = position
    guard start + 1 < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
    switch bytes[start + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position = start + 2
    case UInt8(ascii: "u"):
      let unit = try checkedHex(at: start + 2)
      position = start + 6
      guard unit >> 11 == 0xD800 >> 11 else { return }
      guard unit < 0xDC00 else { throw JSONError(.loneSurrogate, at: start) }
      for index in 0..<2 {
        guard position + index < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        guard bytes[position + index] == UInt8(ascii: index == 0 ? "\\" : "u") else {
          throw JSONError(.loneSurrogate, at: start)
        }
      }
      guard try checkedHex(at: position + 2) >> 10 == 0xDC00 >> 10 else {
        throw JSONError(.loneSurrogate, at: start)
      }
      position += 6
    default:
      throw JSONError(.invalidEscape, at: start)
    }
  }

  /// Well-formed sequences only (Unicode, table 3-7): no overlong form, no surrogate, nothing above U+10FFFF.
  private mutating func skipMultibyte(_ lead: UInt8) throws(JSONError) {
    var lower: UInt8 = 0x80
    var upper: UInt8 = 0xBF
    let following: Int
    switch lead {
    case 0xC2...0xDF: following = 1
    case 0xE0: (following, lower) = (2, 0xA0)
    case 0xED: (following, upper) = (2, 0x9F)
    case 0xE1...0xEF: following = 2
    case 0xF0: (following, lower) = (3, 0x90)
    case 0xF4: (following, upper) = (3, 0x8F)
    case 0xF1...0xF3: following = 3
    default: throw JSONError(.invalidUTF8, at: position)
    }
    for index in position + 1...position + following {
      guard index < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
      guard bytes[index] >= lower, bytes[index] <= upper else { throw JSONError(.invalidUTF8, at: position) }
      (lower, upper) = (0x80, 0xBF)
    }
    position += 1 + following
  }

  private func checkedHex(at start: Int) throws(JSONError) -> UInt32 {
    for index in start..<start + 4 {
      guard index < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
      switch bytes[index] {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        continue
      default: throw JSONError(.invalidEscape, at: index)
      }
    }
    return hexValue(at: start)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
  }
  static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }
}

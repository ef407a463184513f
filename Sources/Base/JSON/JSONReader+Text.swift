/// What a `JSONReader` has read, as bytes and strings: unescaped, compared, copied without white space.
internal import Bytes

extension JSONReader {
  package func matches(_ text: Text, _ expected: [UInt8]) -> Bool {
    // An escape stands for at least a sixth of its bytes.
    guard expected.count <= text.range.count, text.range.count <= 6 * expected.count else { return false }
    if text.isEscaped { return unescaped(text) == expected }
    guard text.range.count == expected.count else { return false }
    for index in expected.indices where bytes[text.range.lowerBound + index] != expected[index] {
      return false
    }
    return true
  }

  /// A string of at most eight bytes, as one number: to compare a name with many is then cheap.
  package struct ShortText: Equatable, Sendable {
    package fileprivate(set) var word: UInt64 = 0
    package fileprivate(set) var count = 0

    fileprivate init() {}

    /// Nil for more than eight bytes.
    package init?(_ text: String) {
      for byte in text.utf8 where !append(byte) { return nil }
    }

    /// False when it is full.
    @inline(__always)
    fileprivate mutating func append(_ byte: UInt8) -> Bool {
      if count == 8 { return false }
      word |= UInt64(byte) << UInt64(8 * count)
      count += 1
      return true
    }
  }

  /// The text unescaped; nil for more than eight bytes.
  package func short(_ text: Text) -> ShortText? {
    if text.range.count > (text.isEscaped ? 48 : 8) { return nil }
    var short = ShortText()
    var isShort = true
    forEachByte(of: text) { byte in
      if isShort { isShort = short.append(byte) }
    }
    return isShort ? short : nil
  }

  /// By a key of this process. Whatever its spelling, the same string has the same hash.
  func hash(of text: Text) -> Int {
    var hasher = Hasher()
    var word: UInt64 = 0
    var count = 0
    if text.isEscaped {
      forEachByte(of: text) { byte in
        word |= UInt64(byte) << UInt64(8 * (count % 8))
        count += 1
        if count % 8 == 0 {
          hasher.combine(word)
          word = 0
        }
      }
    } else {
      var index = text.range.lowerBound
      while text.range.upperBound - index >= 8 {
        hasher.combine(Self.word(bytes.extracting(index..<index + 8)))
        index += 8
      }
      count = text.range.count
      for place in index..<text.range.upperBound {
        word |= UInt64(bytes[place]) << UInt64(8 * (place - index))
      }
    }
    // The length tells apart what ends in zero bytes.
    hasher.combine(word)
    hasher.combine(count)
    return hasher.finalize()
  }

  /// Whether the strings whose contents begin at two places, which were read, say the same.
  func isSameString(at one: Int, _ other: Int) -> Bool {
    var (first, second) = (
      JSONReader(bytes, from: one - 1, depthLimit: 0), JSONReader(bytes, from: other - 1, depthLimit: 0)
    )
    guard let one = try? first.readString(), let other = try? second.readString() else { return false }
    return unescaped(one) == unescaped(other)
  }

  package func string(_ text: Text) -> String {
    String(decoding: unescaped(text), as: UTF8.self)
  }

  /// The bytes of `range` as they stand.
  package func raw(_ range: Range<Int>) -> [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(range.count)
    append(range, to: &copy)
    return copy
  }

  /// The bytes of a value that was read, without the white space between its tokens.
  package func compact(_ range: Range<Int>) -> [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(range.count)
    var isInString = false
    var index = range.lowerBound
    while index < range.upperBound {
      let byte = bytes[index]
      index += 1
      if !isInString, Self.isWhitespace(byte) { continue }
      copy.append(byte)
      if byte == UInt8(ascii: "\"") {
        isInString.toggle()
      } else if isInString, byte == UInt8(ascii: "\\") {
        copy.append(bytes[index])
        index += 1
      }
    }
    return copy
  }

  package func unescaped(_ text: Text) -> [UInt8] {
    guard text.isEscaped else { return raw(text.range) }
    var plain: [UInt8] = []
    plain.reserveCapacity(text.range.count)
    append(text, to: &plain)
    return plain
  }

  /// The text unescaped, behind what is there.
  package func append(_ text: Text, to plain: inout [UInt8]) {
    if !text.isEscaped { return append(text.range, to: &plain) }
    var index = text.range.lowerBound
    while index < text.range.upperBound {
      // By a few at a time, as an array's append is dear for one byte.
      var (some, count): (InlineArray<64, UInt8>, Int) = (.init(repeating: 0), 0)
      while count <= 60, index < text.range.upperBound {
        forByte(at: &index) { byte in
          some[count] = byte
          count += 1
        }
      }
      plain.append(copying: some.span.extracting(0..<count))
    }
  }

  /// The bytes as they stand, behind what is there.
  package func append(_ range: Range<Int>, to copy: inout [UInt8]) {
    copy.append(copying: bytes.extracting(range))
  }

  /// Calls `body` with each byte that the text stands for.
  @inline(__always)
  private func forEachByte(of text: Text, _ body: (UInt8) -> Void) {
    var index = text.range.lowerBound
    while index < text.range.upperBound { forByte(at: &index, body) }
  }

  /// Calls `body` with the byte at `index`, or each that an escape there stands for, one to four, and goes past it.
  @inline(__always)
  private func forByte(at index: inout Int, _ body: (UInt8) -> Void) {
    guard bytes[index] == UInt8(ascii: "\\") else {
      body(bytes[index])
      index += 1
      return
    }
    let letter = bytes[index + 1]
    index += 2
    switch letter {
    case UInt8(ascii: "b"): body(0x08)
    case UInt8(ascii: "f"): body(0x0C)
    case UInt8(ascii: "n"): body(0x0A)
    case UInt8(ascii: "r"): body(0x0D)
    case UInt8(ascii: "t"): body(0x09)
    case UInt8(ascii: "u"):
      var code = hexValue(at: index)
      index += 4
      if code >> 10 == 0xD800 >> 10 {
        code = 0x10000 + (code & 0x3FF) << 10 + hexValue(at: index + 2) & 0x3FF
        index += 6
      }
      Self.encode(code, body)
    default: body(letter)
    }
  }

  /// UTF-8 of a scalar: a surrogate alone was refused when the text was read.
  @inline(__always)
  private static func encode(_ code: UInt32, _ body: (UInt8) -> Void) {
    func following(_ shift: UInt32) { body(UInt8(truncatingIfNeeded: 0x80 | code >> shift & 0x3F)) }
    switch code {
    case ..<0x80: body(UInt8(truncatingIfNeeded: code))
    case ..<0x800:
      body(UInt8(truncatingIfNeeded: 0xC0 | code >> 6))
      following(0)
    case ..<0x1_0000:
      body(UInt8(truncatingIfNeeded: 0xE0 | code >> 12))
      following(6)
      following(0)
    default:
      body(UInt8(truncatingIfNeeded: 0xF0 | code >> 18))
      following(12)
      following(6)
      following(0)
    }
  }

  /// Of four digits that were checked.
  func hexValue(at start: Int) -> UInt32 {
    var value: UInt32 = 0
    for index in start..<start + 4 {
      let digit = bytes[index]
      value = value << 4 | UInt32(digit <= UInt8(ascii: "9") ? digit & 0x0F : digit & 0x07 + 9)
    }
    return value
  }
}

/// What a `JSONReader` has read, as bytes and strings: unescaped, compared, copied without white space.
extension JSONReader {
  package func matches(_ text: Text, _ expected: [UInt8]) -> Bool {
    if text.isEscaped { return unescaped(text) == expected }
    guard text.range.count == expected.count else { return false }
    for index in expected.indices where bytes[text.range.lowerBound + index] != expected[index] {
      return false
    }
    return true
  }

  package func string(_ text: Text) -> String {
    String(decoding: unescaped(text), as: UTF8.self)
  }

  /// The bytes of `range` as they stand.
  package func raw(_ range: Range<Int>) -> [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(range.count)
    for index in range { copy.append(bytes[index]) }
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
    var index = text.range.lowerBound
    while index < text.range.upperBound {
      let byte = bytes[index]
      index += 1
      guard byte == UInt8(ascii: "\\") else {
        plain.append(byte)
        continue
      }
      let letter = bytes[index]
      index += 1
      switch letter {
      case UInt8(ascii: "b"): plain.append(0x08)
      case UInt8(ascii: "f"): plain.append(0x0C)
      case UInt8(ascii: "n"): plain.append(0x0A)
      case UInt8(ascii: "r"): plain.append(0x0D)
      case UInt8(ascii: "t"): plain.append(0x09)
      case UInt8(ascii: "u"):
        var code = hexValue(at: index)
        index += 4
        if code >> 10 == 0xD800 >> 10 {
          code = 0x10000 + (code & 0x3FF) << 10 + hexValue(at: index + 2) & 0x3FF
          index += 6
        }
        if let scalar = Unicode.Scalar(code) { plain.append(contentsOf: UTF8.encode(scalar) ?? .init()) }
      default: plain.append(letter)
      }
    }
    return plain
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

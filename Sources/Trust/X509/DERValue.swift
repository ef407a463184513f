/// The contents of DER's primitive types (X.690 §8 and §11): checked, and read where a value is needed.
internal import Bytes
internal import Time

package enum DERValue {
  package static func boolean(_ content: Span<UInt8>) throws(DERError) -> Bool {
    guard content.count == 1 else { throw .boolean }
    switch content[0] {
    case 0x00: return false
    case 0xFF: return true
    default: throw .boolean
    }
  }

  /// Not empty, and the first nine bits are not all equal.
  static func checkInteger(_ content: Span<UInt8>) throws(DERError) {
    guard !content.isEmpty else { throw .integer }
    guard content.count > 1 else { return }
    let signBits = (content[0], content[1] & 0x80)
    guard signBits != (0x00, 0x00), signBits != (0xFF, 0x80) else { throw .integer }
  }

  /// A minimal INTEGER or ENUMERATED that is not negative and has at most 64 bits.
  package static func unsigned(_ content: Span<UInt8>) throws(DERError) -> UInt64 {
    try checkInteger(content)
    guard content[0] < 0x80, content.count <= 8 || content.count == 9 && content[0] == 0 else {
      throw .integer
    }
    var value: UInt64 = 0
    for index in content.indices { value = value << 8 | UInt64(content[index]) }
    return value
  }

  /// Unused bits are at most 7, zero, and none when there are no bits at all.
  static func checkBitString(_ content: Span<UInt8>) throws(DERError) {
    guard let unused = content.isEmpty ? nil : content[0], unused <= 7 else { throw .bitString }
    guard content.count > 1 else {
      guard unused == 0 else { throw .bitString }
      return
    }
    guard content[content.count - 1] & (1 << unused &- 1) == 0 else { throw .bitString }
  }

  /// Subidentifiers in base 128 without leading zeros, the last one finished.
  static func checkObjectIdentifier(_ content: Span<UInt8>) throws(DERError) {
    guard !content.isEmpty, content[content.count - 1] < 0x80 else { throw .objectIdentifier }
    var isFirstOfSubidentifier = true
    for index in content.indices {
      if isFirstOfSubidentifier, content[index] == 0x80 { throw .objectIdentifier }
      isFirstOfSubidentifier = content[index] < 0x80
    }
  }

  static func checkUTF8String(_ content: Span<UInt8>) throws(DERError) {
    var validator = UTF8Validator()
    guard validator.accept(content), validator.isComplete else { throw .characterString }
  }

  static func checkCharacters(_ content: Span<UInt8>, _ isAllowed: (UInt8) -> Bool) throws(DERError) {
    for index in content.indices where !isAllowed(content[index]) { throw .characterString }
  }

  static func isNumeric(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  static func isPrintable(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "'")...UInt8(ascii: ")"), UInt8(ascii: "+")...UInt8(ascii: "/"), UInt8(ascii: ":"),
      UInt8(ascii: "="), UInt8(ascii: "?"):
      true
    default: isNumeric(byte)
    }
  }

  /// `YYMMDDHHMMSSZ`, 1950 to 2049 (RFC 5280 §4.1.2.5.1).
  static func utcTime(_ content: Span<UInt8>) throws(DERError) -> UnixTime {
    guard content.count == 13 else { throw .time }
    return try time(content, century: content[0] >= UInt8(ascii: "5") ? "19" : "20")
  }

  /// `YYYYMMDDHHMMSSZ`, without fractions (RFC 5280 §4.1.2.5.2).
  static func generalizedTime(_ content: Span<UInt8>) throws(DERError) -> UnixTime {
    guard content.count == 15 else { throw .time }
    return try time(content, century: "")
  }

  /// Laid out as RFC 3339, whose parser knows the calendar.
  private static func time(_ content: Span<UInt8>, century: String) throws(DERError) -> UnixTime {
    var text = Array(century.utf8)
    for index in content.indices {
      switch text.count {
      case 4, 7: text.append(UInt8(ascii: "-"))
      case 10: text.append(UInt8(ascii: "T"))
      case 13, 16: text.append(UInt8(ascii: ":"))
      default: break
      }
      text.append(content[index])
    }
    guard let time = UnixTime(timestamp: String(decoding: text, as: UTF8.self)) else { throw .time }
    return time
  }
}

/// Where a character ends, by the form of its bytes alone: what is complete, what waits, and what is none.
///
/// Looks at no byte behind the one that decides, so that text in pieces is cut up as text in one.
internal import Bytes

enum CharacterExtent: Equatable {
  /// A character of so many bytes; whether the charset has it is another matter.
  case complete(Int)
  /// More may come and make a character of it.
  case incomplete
  /// So many bytes are none, and one U+FFFD stands for them; the next one is looked at for itself.
  case malformed(Int)
}

/// How a charset puts characters into bytes.
enum CharacterForm: Sendable {
  case utf8
  /// Two bytes behind which the second may look like ASCII, in a GBK or a Big5 way; or four in GB18030.
  case gbk, gb18030, big5, shiftJIS
  /// Two bytes, or three behind 8F; none looks like ASCII.
  case eucJP, eucKR

  /// Nil for a charset with a byte a character.
  init?(_ charset: Charset) {
    switch charset {
    case .utf8: self = .utf8
    case .gbk: self = .gbk
    case .gb18030: self = .gb18030
    case .big5: self = .big5
    case .eucJP: self = .eucJP
    case .eucKR: self = .eucKR
    case .shiftJIS: self = .shiftJIS
    default: return nil
    }
  }

  /// - Parameter start: an index of `bytes`.
  func extent(in bytes: Span<UInt8>, at start: Int) -> CharacterExtent {
    let first = bytes[start]
    if first < 0x80 { return .complete(1) }
    let rest = start + 1
    switch self {
    case .utf8: return Self.utf8Extent(first, bytes, start)
    case .gbk, .gb18030, .big5:
      guard (0x81...0xFE).contains(first) else { return .complete(1) }
      guard rest < bytes.count else { return .incomplete }
      if self == .gb18030, (0x30...0x39).contains(bytes[rest]) { return Self.fourBytes(bytes, start) }
      return isSecond(bytes[rest]) ? .complete(2) : .malformed(1)
    case .shiftJIS:
      guard (0x81...0x9F).contains(first) || (0xE0...0xFC).contains(first) else { return .complete(1) }
      guard rest < bytes.count else { return .incomplete }
      return isSecond(bytes[rest]) ? .complete(2) : .malformed(1)
    case .eucKR:
      guard (0xA1...0xFE).contains(first) else { return .complete(1) }
      return Self.euc(bytes, start, count: 2)
    case .eucJP:
      guard (0xA1...0xFE).contains(first) || first == 0x8E || first == 0x8F else { return .complete(1) }
      return Self.euc(bytes, start, count: first == 0x8F ? 3 : 2)
    }
  }

  private func isSecond(_ byte: UInt8) -> Bool {
    switch self {
    case .gbk, .gb18030: (0x40...0x7E).contains(byte) || (0x80...0xFE).contains(byte)
    case .big5: (0x40...0x7E).contains(byte) || (0xA1...0xFE).contains(byte)
    case .shiftJIS: (0x40...0x7E).contains(byte) || (0x80...0xFC).contains(byte)
    case .utf8, .eucJP, .eucKR: false
    }
  }

  /// Only the first byte is given up where a later one does not fit: those between may be ASCII.
  private static func fourBytes(_ bytes: Span<UInt8>, _ start: Int) -> CharacterExtent {
    guard start + 2 < bytes.count else { return .incomplete }
    guard (0x81...0xFE).contains(bytes[start + 2]) else { return .malformed(1) }
    guard start + 3 < bytes.count else { return .incomplete }
    return (0x30...0x39).contains(bytes[start + 3]) ? .complete(4) : .malformed(1)
  }

  private static func euc(_ bytes: Span<UInt8>, _ start: Int, count: Int) -> CharacterExtent {
    for offset in 1..<count {
      guard start + offset < bytes.count else { return .incomplete }
      guard (0xA1...0xFE).contains(bytes[start + offset]) else { return .malformed(1) }
    }
    return .complete(count)
  }

  /// RFC 3629 §4. One U+FFFD stands for the longest beginning of a character (The Unicode Standard, §3.9, "U+FFFD
  /// Substitution of Maximal Subparts").
  private static func utf8Extent(
    _ first: UInt8, _ bytes: Span<UInt8>, _ start: Int
  ) -> CharacterExtent {
    let count: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0xC2...0xDF: count = 2
    case 0xE0: (count, second) = (3, 0xA0...0xBF)
    case 0xED: (count, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: count = 3
    case 0xF0: (count, second) = (4, 0x90...0xBF)
    case 0xF4: (count, second) = (4, 0x80...0x8F)
    case 0xF1...0xF3: count = 4
    default: return .malformed(1)
    }
    guard start + 1 < bytes.count else { return .incomplete }
    guard second.contains(bytes[start + 1]) else { return .malformed(1) }
    for offset in 2..<max(count, 2) {
      guard start + offset < bytes.count else { return .incomplete }
      guard (0x80...0xBF).contains(bytes[start + offset]) else { return .malformed(offset) }
    }
    return .complete(count)
  }

  /// Where UTF-8 that begins at `start` ends, and what is there.
  static func endOfUTF8(_ bytes: Span<UInt8>, from start: Int) -> (end: Int, extent: CharacterExtent) {
    var index = start
    while index < bytes.count {
      if bytes[index] < 0x80 {
        index = UTF8Validator.endOfASCII(bytes, from: index)
        continue
      }
      let extent = CharacterForm.utf8.extent(in: bytes, at: index)
      guard case .complete(let count) = extent else { return (index, extent) }
      index += count
    }
    return (index, .incomplete)
  }

  /// The code point at `index` of valid UTF-8, and on to the next one.
  static func nextScalar(in bytes: Span<UInt8>, at index: inout Int) -> UInt32 {
    let first = UInt32(bytes[index])
    index += 1
    func six() -> UInt32 {
      defer { index += 1 }
      return UInt32(bytes[index] & 0x3F)
    }
    switch first {
    case 0..<0x80: return first
    case 0x80..<0xE0: return (first & 0x1F) << 6 | six()
    case 0xE0..<0xF0: return (first & 0x0F) << 12 | six() << 6 | six()
    default: return (first & 0x07) << 18 | six() << 12 | six() << 6 | six()
    }
  }
}

extension [UInt8] {
  /// In UTF-8; `scalar` is a code point and no surrogate.
  mutating func append(scalar: UInt32) {
    func tail(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: scalar >> shift & 0x3F | 0x80) }
    switch scalar {
    case 0..<0x80: append(UInt8(truncatingIfNeeded: scalar))
    case 0x80..<0x800:
      append(UInt8(truncatingIfNeeded: scalar >> 6 | 0xC0))
      append(tail(0))
    case 0x800..<0x1_0000:
      append(UInt8(truncatingIfNeeded: scalar >> 12 | 0xE0))
      append(tail(6))
      append(tail(0))
    default:
      append(UInt8(truncatingIfNeeded: scalar >> 18 | 0xF0))
      append(tail(12))
      append(tail(6))
      append(tail(0))
    }
  }

  mutating func appendReplacement() {
    append(scalar: 0xFFFD)
  }
}

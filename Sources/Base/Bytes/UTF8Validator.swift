/// UTF-8 checked as it arrives (RFC 3629), with the state between pieces in three bytes.
package struct UTF8Validator: Equatable, Sendable {
  /// Continuation bytes still due.
  private var pending: UInt8 = 0
  /// What the next one may be; narrower after E0, ED, F0 and F4.
  private var lower: UInt8 = 0x80
  private var upper: UInt8 = 0xBF

  package init() {}

  /// Whether what came so far ends between code points.
  package var isComplete: Bool { pending == 0 }

  /// False at the first byte that no valid text can have here; the validator is then spent.
  package mutating func accept(_ bytes: Span<UInt8>) -> Bool {
    acceptPrefix(of: bytes) == bytes.count
  }

  /// How many bytes valid text could begin with here: all of them, or those before the first bad one; the
  /// validator is then spent.
  package mutating func acceptPrefix(of bytes: Span<UInt8>) -> Int {
    var index = 0
    while index < bytes.count {
      if pending == 0, bytes[index] < 0x80 {
        index = Self.endOfASCII(bytes, from: index)
        if index == bytes.count { return index }
      }
      guard accept(bytes[index]) else { return index }
      index += 1
    }
    return index
  }

  /// False when no valid text can have `byte` here; the state is then as it was before.
  package mutating func accept(_ byte: UInt8) -> Bool {
    if pending > 0 {
      guard byte >= lower, byte <= upper else { return false }
      pending -= 1
      lower = 0x80
      upper = 0xBF
      return true
    }
    switch byte {
    case 0x00...0x7F: break
    case 0xC2...0xDF: pending = 1
    case 0xE0: (pending, lower) = (2, 0xA0)
    case 0xED: (pending, upper) = (2, 0x9F)
    case 0xE1...0xEF: pending = 2
    case 0xF0: (pending, lower) = (3, 0x90)
    case 0xF4: (pending, upper) = (3, 0x8F)
    case 0xF1...0xF3: pending = 3
    default: return false
    }
    return true
  }

  /// The first index at or after `start` whose byte is not ASCII; 32 bytes a step, since most text is nothing
  /// else.
  package static func endOfASCII(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while index <= bytes.count - 32 {
      let block = bytes.extracting(index..<index + 32)
      var union: UInt8 = 0
      for offset in 0..<32 { union |= block[offset] }
      if union >= 0x80 { break }
      index += 32
    }
    while index < bytes.count, bytes[index] < 0x80 { index += 1 }
    return index
  }
}

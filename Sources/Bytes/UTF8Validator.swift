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
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      if pending > 0 {
        guard byte >= lower, byte <= upper else { return false }
        pending -= 1
        lower = 0x80
        upper = 0xBF
        continue
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
    }
    return true
  }
}

/// Turns the game's bytes into valid UTF-8 for text messages (docs/protocol.md, "Sessions"): at most 3 bytes of an
/// unfinished code point wait for the rest, and what is no UTF-8 becomes U+FFFD.
internal import Bytes

/// One U+FFFD for each maximal part that a code point could have begun with (Unicode 15, §3.9; the WHATWG's
/// way).
package struct TextRepair: Sendable {
  private var validator = UTF8Validator()
  private var held = InlineBytes()

  /// Up to three bytes without an allocation.
  private struct InlineBytes: Sendable {
    var word: UInt32 = 0
    var count: UInt8 = 0

    mutating func append(_ byte: UInt8) {
      word |= UInt32(byte) << (UInt32(count) * 8)
      count += 1
    }

    subscript(index: Int) -> UInt8 { UInt8(truncatingIfNeeded: word >> UInt32(index * 8)) }
  }

  package init() {}

  /// How many bytes are held back.
  package var heldCount: Int { Int(held.count) }

  /// The most that `count` bytes can become, with those held back before.
  package static func outputLimit(for count: Int) -> Int { 3 * count + 3 }

  /// Appends the text of `bytes` to `output`.
  package mutating func repair(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
    output.reserveCapacity(output.count + bytes.count + 3)
    var index = 0
    while index < bytes.count {
      if held.count == 0, bytes[index] < 0x80 {
        let end = UTF8Validator.endOfASCII(bytes, from: index)
        for next in index..<end { output.append(bytes[next]) }
        index = end
        continue
      }
      let byte = bytes[index]
      if validator.accept(byte) {
        index += 1
        hold(byte, output: &output)
      } else if held.count > 0 {
        // The byte may begin something of its own: it is looked at again.
        finish(into: &output)
      } else {
        index += 1
        Self.appendReplacement(&output)
      }
    }
  }

  /// The game has closed: what was held back can never be finished.
  package mutating func finish(into output: inout [UInt8]) {
    guard held.count > 0 else { return }
    self = TextRepair()
    Self.appendReplacement(&output)
  }

  private mutating func hold(_ byte: UInt8, output: inout [UInt8]) {
    guard validator.isComplete else {
      held.append(byte)
      return
    }
    for index in 0..<Int(held.count) { output.append(held[index]) }
    output.append(byte)
    held = InlineBytes()
  }

  private static func appendReplacement(_ output: inout [UInt8]) {
    output.append(0xEF)
    output.append(0xBF)
    output.append(0xBD)
  }
}

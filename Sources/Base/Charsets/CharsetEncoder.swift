/// Text of an app in UTF-8 to the charset of a game, each message for itself.
internal import Bytes

/// A value that any thread may use.
package struct CharsetEncoder: Sendable {
  private let coding: CharsetCoding

  init(_ coding: CharsetCoding) {
    self.coding = coding
  }

  /// Appends `text` in the charset: a question mark for each character that it does not have, and for what is no UTF-8.
  package func encode(_ text: Span<UInt8>, into output: inout [UInt8]) {
    // Code points that are none of ASCII's, on their way to the C library.
    var scalars: [UInt32] = []
    var index = 0
    while index < text.count {
      let start = index
      index = UTF8Validator.endOfASCII(text, from: index)
      output.append(copying: text.extracting(start..<index))
      while index < text.count, text[index] >= 0x80 {
        index += encodeCharacter(text, at: index, &scalars, into: &output)
      }
      flush(&scalars, into: &output)
    }
  }

  /// How many bytes it had.
  private func encodeCharacter(
    _ text: Span<UInt8>, at index: Int, _ scalars: inout [UInt32], into output: inout [UInt8]
  ) -> Int {
    let count: Int
    switch CharacterForm.utf8.extent(in: text, at: index) {
    case .complete(let length): count = length
    case .incomplete: return replace(text.count - index, &scalars, into: &output)
    case .malformed(let length): return replace(length, &scalars, into: &output)
    }
    switch coding {
    case .utf8: output.append(copying: text.extracting(index..<index + count))
    case .singleByte(let table):
      output.append(table.byte(for: CharacterForm.scalar(in: text, at: index, count: count)))
    case .multibyte:
      scalars.append(CharacterForm.scalar(in: text, at: index, count: count))
      if scalars.count == MultibyteCharset.mostAtOnce { flush(&scalars, into: &output) }
    }
    return count
  }

  private func replace(_ count: Int, _ scalars: inout [UInt32], into output: inout [UInt8]) -> Int {
    flush(&scalars, into: &output)
    output.append(UInt8(ascii: "?"))
    return count
  }

  private func flush(_ scalars: inout [UInt32], into output: inout [UInt8]) {
    guard !scalars.isEmpty, case .multibyte(let charset) = coding else { return }
    charset.encode(scalars.span, into: &output)
    scalars.removeAll(keepingCapacity: true)
  }
}

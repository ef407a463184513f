/// Text of an app in UTF-8 to the charset of a game, each message for itself.
internal import Bytes

/// A value that any thread may use.
package struct CharsetEncoder: Sendable {
  private let coding: CharsetCoding

  init(_ coding: CharsetCoding) {
    self.coding = coding
  }

  /// Whether `text` is the same in the charset, so that it need not be encoded.
  package func keeps(_ text: Span<UInt8>) -> Bool {
    switch coding {
    case .utf8: CharacterForm.endOfUTF8(text, from: 0).end == text.count
    case .singleByte, .multibyte: UTF8Validator.endOfASCII(text, from: 0) == text.count
    }
  }

  /// Appends `text` in the charset: a question mark for each character that it does not have, and for what is no UTF-8.
  package func encode(_ text: Span<UInt8>, into output: inout [UInt8]) {
    var start = 0
    while start < text.count {
      let (end, extent) = CharacterForm.endOfUTF8(text, from: start)
      let valid = text.extracting(start..<end)
      switch coding {
      case .utf8: output.append(copying: valid)
      case .singleByte(let table): table.encode(valid, into: &output)
      case .multibyte(let charset): Self.encode(valid, by: charset, into: &output)
      }
      guard end < text.count else { return }
      output.append(UInt8(ascii: "?"))
      guard case .malformed(let count) = extent else { return }
      start = end + count
    }
  }

  /// All but ASCII by the C library, in pieces.
  private static func encode(
    _ text: Span<UInt8>, by charset: MultibyteCharset, into output: inout [UInt8]
  ) {
    var scalars: [UInt32] = []
    var index = 0
    while index < text.count {
      let start = index
      index = UTF8Validator.endOfASCII(text, from: index)
      output.append(copying: text.extracting(start..<index))
      scalars.removeAll(keepingCapacity: true)
      while index < text.count, text[index] >= 0x80, scalars.count < MultibyteCharset.mostAtOnce {
        scalars.append(CharacterForm.nextScalar(in: text, at: &index))
      }
      charset.encode(scalars.span, into: &output)
    }
  }
}

/// A charset with a byte for each character, as two tables of 2 to 4 KiB: made when first asked for, and kept.
final class SingleByteTable: Sendable {
  /// For each byte from 0x80 on its character's bytes of UTF-8, the first one lowest; three at most.
  private let characters: [UInt32]
  /// For the upper byte of a code point where its page begins in `pages`; the first page is of question marks.
  private let pageStarts: [UInt16]
  private let pages: [UInt8]

  /// Nil for a charset of several bytes. Without codes, as in US-ASCII, there is nothing from 0x80 on.
  init?(_ charset: Charset) {
    guard let codes = Self.codes(of: charset) else { return nil }
    var characters = [UInt32](repeating: 0xBDBFEF, count: 128)
    var pageStarts = [UInt16](repeating: 0, count: 256)
    var pages = [UInt8](repeating: Self.questionMark, count: 256)
    for (byte, code) in zip(UInt8(0x80)...0xFF, codes) where code != 0xFFFD {
      var text: [UInt8] = []
      text.append(scalar: UInt32(code))
      characters[Int(byte & 0x7F)] = text.reversed().reduce(0) { $0 << 8 | UInt32($1) }
      let page = Int(code >> 8)
      if pageStarts[page] == 0 {
        pageStarts[page] = UInt16(pages.count)
        pages.append(contentsOf: repeatElement(Self.questionMark, count: 256))
      }
      pages[Int(pageStarts[page]) + Int(code & 0xFF)] = byte
    }
    self.characters = characters
    self.pageStarts = pageStarts
    self.pages = pages
  }

  /// Appends the text of `bytes` in UTF-8.
  func decode(_ bytes: Span<UInt8>, into output: inout [UInt8]) {
    // Room for nothing is none in an empty array, whose storage all threads have in common, and its count would be written.
    if bytes.isEmpty { return }
    output.append(addingCapacity: bytes.count * 3) { text in
      for index in bytes.indices {
        let byte = bytes[index]
        guard byte >= 0x80 else {
          text.append(byte)
          continue
        }
        var character = characters[Int(byte & 0x7F)]
        while character != 0 {
          text.append(UInt8(truncatingIfNeeded: character))
          character >>= 8
        }
      }
    }
  }

  /// Appends the bytes of `text`, which is valid UTF-8.
  func encode(_ text: Span<UInt8>, into output: inout [UInt8]) {
    if text.isEmpty { return }
    output.append(addingCapacity: text.count) { bytes in
      var index = 0
      while index < text.count { bytes.append(byte(for: CharacterForm.nextScalar(in: text, at: &index))) }
    }
  }

  /// A question mark where there is none.
  private func byte(for scalar: UInt32) -> UInt8 {
    if scalar < 0x80 { return UInt8(truncatingIfNeeded: scalar) }
    guard scalar <= 0xFFFF else { return Self.questionMark }
    return pages[Int(pageStarts[Int(scalar >> 8)]) + Int(scalar & 0xFF)]
  }

  private static let questionMark = UInt8(ascii: "?")

  /// From 0x80 to 0xFF, U+FFFD where there is nothing. The charsets of ISO have controls up to 0x9F.
  private static func codes(of charset: Charset) -> [UInt16]? {
    if charset == .usASCII { return [] }
    if let text = textOfOthers(charset) { return numbers(text) }
    guard let text = textOfISO(charset) else { return nil }
    return Array(0x80...0x9F) + numbers(text)
  }

  private static func numbers(_ text: String) -> [UInt16] {
    text.split(whereSeparator: \.isWhitespace).map { UInt16($0, radix: 16) ?? 0xFFFD }
  }
}

import Testing

@testable import Charsets

/// The charsets with several bytes a character, against what the C library says of each alone.
@Suite struct MultibyteTests {
  static let charsets = Charset.allCases.filter { $0.needsModule }

  @Test(arguments: charsets) func isOpen(charset: Charset) {
    #expect(library.has(charset) && CharsetLibrary.isAvailable(charset))
    let none = CharsetLibrary(opening: [])
    #expect(!none.has(charset) && none.decoder(for: charset) == nil && none.encoder(for: charset) == nil)
    #expect(CharsetLibrary(opening: [charset]).has(charset))
  }

  @Test func othersNeedNoModule() {
    let none = CharsetLibrary(opening: [])
    for charset in Charset.allCases where !Self.charsets.contains(charset) {
      #expect(none.has(charset) && none.decoder(for: charset) != nil && none.encoder(for: charset) != nil)
    }
    #expect(Set(Self.charsets) == [.gbk, .gb18030, .big5, .eucJP, .eucKR, .shiftJIS])
  }

  /// All of two bytes; their forms as well, since what is none here is none there.
  @Test(arguments: charsets) func eachCharacterIsWhatTheLibrarySays(charset: Charset) throws {
    let form = try #require(CharacterForm(charset))
    let reference = Reference(from: charset.name, to: "UTF-8")
    var characters: [[UInt8]] = (UInt8(0x80)...0xFF).map { [$0] }
    for first in UInt8(0x80)...0xFF {
      for second in UInt8.min...UInt8.max { characters.append([first, second]) }
    }
    for second in UInt8(0xA1)...0xFE {
      for third in UInt8(0xA1)...0xFE { characters.append([0x8F, second, third]) }
    }
    for scalar in UInt32(0x80)...0xFFFF where scalar.isMultiple(of: 3) && charset == .gb18030 {
      if Unicode.Scalar(scalar) != nil { characters.append(encoded(utf8(scalar), to: charset)) }
    }
    var count = 0
    for character in characters {
      guard form.extent(in: character.span, at: 0) == .complete(character.count) else {
        // Nor does the library take it for one character.
        let found = reference.convert(character).map {
          String(decoding: $0, as: UTF8.self).unicodeScalars.count
        }
        if found == 1 { Issue.record("\(character) is a character") }
        continue
      }
      count += 1
      let expected = reference.convert(character) ?? Array("\u{FFFD}".utf8)
      if decoded(character, from: charset) != expected { Issue.record("\(character)") }
    }
    #expect(count > 8000)
  }

  /// Each of the first plane, and some beyond: the library's bytes, or one question mark.
  @Test(arguments: charsets) func eachCodePointIsWhatTheLibrarySays(charset: Charset) {
    let reference = Reference(from: "UTF-8", to: charset.name)
    let beyond = stride(from: UInt32(0x1_0000), through: 0x10_FFFF, by: 509)
    for scalar in Array(UInt32(0x80)...0xFFFF) + Array(beyond) + Array(0xE0000...0xE007F)
    where Unicode.Scalar(scalar) != nil {
      var expected = reference.convert(utf8(scalar)) ?? []
      if expected.isEmpty { expected = [UInt8(ascii: "?")] }
      let found = encoded(utf8(scalar), to: charset)
      if found != expected { Issue.record("\(scalar) is \(found), not \(expected)") }
    }
  }

  /// The bytes are those of Python's codecs.
  @Test(
    arguments: [
      (.gbk, "你站在客栈门口。朱镕基", "c4e3d5bed4dabfcdd5bbc3c5bfdaa1a3d6ece946bbf9"),
      (.gb18030, "你好 🐉 𠀀", "c4e3bac3209439ca332095328236"),
      (.big5, "你站在客棧門口。功蓋", "a741afb8a662abc8b4ccaaf9a466a143a55cbb5c"),
      (.eucJP, "宿屋の前です。ｶﾅ 丂", "bdc9b2b0a4cec1b0a4c7a4b9a1a38eb68ec5208fb0a1"),
      (.eucKR, "당신은 여관 앞에 서 있다.", "b4e7bdc5c0ba20bfa9b0fc20bed5bfa120bcad20c0d6b4d92e"),
      (.shiftJIS, "表示ソﾊﾝ ~\\", "955c8ea6835ccadd207e5c"),
    ] as [(Charset, String, String)])
  func textOfGames(charset: Charset, expected: String, hexadecimal: String) throws {
    let digits = Array(hexadecimal)
    let bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
    #expect(text(bytes, from: charset) == expected)
    #expect(encoded(expected, to: charset) == bytes)
    let long = Array(repeating: bytes, count: 1000).flatMap(\.self)
    #expect(text(long, from: charset) == String(repeating: expected, count: 1000))
    #expect(encoded(String(repeating: expected, count: 1000), to: charset) == long)
  }

  /// ESC, backslash and tilde are what terminals think they are.
  @Test(arguments: Charset.allCases) func belowEightyHexIsASCII(charset: Charset) {
    let all = Array(UInt8.min...0x7F)
    #expect(decoded(all, from: charset) == all)
    #expect(encoded(all, to: charset) == all)
    for byte in all {
      #expect(decoded([byte], from: charset) == [byte])
      // In the middle of what the C library converts as well.
      let between = encoded("\u{3042}", to: charset)
      let text = decoded(between, from: charset)
      #expect(decoded(between + [byte] + between, from: charset) == text + [byte] + text)
    }
  }
}

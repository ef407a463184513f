import Testing

@testable import Charsets

@Suite struct EncoderTests {
  @Test(
    arguments: [
      (.utf8, "naïve 🐉", "naïve 🐉"), (.usASCII, "naïve 🐉", "na?ve ?"), (.iso88591, "5 €", "5 ?"),
      (.koi8R, "é\u{301}", "??"), (.gbk, "🐉a🐉", "?a?"), (.shiftJIS, "é漢é", "?漢?"), (.eucKR, "한🐉글", "한?글"),
      (.big5, "\u{E0041}\u{E007F}", "??"), (.usASCII, "\u{E0041}", "?"), (.gb18030, "\u{E0041}", "\u{E0041}"),
      (.usASCII, "", ""), (.gbk, "\u{FEFF}", "?"), (.eucJP, "\u{10FFFF}", "?"),
    ] as [(Charset, String, String)])
  func oneQuestionMarkForEachMissingCharacter(charset: Charset, written: String, expected: String) {
    #expect(text(encoded(written, to: charset), from: charset) == expected)
  }

  @Test(arguments: Charset.allCases) func whatIsNoUTF8IsAQuestionMark(charset: Charset) {
    for (bytes, expected): ([UInt8], String) in [
      ([0x80], "?"), ([0x41, 0xC3], "A?"), ([0xC3, 0x41], "?A"), ([0xE2, 0x82], "?"),
      ([0xF0, 0x9F, 0x90, 0x41], "?A"),
      ([0xED, 0xA0, 0x80], "???"), ([0xC0, 0x80], "??"), ([0xFF, 0x00, 0xFE], "?\0?"),
    ] {
      #expect(encoded(bytes, to: charset) == Array(expected.utf8), "\(bytes)")
    }
  }

  /// Text that came from the game goes back as it came.
  @Test(arguments: Charset.allCases) func whatWasDecodedIsEncodedAgain(charset: Charset) throws {
    for sample in DecoderTests.samples(charset) {
      let first = decoded(sample, from: charset)
      let again = encoded(first, to: charset)
      let second = decoded(again, from: charset)
      // All of it but what was none: that is U+FFFD, which some charsets have and others have not.
      let expected = String(decoding: first, as: UTF8.self).unicodeScalars.map { scalar in
        scalar == "\u{FFFD}" && !charset.isUTF8 && charset != .gb18030 ? "?" : scalar
      }
      #expect(Array(String(decoding: second, as: UTF8.self).unicodeScalars) == expected)
    }
  }

  /// What need not be encoded is the same when it is.
  @Test(arguments: Charset.allCases) func whatIsKeptIsTheSame(charset: Charset) throws {
    let encoder = try #require(library.encoder(for: charset))
    func keeps(_ bytes: [UInt8]) -> Bool { encoder.keeps(bytes.span) }
    let ascii = (0..<0x80).map { UInt8($0) }
    #expect(keeps([]) && keeps(ascii) && encoded(ascii, to: charset) == ascii)
    for text in ["naïve", "漢字", "a🐉"] {
      let bytes = Array(text.utf8)
      #expect(keeps(bytes) == charset.isUTF8 && (!keeps(bytes) || encoded(bytes, to: charset) == bytes))
    }
    #expect(!keeps([0xFF]) && !keeps([0x41, 0xC3]) && !keeps([0x80, 0x41]))
  }

  @Test(arguments: MultibyteTests.charsets) func moreThanIsEncodedAtOnce(charset: Charset) {
    for count in [255, 256, 257, 1000] {
      let text =
        String(repeating: "\u{4E00}", count: count) + "a"
        + String(repeating: "\u{1F409}\u{4E00}", count: count)
      let one = encoded("\u{4E00}", to: charset)
      let other = encoded("\u{1F409}", to: charset)
      let expected =
        Array(repeating: one, count: count).joined() + [0x61]
        + Array(repeating: other + one, count: count).joined()
      #expect(encoded(text, to: charset) == Array(expected))
    }
  }
}

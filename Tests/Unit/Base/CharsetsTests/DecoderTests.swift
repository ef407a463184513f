import Kit
import Testing

@testable import Charsets

@Suite struct DecoderTests {
  /// What is none becomes U+FFFD, and never at the cost of ASCII behind it.
  @Test(
    arguments: [
      (.utf8, [0x80, 0x41], "\u{FFFD}A"), (.utf8, [0xC3, 0x41], "\u{FFFD}A"),
      (.utf8, [0xC0, 0xAF], "\u{FFFD}\u{FFFD}"),
      (.utf8, [0xE2, 0x82, 0x41], "\u{FFFD}A"), (.utf8, [0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
      (.utf8, [0xF0, 0x9F, 0x90, 0xE2, 0x82, 0xAC], "\u{FFFD}\u{20AC}"),
      (.utf8, [0xF4, 0x90], "\u{FFFD}\u{FFFD}"),
      (.utf8, [0xFF, 0xFE, 0x20], "\u{FFFD}\u{FFFD} "),
      (.usASCII, [0x41, 0x80, 0xFF, 0x42], "A\u{FFFD}\u{FFFD}B"),
      (.iso88596, [0xC1, 0xFF], "\u{621}\u{FFFD}"), (.windows1252, [0x81, 0x80], "\u{FFFD}\u{20AC}"),
      (.gbk, [0xC4, 0x0D, 0x0A], "\u{FFFD}\r\n"), (.gbk, [0xFF, 0x41], "\u{FFFD}A"),
      (.gbk, [0xC4, 0xFF, 0x41], "\u{FFFD}\u{FFFD}A"), (.gbk, [0xAA, 0xA1, 0xC4, 0xE3], "\u{FFFD}\u{4F60}"),
      (.gbk, [0xC4, 0x30, 0xC4, 0xE3], "\u{FFFD}0\u{4F60}"),
      (.gb18030, [0x81, 0x30, 0x41], "\u{FFFD}0A"),
      (.gb18030, [0x81, 0x30, 0x81, 0x41], "\u{FFFD}0\u{4E04}"),
      (.gb18030, [0xFE, 0x39, 0xFE, 0x39, 0x41], "\u{FFFD}A"),
      (.big5, [0xA7, 0x20, 0xA7, 0x41], "\u{FFFD} \u{4F60}"), (.big5, [0x81, 0x40, 0x41], "\u{FFFD}A"),
      (.eucJP, [0x8F, 0xB0, 0x41], "\u{FFFD}\u{FFFD}A"), (.eucJP, [0x8E, 0xE0, 0x41], "\u{FFFD}A"),
      (.eucJP, [0xBD, 0x1B, 0x5B], "\u{FFFD}\u{1B}["), (.eucKR, [0xB4, 0x41], "\u{FFFD}A"),
      (.shiftJIS, [0x95, 0x20], "\u{FFFD} "), (.shiftJIS, [0xA0, 0xFD, 0x5C], "\u{FFFD}\u{FFFD}\\"),
    ] as [(Charset, [UInt8], String)])
  func whatIsNone(charset: Charset, bytes: [UInt8], expected: String) {
    #expect(text(bytes, from: charset) == expected)
  }

  /// Another decoder goes on wherever the text is cut.
  @Test(
    arguments: [
      (.utf8, Array("я €🐉.".utf8)), (.windows1251, [0xFF, 0x41]), (.gbk, [0x41, 0xC4, 0xE3, 0x42]),
      (.gb18030, [0x81, 0x30, 0x81, 0x30, 0x41]), (.eucJP, [0x8F, 0xB0, 0xA1, 0x41]),
      (.shiftJIS, [0x95, 0x5C]),
    ] as [(Charset, [UInt8])])
  func goesOnElsewhere(charset: Charset, bytes: [UInt8]) throws {
    for cut in 0...bytes.count {
      var first = try #require(library.decoder(for: charset))
      var output: [UInt8] = []
      first.decode(Array(bytes[..<cut]).span, into: &output)
      var second = try #require(library.decoder(for: charset))
      second.restore(heldWord: first.heldWord)
      #expect(second.held == first.held)
      second.decode(Array(bytes[cut...]).span, into: &output)
      second.finish(into: &output)
      #expect(String(decoding: output, as: UTF8.self) == text(bytes, from: charset))
    }
  }

  /// What is no beginning of a character is not gone on with, and never more than there is room for.
  @Test(
    arguments: [0, 1 << 56 | 0x41, 3 << 56 | 0x41_4141, 2 << 56 | 0x80_C3, 4 << 56, .max, 1 << 56 | 0xFF]
      as [UInt64])
  func heldByNobody(word: UInt64) throws {
    for charset in [Charset.utf8, .usASCII, .gbk, .windows1251] {
      var decoder = try #require(library.decoder(for: charset))
      decoder.restore(heldWord: word)
      #expect(decoder.held.count <= 3)
      var output: [UInt8] = []
      decoder.decode(Array("abcdef".utf8).span, into: &output)
      #expect(output.suffix(4) == Array("cdef".utf8)[...])
    }
  }

  @Test(
    arguments: [
      (.utf8, [0xF0, 0x9F, 0x90], "\u{FFFD}"), (.utf8, [0xC3], "\u{FFFD}"), (.gbk, [0xC4], "\u{FFFD}"),
      (.gb18030, [0x94, 0x39, 0xCA], "\u{FFFD}9\u{FFFD}"), (.eucJP, [0x8F, 0xB0], "\u{FFFD}\u{FFFD}"),
      (.shiftJIS, [0x95], "\u{FFFD}"),
    ] as [(Charset, [UInt8], String)])
  func whatWaitsIsHeldAndGivenUp(charset: Charset, bytes: [UInt8], expected: String) throws {
    var decoder = try #require(library.decoder(for: charset))
    var output: [UInt8] = []
    let piece = [0x41] + bytes
    decoder.decode(piece.span, into: &output)
    #expect(output == [0x41] && decoder.held == bytes)
    decoder.finish(into: &output)
    #expect(String(decoding: output, as: UTF8.self) == "A" + expected && decoder.held.isEmpty)
    // It is as new.
    let next: [UInt8] = [0x42]
    decoder.decode(next.span, into: &output)
    #expect(output.last == 0x42)
    let before = output
    decoder.finish(into: &output)
    #expect(output == before)
  }

  @Test func itsRestMayComeLater() throws {
    var decoder = try #require(library.decoder(for: .gbk))
    var output: [UInt8] = []
    for piece: [UInt8] in [[0xC4], [], [0xE3, 0xBA], [0xC3]] { decoder.decode(piece.span, into: &output) }
    #expect(String(decoding: output, as: UTF8.self) == "你好" && decoder.held.isEmpty)
  }

  /// Random bytes, and text with some of them wrong.
  static func samples(_ charset: Charset) -> [[UInt8]] {
    var random = SplitMix(seed: UInt64(charset.name.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }))
    var samples: [[UInt8]] = []
    let words = [
      "Тёмный лес", "naïve café €", "你站在客栈门口", "你站在客棧", "宿屋の前ｶﾅ", "여관 앞에", "\u{1B}[1;31m", "\r\n", "~\\",
    ]
    for round in 0..<60 {
      var sample: [UInt8] = []
      while sample.count < 48 {
        switch round % 3 {
        case 0: sample.append(UInt8.random(in: 0...255, using: &random))
        case 1: sample.append(UInt8.random(in: 0x80...255, using: &random))
        default: sample += encoded(words.randomElement(using: &random) ?? "", to: charset)
        }
      }
      if round % 3 == 2, round % 2 == 0 {
        for _ in 0..<3 {
          sample[Int.random(in: 0..<sample.count, using: &random)] = UInt8.random(
            in: 0x30...255, using: &random)
        }
      }
      samples.append(sample)
    }
    return samples
  }

  @Test(arguments: Charset.allCases) func piecesAreAsGoodAsTheWhole(charset: Charset) {
    for sample in Self.samples(charset) {
      let whole = decoded(sample, from: charset)
      for index in 0...sample.count {
        let pieces = [Array(sample[..<index]), Array(sample[index...])]
        if decoded(pieces, from: charset) != whole { Issue.record("\(sample) cut at \(index)") }
      }
      if decoded(sample.map { [$0] }, from: charset) != whole { Issue.record("\(sample) byte by byte") }
    }
  }

  /// Also beyond the pieces that are converted at once.
  @Test(arguments: Charset.allCases) func longTextInPieces(charset: Charset) {
    let sample = Array(Self.samples(charset).joined())
    let long = sample + sample + sample.reversed()
    let whole = decoded(long, from: charset)
    for size in [1, 7, 255, 256, 257, 1023, 1024, 1025] {
      let pieces = stride(from: 0, to: long.count, by: size).map {
        Array(long[$0..<min(long.count, $0 + size)])
      }
      #expect(decoded(pieces, from: charset) == whole, "in pieces of \(size)")
    }
  }

  @Test(arguments: Charset.allCases) func whatComesOutIsUTF8AndAtMostThreeBytesWait(charset: Charset) throws {
    var decoder = try #require(library.decoder(for: charset))
    var output: [UInt8] = []
    for byte in Self.samples(charset).joined() {
      let piece = [byte]
      decoder.decode(piece.span, into: &output)
      #expect(decoder.held.count <= 3)
    }
    decoder.finish(into: &output)
    #expect(String(validating: output, as: UTF8.self) != nil)
  }

  /// As the standard library repairs it.
  @Test func badUTF8IsRepairedAsEverywhere() {
    for sample in Self.samples(.utf8) {
      #expect(text(sample, from: .utf8) == String(decoding: sample, as: UTF8.self))
    }
  }

  @Test func whatNeedsNoDecoding() throws {
    let utf8 = try #require(library.decoder(for: .utf8))
    let cyrillic = try #require(library.decoder(for: .koi8R))
    for (bytes, asUTF8, asCyrillic): ([UInt8], Int, Int) in [
      ([], 0, 0), ([0x41, 0x42], 2, 2), ([0x41, 0xC3, 0xA9, 0x42], 4, 1), ([0x41, 0xC3], 1, 1),
      ([0xFF, 0x41], 0, 0), ([0xC3, 0xA9, 0xC3, 0xC3], 2, 0),
    ] {
      let found = (utf8.unchangedPrefix(of: bytes.span), cyrillic.unchangedPrefix(of: bytes.span))
      #expect(found == (asUTF8, asCyrillic), "\(bytes)")
    }
    var waiting = utf8
    var output: [UInt8] = []
    let first: [UInt8] = [0xC3]
    let second: [UInt8] = [0x41]
    waiting.decode(first.span, into: &output)
    let count = waiting.unchangedPrefix(of: second.span)
    #expect(count == 0)
  }
}

import Testing

@testable import Charsets

/// The charsets with a byte for each character, against the C library's.
@Suite struct TableTests {
  static let charsets = Charset.allCases.filter { CharacterForm($0) == nil }

  @Test(arguments: charsets) func eachByteIsWhatTheLibrarySays(charset: Charset) {
    let reference = Reference(from: charset.name, to: "UTF-8")
    for byte in UInt8.min...UInt8.max {
      let expected = reference.convert([byte]) ?? Array("\u{FFFD}".utf8)
      #expect(decoded([byte], from: charset) == expected, "\(byte)")
    }
  }

  /// Every code point that UTF-8 can have in two or three bytes, and some beyond.
  @Test(arguments: charsets) func eachCharacterHasItsByteOrNone(charset: Charset) {
    var bytes: [UInt32: UInt8] = [:]
    for byte in UInt8.min...UInt8.max {
      let scalars = Array(text([byte], from: charset).unicodeScalars)
      #expect(scalars.count == 1)
      if scalars[0] != "\u{FFFD}" { bytes[scalars[0].value] = byte }
    }
    let all = (Array(0...0xFFFF) + [0x1_0041, 0x1_F409, 0xE0041, 0x10_FFFF]).compactMap(Unicode.Scalar.init)
    var text = String.UnicodeScalarView()
    text.append(contentsOf: all)
    let found = encoded(String(text), to: charset)
    let expected = all.map { bytes[$0.value] ?? UInt8(ascii: "?") }
    #expect(found.count == expected.count)
    for (scalar, pair) in zip(all, zip(found, expected)) where pair.0 != pair.1 {
      Issue.record("\(scalar.value) is \(pair.0), not \(pair.1)")
    }
  }

  @Test func aCapitalIsNotAWordOfTelnet() {
    #expect(encoded("Моя", to: .windows1251) == [0xCC, 0xEE, 0xFF])
    #expect(text([0xCC, 0xEE, 0xFF], from: .windows1251) == "Моя")
  }

  @Test func nothingWaits() throws {
    for charset in Self.charsets {
      var decoder = try #require(library.decoder(for: charset))
      var output: [UInt8] = []
      for byte in UInt8.min...UInt8.max {
        let piece = [byte]
        decoder.decode(piece.span, into: &output)
        #expect(decoder.held.isEmpty)
      }
    }
  }
}

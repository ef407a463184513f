import Testing

@testable import Bytes

/// docs/protocol.md, "Registration": hexadecimal is lower case, both ways.
@Suite struct HexTests {
  @Test func everyByteRoundTrips() {
    let all = (0...255).map { UInt8($0) }
    let text = Hex.encode(all.span)
    #expect(text.count == 512)
    #expect(text.hasPrefix("000102030405060708090a0b0c0d0e0f10"))
    #expect(text.hasSuffix("fcfdfeff"))
    #expect(Hex.decode(Array(text.utf8).span) == all)
  }

  @Test func onlyTheSixteenDigitsAreRead() {
    let digits = Set("0123456789abcdef".utf8)
    for byte in UInt8.min...UInt8.max {
      let isDigit = digits.contains(byte)
      let high = Hex.decode([byte, UInt8(ascii: "0")].span)
      let low = Hex.decode([UInt8(ascii: "0"), byte].span)
      #expect((high != nil) == isDigit, "\(byte) as the high digit")
      #expect((low != nil) == isDigit, "\(byte) as the low digit")
    }
  }

  @Test(arguments: ["0", "abc", "0A", "AB", " ab", "ab ", "0x", "a\u{E9}b"]) func refused(text: String) {
    #expect(Hex.decode(Array(text.utf8).span) == nil)
  }

  @Test func nothingIsNothing() {
    #expect(Hex.decode([UInt8]().span) == [])
    #expect(Hex.encode([UInt8]().span) == "")
  }
}

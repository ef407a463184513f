import Testing

@testable import Bytes

@Suite struct Bytes32Tests {
  private static let counting = (0..<32).map { UInt8($0 * 7 + 1) }

  @Test func everyFormHoldsTheSameBytes() throws {
    let value = try #require(Bytes32(Self.counting))
    #expect(value.array == Self.counting)
    #expect((0..<32).map { value[$0] } == Self.counting)
    let inline = value.inlineArray
    #expect((0..<32).map { inline[$0] } == Self.counting)
    #expect(Bytes32(inline) == value)
    var appended: [UInt8] = [9]
    value.append(to: &appended)
    #expect(appended == [9] + Self.counting)
    #expect(value.hex == Hex.encode(Self.counting.span))
    #expect(value.base64 == Base64.encode(Self.counting.span))
  }

  @Test func wordsAreBigEndian() {
    let value = Bytes32(words: 0x0102_0304_0506_0708, 0x1112_1314_1516_1718, 0, .max)
    #expect(value.array.prefix(9) == [1, 2, 3, 4, 5, 6, 7, 8, 0x11])
    #expect(value.array.suffix(9) == [0] + [UInt8](repeating: 0xFF, count: 8))
    #expect(value.leadingWords == (0x0102_0304_0506_0708, 0x1112_1314_1516_1718))
  }

  @Test(arguments: [0, 1, 31, 33, 64]) func otherLengthsAreRefused(count: Int) {
    #expect(Bytes32([UInt8](repeating: 1, count: count)) == nil)
  }

  @Test func zeroIsAllZero() {
    #expect(Bytes32().array == [UInt8](repeating: 0, count: 32))
  }

  @Test func aDifferenceInAnyBitCounts() throws {
    let value = try #require(Bytes32(Self.counting))
    #expect(value.equalsInConstantTime(value))
    for bit in 0..<256 {
      var bytes = Self.counting
      bytes[bit / 8] ^= 1 << UInt8(bit % 8)
      let other = try #require(Bytes32(bytes))
      #expect(!value.equalsInConstantTime(other), "bit \(bit)")
      #expect(value != other)
      let equal = equalInConstantTime(bytes.span, Self.counting.span)
      #expect(!equal, "bit \(bit)")
    }
  }

  @Test func spansOfUnequalLengthAreUnequal() {
    let shorter = equalInConstantTime(Self.counting.span.extracting(0..<31), Self.counting.span)
    let same = equalInConstantTime(Self.counting.span, Self.counting.span)
    let empty = equalInConstantTime([UInt8]().span, [UInt8]().span)
    #expect(!shorter)
    #expect(same)
    #expect(empty)
  }

  @Test func hexIsReadBack() {
    let value = Bytes32(words: 0x0102_0304_0506_0708, 0x1112_1314_1516_1718, 0, .max)
    #expect(Bytes32(hex: value.hex) == value)
    #expect(Bytes32(hex: String(value.hex.dropLast())) == nil)
    #expect(Bytes32(hex: value.hex + "00") == nil)
    #expect(Bytes32(hex: value.hex.uppercased()) == nil)
  }
}

import Bytes
import Crypto
import Testing

/// Expected bytes: the rules and examples of X.690, and what Apple's leaves hold.
@Suite struct DERWriterTests {
  @Test(
    arguments: [
      (0, "020100"), (1, "020101"), (127, "02017f"), (128, "02020080"), (255, "020200ff"), (256, "02020100"),
      (0xFFFF_FFFF, "020500ffffffff"),
    ] as [(UInt32, String)])
  func integers(value: UInt32, expected: String) {
    #expect(hex(DERWriter.integer(value)) == expected)
  }

  @Test(arguments: [
    (0, "0400"), (127, "047f"), (128, "048180"), (255, "0481ff"), (256, "04820100"), (65536, "0483010000"),
  ])
  func lengths(count: Int, head: String) {
    let element = DERWriter.octetString([UInt8](repeating: 7, count: count))
    #expect(hex(Array(element.prefix(element.count - count))) == head)
  }

  @Test func objectIdentifiers() {
    // X.690 §8.19.5: {joint-iso-itu-t 100 3} is 06 03 81 34 03.
    #expect(hex(DERWriter.objectIdentifier([2, 100, 3])) == "0603813403")
    #expect(hex(DERWriter.objectIdentifier([1, 2, 840, 113635, 100, 8, 2])) == "06092a864886f763640802")
  }

  @Test(
    arguments: [
      ([], "030100"), ([0], "03020780"), ([5, 6], "03020106"), ([0, 1, 2, 3], "030204f0"), ([7], "03020001"),
      ([8], "0303070080"),
    ] as [(Set<Int>, String)])
  func namedBits(bits: Set<Int>, expected: String) {
    #expect(hex(DERWriter.bitString(bits: bits)) == expected)
  }

  @Test func contextTagsAboveThirtyTakeMoreBytes() {
    #expect(hex(DERWriter.explicit(4, DERWriter.integer(10))) == "a40302010a")
    #expect(hex(DERWriter.explicit(30, [])) == "be00")
    #expect(hex(DERWriter.explicit(31, [])) == "bf1f00")
    #expect(hex(DERWriter.explicit(1204, DERWriter.integer(0))) == "bf893403020100")
  }

  private func hex(_ bytes: [UInt8]) -> String { Hex.encode(bytes.span) }
}

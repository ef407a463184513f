/// What the encoder writes, the strict parser reads: the shortest heads at each of their limits.
import Testing

@testable import Bytes
@testable import CBOR

@Suite struct CBOREncoderTests {
  /// RFC 8949 §3: where the head grows.
  static let limits: [(value: UInt64, headBytes: Int)] = [
    (0, 1), (23, 1), (24, 2), (255, 2), (256, 3), (65_535, 3), (65_536, 5), (4_294_967_295, 5),
    (4_294_967_296, 9),
    (.max, 9),
  ]

  @Test(arguments: limits) func numbers(value: UInt64, headBytes: Int) throws {
    var unsigned = CBOREncoder()
    unsigned.append(unsigned: value)
    #expect(unsigned.bytes.count == headBytes)
    #expect(try Self.kind(unsigned.bytes) == .unsigned(value))
    var negative = CBOREncoder()
    negative.append(negative: value)
    #expect(negative.bytes.count == headBytes)
    #expect(try Self.kind(negative.bytes) == .negative(value))
  }

  @Test(arguments: [0, 1, 23, 24, 255, 256, 65_535, 65_536]) func strings(count: Int) throws {
    var bytes = CBOREncoder()
    bytes.append(bytes: [UInt8](repeating: 0xFF, count: count))
    #expect(try Self.kind(bytes.bytes) == .bytes(bytes.bytes.count - count..<bytes.bytes.count))
    var text = CBOREncoder()
    text.append(text: String(repeating: "a", count: count))
    #expect(try Self.kind(text.bytes) == .text(text.bytes.count - count..<text.bytes.count))
  }

  @Test func containers() throws {
    var encoder = CBOREncoder()
    encoder.beginMap(pairs: 2)
    encoder.append(text: "\u{FC}")
    encoder.beginArray(count: 2)
    encoder.append(unsigned: 1)
    encoder.append(negative: 6)
    encoder.append(text: "b")
    encoder.beginMap(pairs: 0)
    #expect(encoder.bytes == [0xA2, 0x62, 0xC3, 0xBC, 0x82, 0x01, 0x26, 0x61, 0x62, 0xA0])
    #expect(try Self.kind(encoder.bytes) == .map(pairs: 2))
  }

  private static func kind(_ bytes: [UInt8]) throws -> CBORDocument.Kind {
    try CBORDocument.parse(bytes.span, limits: CBORLimits(bytes: 100_000)).root.kind
  }
}

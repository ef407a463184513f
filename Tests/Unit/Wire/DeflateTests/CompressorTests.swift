import Kit
import Testing
import WebSocketWire

@testable import Deflate

/// RFC 7692 §7.2.1: what becomes of messages, and when they are better left alone.
@Suite struct CompressorTests {
  private var random = SplitMix(seed: 1)

  @Test(arguments: 9...15) mutating func roundTrip(windowBits: Int) throws {
    var compressor = Compressor(windowBits: windowBits)
    for size in [5, 64, 300, 5000, 20_000] {
      let message = random.prose(size)
      guard let bytes = compress(message, by: &compressor) else {
        #expect(size < 64)
        continue
      }
      #expect(bytes.count < message.count)
      #expect(!bytes.suffix(4).elementsEqual([0x00, 0x00, 0xFF, 0xFF]))
      let way = Inflating(type: .text, windowBits: windowBits)
      #expect(way.inflate([bytes]) == Inflating.Result(bytes: message))
      #expect(way.inflate(bytes.map { [$0] }) == Inflating.Result(bytes: message))
    }
  }

  /// A compressor remembers nothing: the same message becomes the same bytes.
  @Test mutating func eachMessageOnItsOwn() throws {
    var compressor = Compressor(windowBits: 15)
    let message = random.prose(1000)
    let first = try #require(compress(message, by: &compressor))
    #expect(compress(random.bytes(1000), by: &compressor) == nil)
    #expect(compress(random.prose(3000), by: &compressor, room: 100) == nil)
    #expect(compress(message, by: &compressor) == first)
  }

  @Test mutating func notLonger() {
    var compressor = Compressor(windowBits: 15)
    for size in [1, 10, 64, 1000, 16_380, 100_000] {
      #expect(compress(random.bytes(size), by: &compressor) == nil)
    }
    #expect(compress([], by: &compressor) == nil)
  }

  /// The room that a message needs, to the byte.
  @Test mutating func room() throws {
    let message = [UInt8](repeating: 1, count: 500)
    let bytes = try #require(compress(message))
    var compressor = Compressor(windowBits: 15)
    for room in 0...bytes.count + 4 { #expect(compress(message, by: &compressor, room: room) == nil) }
    #expect(compress(message, by: &compressor, room: bytes.count + 5) == bytes)
  }

  @Test mutating func poolKeepsToTheWindow() throws {
    let pool = ZlibPool()
    let half = random.bytes(6000)
    for bits in [15, 9, 12, 11, 15, 13, 14, 10, 9] {
      let message = half + half + half
      var output = [UInt8](repeating: 0, count: message.count + 4)
      var span = output.mutableSpan
      let count = pool.compress(message.span, windowBits: bits, into: &span)
      // Only a window of 13 bits and more reaches back 6,000 bytes; narrower ones than 15 count as 12 here.
      #expect((count != nil) == (bits == 15))
      if let count { #expect(Inflating().inflate([Array(output[..<count])]).bytes == message) }
    }
  }
}

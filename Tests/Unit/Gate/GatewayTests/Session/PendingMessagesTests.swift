import Testing
import WebSocketWire

@testable import Gateway

@Suite struct PendingMessagesTests {
  @Test func theyComeOutAsTheyWentIn() throws {
    var pending = PendingMessages()
    let sizes = [0, 1, 127, 128, 16_383, 16_384, 65_536, 0]
    for size in sizes {
      let message = [UInt8](repeating: UInt8(size & 0x7F), count: size)
      pending.append(message.span, type: size.isMultiple(of: 2) ? .text : .binary)
    }
    for size in sizes {
      let (message, type) = try #require(pending.first)
      #expect(message == [UInt8](repeating: UInt8(size & 0x7F), count: size))
      #expect(type == (size.isMultiple(of: 2) ? .text : .binary))
      pending.removeFirst()
    }
    #expect(pending.isEmpty)
    #expect(pending.storedBytes == 0)
  }

  /// A frame of a client has six bytes at least.
  @Test func tinyMessagesTakeLessThanTheirFrames() {
    var pending = PendingMessages()
    let nothing: [UInt8] = []
    for _ in 0..<10_000 { pending.append(nothing.span, type: .binary) }
    #expect(pending.storedBytes == 20_000)
  }
}

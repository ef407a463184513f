import Testing

@testable import WebSocketWire

/// Frames as they go out (RFC 6455 §5.2 and §5.5).
@Suite struct FrameWritingTests {
  @Test(
    arguments: [
      (0, [0x82, 0]), (125, [0x82, 125]), (126, [0x82, 126, 0, 126]), (65_535, [0x82, 126, 0xFF, 0xFF]),
      (65_536, [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]),
    ] as [(Int, [UInt8])])
  func header(payload: Int, expected: [UInt8]) {
    #expect(FrameHeader.size(payload: payload) == expected.count)
    var bytes = [UInt8](repeating: 0xEE, count: expected.count + 2)
    var span = bytes.mutableSpan
    FrameHeader.write(opcode: .binary, payload: payload, into: &span, at: 1)
    #expect(bytes == [0xEE] + expected + [0xEE])
  }

  @Test func flags() {
    var bytes: [UInt8] = [0, 0]
    var span = bytes.mutableSpan
    FrameHeader.write(opcode: .text, fin: false, rsv1: true, payload: 3, into: &span, at: 0)
    #expect(bytes == [0x41, 3])
  }

  @Test func control() {
    #expect(ControlFrame.ping() == [0x89, 0])
    #expect(ControlFrame.pong([1, 2]) == [0x8A, 2, 1, 2])
    #expect(ControlFrame.close(nil) == [0x88, 0])
    #expect(ControlFrame.close(.goingAway, reason: "bye") == [0x88, 5, 0x03, 0xE9, 0x62, 0x79, 0x65])
  }

  @Test func aLongReasonIsCutBetweenCharacters() {
    let reason = String(repeating: "a", count: 121) + "\u{20AC}bc"
    let frame = ControlFrame.close(.internalError, reason: reason)
    #expect(frame.count == 2 + 2 + 121)
    #expect(frame[1] == 123)
    let exact = ControlFrame.close(.internalError, reason: String(repeating: "a", count: 120) + "\u{20AC}bc")
    #expect(exact.count == 2 + 125)
  }

  /// What one side writes the other reads.
  @Test(arguments: [0, 1, 125, 126, 40_000]) func roundTrip(size: Int) {
    let payload = [UInt8](repeating: 0x61, count: size)
    let expected = [
      Happening.data(type: .text, isCompressed: false, starts: true, ends: .message, bytes: payload)
    ]
    #expect(Setup().whole(frame(.text, payload)) == expected)
    #expect(frame(.text, payload).count == FrameHeader.size(payload: size) + 4 + size)
    var header = [UInt8](repeating: 0, count: FrameHeader.size(payload: size))
    var span = header.mutableSpan
    FrameHeader.write(opcode: .text, payload: size, into: &span, at: 0)
    #expect(Setup(role: .client).whole(header + payload) == expected)
  }

  /// Every small count, every distance, against one byte at a time.
  @Test func maskingMovesTowardsTheFront() {
    let keyBytes: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
    for count in 0...100 {
      for distance in [0, 1, 2, 5, 8, 14, 31, 32, 33, 70] {
        var bytes = (0..<3 + distance + count + 2).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }
        let source = 3 + distance
        var expected = bytes
        let plain = bytes
        for index in 0..<count { expected[3 + index] = plain[source + index] ^ keyBytes[index % 4] }
        var key = MaskingKey(0x37, 0xFA, 0x21, 0x3D)
        var span = bytes.mutableSpan
        key.apply(in: &span, from: source, to: 3, count: count)
        #expect(bytes == expected, "\(count) \(distance)")
        let next = key.apply(to: 0)
        #expect(next == keyBytes[count % 4])
      }
    }
  }
}

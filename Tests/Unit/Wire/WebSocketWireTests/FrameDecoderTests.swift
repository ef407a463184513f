import Testing

@testable import WebSocketWire

/// RFC 6455 §5 case by case; every case whole, byte by byte, in random pieces, and against the model.
@Suite struct FrameDecoderTests {
  // MARK: RFC 6455 §5.7

  @Test func examples() {
    let client = Setup(role: .client)
    agree([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], client, [text("Hello")])
    let masked: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
    agree(masked, [text("Hello")])
    #expect(frame(.text, "Hello") == masked)
    agree(
      [0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F], client,
      [text("Hel", .fragment), text("lo", starts: false)])
    agree([0x89, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F], client, [.ping(Array("Hello".utf8))])
    agree([0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58], [.pong(Array("Hello".utf8))])
    let bytes256 = [UInt8](0...255)
    agree([0x82, 0x7E, 0x01, 0x00] + bytes256, client, [binary(bytes256)])
    let bytes64K = [UInt8](repeating: 0x2A, count: 65_536)
    let long = [0x82, 0x7F, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00] + bytes64K
    #expect(client.whole(long) == [binary(bytes64K)])
    #expect(client.byteByByte(long) == [binary(bytes64K)])
  }

  // MARK: Messages, fragments, control frames between

  @Test func everyPayloadSize() {
    for size in [0, 1, 7, 8, 9, 31, 32, 33, 39, 40, 64, 65, 125, 126, 127, 255, 256, 1000] {
      let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      agree(frame(.binary, payload) + frame(.binary, payload), [binary(payload), binary(payload)])
    }
    for size in [65_534, 65_535, 65_536] {
      let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      #expect(Setup().whole(frame(.binary, payload), lead: 5) == [binary(payload)])
    }
  }

  @Test func fragmentsWithControlFramesBetween() {
    let bytes =
      frame(.text, "a\u{E9}", fin: false) + frame(.ping, "1") + frame(.continuation, "", fin: false)
      + frame(.pong, "") + frame(.continuation, "z") + frame(.binary, [0xFF])
      + frame(.close, [0x03, 0xE8] + [0x62])
      + frame(.text, "never")
    agree(
      bytes,
      [
        text("a\u{E9}", .fragment), .ping([0x31]), text("", starts: false, .fragment), .pong([]),
        text("z", starts: false), binary([0xFF]), .close(code: 1000, reason: "b"),
      ])
  }

  @Test func controlFrameInsideAFrameIsPayload() {
    let inner = frame(.ping, "x")
    agree(frame(.binary, inner), [binary(inner)])
  }

  @Test func emptyMessages() {
    agree(frame(.text) + frame(.binary), [text(""), binary([])])
    agree(
      frame(.text, "", fin: false) + frame(.continuation), [text("", .fragment), text("", starts: false)])
  }

  @Test func consecutivePayloadLiesTogether() {
    var storage = frame(.binary, [1, 2, 3]) + frame(.ping, "p") + frame(.text, "abc") + frame(.binary, [4])
    let end = storage.count
    var decoder = FrameDecoder(role: .server)
    var buffer = storage.mutableSpan
    var (position, output) = (0, 0)
    while decoder.next(&buffer, position: &position, end: end, output: &output) != .needMore {}
    #expect(output == 7)
    #expect(Array(storage[..<7]) == [1, 2, 3, 0x61, 0x62, 0x63, 4])
  }

  // MARK: Text

  @Test func textAcrossFragmentsAndPieces() {
    let bytes = Array("\u{F6}\u{20AC}\u{1F600}".utf8)
    for cut in 0...bytes.count {
      let (head, tail) = (Array(bytes[..<cut]), Array(bytes[cut...]))
      agree(
        frame(.text, head, fin: false) + frame(.continuation, tail),
        [
          .data(type: .text, isCompressed: false, starts: true, ends: .fragment, bytes: head),
          .data(type: .text, isCompressed: false, starts: false, ends: .message, bytes: tail),
        ])
    }
  }

  @Test(
    arguments: [
      ([0x61, 0xFF, 0x62], 1), ([0xC3, 0x28], 1), ([0xED, 0xA0, 0x80], 1), ([0xF4, 0x90, 0x80, 0x80], 1),
      ([0x80], 0),
      ([0xE2, 0x82, 0x28], 2),
    ] as [([UInt8], Int)])
  func badTextFailsAtItsByte(payload: [UInt8], good: Int) {
    let run: [Happening] =
      good == 0
      ? []
      : [
        .data(
          type: .text, isCompressed: false, starts: true, ends: .unfinished, bytes: Array(payload[..<good]))
      ]
    agree(frame(.text, payload), run + [.violation(.invalidText)])
    #expect(Setup().bytesToViolation(frame(.text, payload)) == 6 + good + 1)
    let ahead = [UInt8](repeating: 0x61, count: 70)
    #expect(Setup().whole(frame(.text, ahead + payload)).last == .violation(.invalidText))
  }

  @Test func unfinishedText() {
    let half: [UInt8] = [0x61, 0xE2, 0x82]
    let run = Happening.data(type: .text, isCompressed: false, starts: true, ends: .unfinished, bytes: half)
    agree(frame(.text, half), [run, .violation(.unfinishedText)])
    let fragment = Happening.data(
      type: .text, isCompressed: false, starts: true, ends: .fragment, bytes: half)
    agree(frame(.text, half, fin: false) + frame(.continuation), [fragment, .violation(.unfinishedText)])
  }

  @Test func theNextMessageStartsAfresh() {
    agree(frame(.binary, [0xE2]) + frame(.text, "a"), [binary([0xE2]), text("a")])
  }

  // MARK: Compression agreed on

  @Test func compressedPayloadIsNotJudged() {
    let setup = Setup(acceptsCompressed: true)
    agree(
      frame(.text, [0xFF], fin: false, rsv1: true) + frame(.ping, "") + frame(.continuation, [0xE2])
        + frame(.text, "a"), setup,
      [
        .data(type: .text, isCompressed: true, starts: true, ends: .fragment, bytes: [0xFF]), .ping([]),
        .data(type: .text, isCompressed: true, starts: false, ends: .message, bytes: [0xE2]), text("a"),
      ])
    agree(
      frame(.text, "a", fin: false) + [0xC0], setup,
      [text("a", .fragment), .violation(.reservedBits)])
    agree([0xC9], setup, [.violation(.reservedBits)])
  }

  // MARK: Close

  @Test func closeWithoutACode() {
    agree(frame(.close), [.close(code: nil, reason: "")])
  }

  @Test(arguments: [
    1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
  ])
  func goodCloseCode(code: Int) {
    let payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
    agree(frame(.close, payload), [.close(code: UInt16(code), reason: "")])
    agree(frame(.close, payload + Array("\u{FC}".utf8)), [.close(code: UInt16(code), reason: "\u{FC}")])
    #expect(CloseCode(UInt16(code))?.rawValue == UInt16(code))
  }

  @Test(arguments: [0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535])
  func badCloseCode(code: Int) {
    agree(frame(.close, [UInt8(code >> 8), UInt8(code & 0xFF), 0x61]), [.violation(.closeCode)])
    #expect(CloseCode(UInt16(code)) == nil)
  }

  @Test func closeReason() {
    let most = [0x03, 0xE8] + [UInt8](repeating: 0x61, count: 123)
    agree(frame(.close, most), [.close(code: 1000, reason: String(repeating: "a", count: 123))])
    agree(frame(.close, [0x03, 0xE8, 0x61, 0xFF, 0x61]), [.violation(.closeReason)])
    #expect(Setup().bytesToViolation(frame(.close, [0x03, 0xE8, 0x61, 0xFF, 0x61])) == 6 + 4)
    agree(frame(.close, [0x03, 0xE8, 0xE2, 0x82]), [.violation(.closeReason)])
  }

  @Test func nothingAfterTheEnd() {
    var receiver = Receiver()
    receiver.receive(frame(.close))
    #expect(receiver.decoder.hasEnded)
    receiver.receive(frame(.text, "a") + [0xFF])
    #expect(receiver.happenings == [.close(code: nil, reason: "")])
  }

  @Test func closeCodesOfViolations() {
    #expect(WebSocketViolation.invalidText.closeCode == .invalidPayload)
    #expect(WebSocketViolation.closeReason.closeCode.rawValue == 1007)
    #expect(WebSocketViolation.messageTooLarge.closeCode.rawValue == 1009)
    #expect(WebSocketViolation.unmasked.closeCode.rawValue == 1002)
  }

  @Test func smallEnoughToIdle() {
    #expect(MemoryLayout<FrameDecoder>.size < 100)
  }
}

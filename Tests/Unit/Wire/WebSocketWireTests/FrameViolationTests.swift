import Testing

@testable import WebSocketWire

/// What breaks a rule of RFC 6455 §5.2 to §5.5 in its header, how many bytes prove it, and the limits of
/// docs/settings.md, "More about some limits".
@Suite struct FrameViolationTests {
  // MARK: Violations of the header

  @Test(
    arguments: [
      (0x90, .reservedBits), (0xA0, .reservedBits), (0xC2, .reservedBits), (0xC9, .reservedBits),
      (0xB3, .reservedBits), (0x83, .unknownOpcode), (0x87, .unknownOpcode), (0x8B, .unknownOpcode),
      (0x0F, .unknownOpcode), (0x08, .fragmentedControl), (0x09, .fragmentedControl),
      (0x0A, .fragmentedControl),
      (0x80, .unexpectedContinuation), (0x00, .unexpectedContinuation),
    ] as [(UInt8, WebSocketViolation)])
  func firstByte(byte: UInt8, violation: WebSocketViolation) {
    agree(frame(.binary, [1]) + [byte] + frame(.binary, [2]), [binary([1]), .violation(violation)])
    #expect(Setup().bytesToViolation([byte, 0x80]) == 1)
  }

  @Test func newMessageInsideAMessage() {
    for opcode in [Opcode.text, .binary] {
      agree(
        frame(.binary, [1], fin: false) + frame(opcode, [2]),
        [binary([1], .fragment), .violation(.unfinishedMessage)])
    }
  }

  @Test(
    arguments: [
      ([0x82, 0x00], .unmasked), ([0x89, 0x7F], .unmasked), ([0x89, 0xFE], .controlTooLong),
      ([0x8A, 0xFF], .controlTooLong), ([0x88, 0x81], .closeLength),
    ] as [([UInt8], WebSocketViolation)])
  func secondByte(bytes: [UInt8], violation: WebSocketViolation) {
    agree(bytes, [.violation(violation)])
    #expect(Setup().bytesToViolation(bytes) == 2)
  }

  @Test func maskedToAClient() {
    agree(frame(.text, "a"), Setup(role: .client), [.violation(.masked)])
  }

  @Test(
    arguments: [
      ([0x82, 0xFE, 0x00, 0x7D], .nonMinimalLength, 4), ([0x82, 0xFE, 0x00, 0x00], .nonMinimalLength, 4),
      ([0x82, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF], .nonMinimalLength, 8),
      ([0x82, 0xFF, 0x80, 0, 0, 0, 0, 1, 0, 0], .lengthTopBit, 3),
      ([0x82, 0xFF, 0x7F, 0, 0, 0, 0, 1, 0, 0], .frameTooLarge, 3),
      ([0x82, 0xFF, 0, 0, 0, 1, 0, 0, 0, 0], .frameTooLarge, 6),
      ([0x82, 0xFF, 0, 0, 0, 0, 0, 1, 0, 1], .frameTooLarge, 10),
    ] as [([UInt8], WebSocketViolation, Int)])
  func length(bytes: [UInt8], violation: WebSocketViolation, proof: Int) {
    agree(bytes, [.violation(violation)])
    #expect(Setup().bytesToViolation(bytes) == proof)
  }

  // MARK: Limits

  @Test(arguments: [10, 125, 126, 300]) func frameLimit(limit: Int) {
    let setup = Setup(limits: .init(frameBytes: limit, messageBytes: 1 << 20))
    let most = [UInt8](repeating: 1, count: limit)
    agree(frame(.binary, most), setup, [binary(most)])
    agree(frame(.binary, most + [1]), setup, [.violation(.frameTooLarge)])
    agree(frame(.ping, [UInt8](repeating: 1, count: 125)), setup, [.ping([UInt8](repeating: 1, count: 125))])
  }

  @Test func messageLimit() {
    let setup = Setup(limits: .init(frameBytes: 100, messageBytes: 150))
    let (first, second) = ([UInt8](repeating: 1, count: 100), [UInt8](repeating: 2, count: 50))
    let begun = frame(.binary, first, fin: false)
    agree(
      begun + frame(.continuation, second) + begun + frame(.continuation, second + [2]), setup,
      [
        binary(first, .fragment), binary(second, starts: false), binary(first, .fragment),
        .violation(.messageTooLarge),
      ])
  }

  /// docs/settings.md, "More about some limits": a compressed frame or message may be a little longer than what it
  /// becomes.
  @Test func compressedLimits() {
    let setup = Setup(limits: .init(frameBytes: 1000, messageBytes: 160), acceptsCompressed: true)
    let most = [UInt8](repeating: 0, count: 160 + 160 / 16 + 64)
    func compressed(_ bytes: [UInt8], starts: Bool = true, _ ends: Happening.Frame = .message) -> Happening {
      .data(type: .binary, isCompressed: true, starts: starts, ends: ends, bytes: bytes)
    }
    agree(frame(.binary, most, rsv1: true), setup, [compressed(most)])
    agree(frame(.binary, most + [0], rsv1: true), setup, [.violation(.messageTooLarge)])
    let begun = frame(.binary, Array(most.dropLast(5)), fin: false, rsv1: true)
    let piece = compressed(Array(most.dropLast(5)), .fragment)
    let five = [UInt8](repeating: 0, count: 5)
    agree(begun + frame(.continuation, five), setup, [piece, compressed(five, starts: false)])
    agree(begun + frame(.continuation, five + [0]), setup, [piece, .violation(.messageTooLarge)])
    agree(frame(.binary, Array(most.prefix(161))), setup, [.violation(.messageTooLarge)])
    let small = Setup(limits: .init(frameBytes: 10, messageBytes: 160), acceptsCompressed: true)
    let longest = Array(most.prefix(10 + 64))
    agree(frame(.binary, longest, rsv1: true), small, [compressed(longest)])
    agree(frame(.binary, longest + [0], rsv1: true), small, [.violation(.frameTooLarge)])
    agree(
      frame(.binary, [0], fin: false, rsv1: true) + frame(.continuation, longest), small,
      [compressed([0], .fragment), compressed(longest, starts: false)])
    agree(frame(.binary, Array(most.prefix(11))), small, [.violation(.frameTooLarge)])
  }

  @Test func manySmallFragments() {
    let count = 65_536
    var bytes = frame(.binary, [1], fin: false)
    for _ in 2..<count { bytes += frame(.continuation, [1], fin: false) }
    bytes += frame(.continuation, [1])
    let happenings = Setup().whole(bytes)
    #expect(happenings.count == count)
    #expect(happenings.last == binary([1], starts: false))
  }

  @Test func emptyFragmentLimit() {
    var receiver = Receiver()
    receiver.receive(frame(.binary, [], fin: false))
    for _ in 1..<FrameDecoder.emptyFragmentLimit { receiver.receive(frame(.continuation, [], fin: false)) }
    #expect(receiver.happenings.count == 65_536)
    #expect(receiver.happenings.last == binary([], starts: false, .fragment))
    receiver.receive(frame(.continuation, []))
    #expect(receiver.happenings.last == .violation(.tooManyEmptyFragments))
  }
}

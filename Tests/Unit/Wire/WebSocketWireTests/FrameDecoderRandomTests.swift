import Kit
import Testing

@testable import WebSocketWire

/// Random streams, right ones and broken ones: however they are cut, the decoder says what the slow model
/// says.
@Suite struct FrameDecoderRandomTests {
  @Test(arguments: 0..<8) func agreesWithTheModel(seed: Int) {
    var random = SplitMix(seed: UInt64(seed) &+ 64_55)
    for round in 0..<250 {
      let setup = Setup(
        role: round % 5 == 4 ? .client : .server,
        limits: .init(
          frameBytes: [65_536, 200, 40].randomElement(using: &random) ?? 1,
          messageBytes: [65_536, 300, 60].randomElement(using: &random) ?? 1),
        acceptsCompressed: round % 3 == 0)
      var bytes = stream(setup, &random)
      if round % 2 == 1 { mutate(&bytes, &random) }
      let expected = Model.decode(bytes, setup)
      #expect(setup.whole(bytes) == expected, "\(bytes)")
      #expect(setup.whole(bytes, lead: 33) == expected, "\(bytes)")
      #expect(setup.byteByByte(bytes) == expected, "\(bytes)")
      let cut = setup.randomly(bytes, using: &random)
      #expect(cut == expected, "\(bytes)")
    }
  }

  /// A stream that is right but for what chance puts into its text.
  private func stream(_ setup: Setup, _ random: inout SplitMix) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0...Int.random(in: 0...4, using: &random) {
      let isText = Bool.random(using: &random)
      let fragments = Int.random(in: 1...4, using: &random)
      for fragment in 0..<fragments {
        let opcode: Opcode = fragment > 0 ? .continuation : isText ? .text : .binary
        let rsv1 = fragment == 0 && setup.acceptsCompressed && Int.random(in: 0...3, using: &random) == 0
        let payload = payload(isText, &random)
        bytes += encoded(setup, opcode, payload, fin: fragment == fragments - 1, rsv1: rsv1, &random)
        if Int.random(in: 0...4, using: &random) == 0 {
          let control: Opcode = Bool.random(using: &random) ? .ping : .pong
          bytes += encoded(setup, control, Array(payload.prefix(125)), fin: true, rsv1: false, &random)
        }
      }
    }
    if Int.random(in: 0...3, using: &random) == 0 {
      bytes += encoded(setup, .close, [0x03, 0xE8] + Array("\u{20AC}".utf8), fin: true, rsv1: false, &random)
    }
    return bytes
  }

  private func payload(_ isText: Bool, _ random: inout SplitMix) -> [UInt8] {
    let count = [0, 1, 3, 20, 60, 130].randomElement(using: &random) ?? 0
    if !isText { return (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) } }
    let characters = ["a", "b", "\u{E9}", "\u{20AC}", "\u{1F600}", "abcdefghijklmnopqrstuvwxyz012345"]
    return Array((0..<count / 3).map { _ in characters.randomElement(using: &random) ?? "" }.joined().utf8)
  }

  private func encoded(
    _ setup: Setup, _ opcode: Opcode, _ payload: [UInt8], fin: Bool, rsv1: Bool, _ random: inout SplitMix
  ) -> [UInt8] {
    if setup.role == .server {
      let word = UInt32.random(in: 0...UInt32.max, using: &random)
      let key = MaskingKey(
        UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8),
        UInt8(truncatingIfNeeded: word >> 16),
        UInt8(truncatingIfNeeded: word >> 24))
      return ClientFrame.encode(opcode, payload, mask: key, fin: fin, rsv1: rsv1)
    }
    var frame = [UInt8](repeating: 0, count: FrameHeader.size(payload: payload.count))
    var span = frame.mutableSpan
    FrameHeader.write(opcode: opcode, fin: fin, rsv1: rsv1, payload: payload.count, into: &span, at: 0)
    return frame + payload
  }

  private func mutate(_ bytes: inout [UInt8], _ random: inout SplitMix) {
    for _ in 0...Int.random(in: 0...2, using: &random) where !bytes.isEmpty {
      let index = Int.random(in: 0..<bytes.count, using: &random)
      switch Int.random(in: 0...3, using: &random) {
      case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
      case 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
      case 2: bytes.remove(at: index)
      default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
      }
    }
  }
}

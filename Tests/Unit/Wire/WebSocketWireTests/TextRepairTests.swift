import Kit
import Testing

@testable import WebSocketWire

/// docs/protocol.md, "Sessions", text mode: the game's bytes become valid text, with at most 3 of them waiting.
@Suite struct TextRepairTests {
  private func repaired(_ pieces: [[UInt8]]) -> String? {
    var repair = TextRepair()
    var output: [UInt8] = []
    for piece in pieces {
      let before = output.count
      repair.repair(piece.span, into: &output)
      #expect(repair.heldCount <= 3)
      #expect(output.count - before <= TextRepair.outputLimit(for: piece.count))
      #expect(String(validating: output, as: UTF8.self) != nil)
    }
    repair.finish(into: &output)
    #expect(repair.heldCount == 0)
    return String(validating: output, as: UTF8.self)
  }

  /// Unicode 15 §3.9, tables 3-8 to 3-11, and cases of our own.
  @Test(
    arguments: [
      ([], ""), (Array("plain".utf8), "plain"),
      (Array("\u{E9}\u{20AC}\u{1F600}".utf8), "\u{E9}\u{20AC}\u{1F600}"),
      ([0xFF, 0xF9, 0x41], "\u{FFFD}\u{FFFD}A"),
      (
        [0xC0, 0xAF, 0xE0, 0x80, 0xBF, 0xF0, 0x81, 0x82, 0x41], String(repeating: "\u{FFFD}", count: 8) + "A"
      ),
      (
        [0xED, 0xA0, 0x80, 0xED, 0xBF, 0xBF, 0xED, 0xAF, 0x41], String(repeating: "\u{FFFD}", count: 8) + "A"
      ),
      (
        [0xF4, 0x91, 0x92, 0x93, 0xFF, 0x41, 0x80, 0xBF, 0x42],
        String(repeating: "\u{FFFD}", count: 5) + "A\u{FFFD}\u{FFFD}B"
      ),
      (
        [0xE1, 0x80, 0xE2, 0xF0, 0x91, 0x92, 0xF1, 0xBF, 0x41],
        String(repeating: "\u{FFFD}", count: 4) + "A"
      ),
      ([0xE2, 0x82], "\u{FFFD}"), ([0xF0, 0x9F, 0x98], "\u{FFFD}"), ([0x41, 0xC3], "A\u{FFFD}"),
      ([0xC3, 0xC3, 0xA9], "\u{FFFD}\u{E9}"),
    ] as [([UInt8], String)])
  func table(bytes: [UInt8], text: String) {
    #expect(repaired([bytes]) == text)
    #expect(repaired(bytes.map { [$0] }) == text)
    for cut in 0...bytes.count { #expect(repaired([Array(bytes[..<cut]), Array(bytes[cut...])]) == text) }
  }

  @Test func finishedCharactersNeverWait() {
    var repair = TextRepair()
    var output: [UInt8] = []
    repair.repair(Array("a\u{20AC}".utf8).span, into: &output)
    #expect(output == Array("a\u{20AC}".utf8))
    #expect(repair.heldCount == 0)
    repair.repair([0xF0, 0x9F, 0x98].span, into: &output)
    #expect(repair.heldCount == 3)
    #expect(output.count == 4)
    repair.repair([0x80].span, into: &output)
    #expect(output == Array("a\u{20AC}\u{1F600}".utf8))
  }

  /// `String(decoding:)` replaces in the same way.
  @Test func agreesWithTheStandardLibrary() {
    var random = SplitMix(seed: 39)
    let interesting: [UInt8] = [
      0x41, 0x80, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xE0, 0xE1, 0xED, 0xF0, 0xF1, 0xF4, 0xFF,
    ]
    for _ in 0..<5_000 {
      let count = Int.random(in: 0...12, using: &random)
      let bytes = (0..<count).map { _ in interesting.randomElement(using: &random) ?? 0 }
      let cut = Int.random(in: 0...count, using: &random)
      let text = repaired([Array(bytes[..<cut]), Array(bytes[cut...])])
      #expect(text == String(decoding: bytes, as: UTF8.self), "\(bytes)")
    }
  }
}

import Kit
import Testing
import WebSocketWire

@testable import Deflate

/// Whatever comes, however it is cut and however small the output: one and the same verdict.
@Suite struct RandomDeflateTests {
  @Test(arguments: 0..<300) func damaged(round: Int) throws {
    var random = SplitMix(seed: UInt64(round))
    let message = random.prose(Int.random(in: 64...3000, using: &random))
    var bytes = round % 5 == 0 ? random.bytes(200) : try #require(compress(message))
    if round % 3 > 0 {
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
      }
    }
    if round % 4 == 3 { bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random)) }
    let type = round % 2 == 0 ? MessageType.text : .binary
    let limit = Int.random(in: 1...4000, using: &random)
    let expected = Inflating(type: type, messageBytes: limit, outputBytes: 5000).inflate([bytes])
    for outputBytes in [1, 7, 300, limit, limit + 1] {
      let way = Inflating(type: type, messageBytes: limit, outputBytes: outputBytes)
      // As sentences, since nobody reads a thousand bytes in a report.
      #expect(way.inflate([bytes]).isSame(as: expected), "whole, \(outputBytes) bytes of output")
      #expect(
        way.inflate(bytes.map { [$0] }).isSame(as: expected), "byte by byte, \(outputBytes) bytes of output")
      #expect(
        way.inflate(pieces(bytes, &random)).isSame(as: expected), "in pieces, \(outputBytes) bytes of output")
    }
  }

  private func pieces(_ bytes: [UInt8], _ random: inout SplitMix) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = Int.random(in: 0...min(rest.count, 40), using: &random)
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces + [[]]
  }
}

extension Inflating.Result {
  fileprivate func isSame(as other: Inflating.Result) -> Bool { self == other }
}

import Kit
import WebSocketWire

@testable import Deflate

/// Runs a `MessageInflater` as the pump does: pieces as they come, an output of limited size emptied when it
/// is full.
struct Inflating {
  var type = MessageType.binary
  var windowBits = 15
  var messageBytes = 65_536
  var outputBytes = 1000

  struct Result: Equatable {
    var bytes: [UInt8] = []
    var violation: WebSocketViolation?
    /// After the last piece.
    var holdsInflater = false
  }

  /// One message in `pieces`, the last of which ends it.
  func inflate(_ pieces: [[UInt8]], isWhole: Bool = true, from pool: ZlibPool = ZlibPool()) -> Result {
    var inflater = MessageInflater(windowBits: windowBits, messageBytes: messageBytes)
    return inflate(pieces, isWhole: isWhole, by: &inflater, from: pool)
  }

  func inflate(
    _ pieces: [[UInt8]], isWhole: Bool = true, by inflater: inout MessageInflater, from pool: ZlibPool
  ) -> Result {
    var result = Result()
    for (index, piece) in pieces.enumerated() where result.violation == nil {
      let ends = isWhole && index == pieces.count - 1
      feed(piece, endsMessage: ends, &inflater, pool, &result)
    }
    result.holdsInflater = inflater.holdsInflater
    return result
  }

  private func feed(
    _ piece: [UInt8], endsMessage: Bool, _ inflater: inout MessageInflater, _ pool: ZlibPool,
    _ result: inout Result
  ) {
    var output = [UInt8](repeating: 0xEE, count: outputBytes)
    var rest = piece
    while true {
      var end = 0
      var room = output.mutableSpan
      let outcome = inflater.take(
        rest.span, type: type, endsMessage: endsMessage, from: pool, into: &room, at: &end)
      result.bytes += output[0..<end]
      switch outcome {
      case .taken: return
      case .outputFull(let taken): rest.removeFirst(taken)
      case .violation(let violation):
        result.violation = violation
        return
      }
    }
  }
}

/// A message as the gate compresses it; nil when it would not get shorter.
func compress(_ message: [UInt8], windowBits: Int = 15, room: Int? = nil) -> [UInt8]? {
  var compressor = Compressor(windowBits: windowBits)
  return compress(message, by: &compressor, room: room)
}

func compress(_ message: [UInt8], by compressor: inout Compressor, room: Int? = nil) -> [UInt8]? {
  var output = [UInt8](repeating: 0, count: room ?? message.count + 4)
  var span = output.mutableSpan
  guard let count = compressor.compress(message.span, into: &span) else { return nil }
  return Array(output[0..<count])
}

extension SplitMix {
  mutating func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
  }

  /// ASCII in words, `count` bytes.
  mutating func prose(_ count: Int) -> [UInt8] {
    let words = [
      "You", "see", "a", "dark", "corridor", "troll", "north", "says", "sword", "the", "of", "gold", "\r\n",
    ]
    var text: [UInt8] = []
    while text.count < count { text += (words.randomElement(using: &self) ?? "").utf8 + [0x20] }
    return Array(text.prefix(count))
  }
}

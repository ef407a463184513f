/// What the game sends compressed (MCCP 2): inflated a bounded piece at a time, so that a bomb costs its session's turns
/// no more than text does.
internal import Deflate
internal import Time

/// The stream under way, and how much of its last piece has been read.
struct Inflation: ~Copyable {
  enum Stage { case open, ended, damaged }

  var inflater = StreamInflater()
  var position = 0
  var end = 0
  /// Whether the last call left no room: then there may be more of the same input.
  var mayHaveMore = false
  var stage = Stage.open

  var isHeld: Bool { position < end || mayHaveMore || stage != .open }

  /// Inflates the next piece into `room`. The one before has been read.
  mutating func inflate(_ input: Span<UInt8>, _ inputPosition: inout Int, into room: inout MutableSpan<UInt8>)
  {
    position = 0
    end = 0
    switch inflater.inflate(input, &inputPosition, into: &room, &end) {
    case .taken: mayHaveMore = false
    case .outputFull: mayHaveMore = true
    case .ended: stage = .ended
    case .damaged: stage = .damaged
    }
  }

  static let pieceBytes = 16_384
}

extension TelnetEngine {
  mutating func nextInflated(
    _ input: Span<UInt8>, _ position: inout Int, _ now: MonotonicTime, _ output: inout [UInt8]
  ) -> TelnetEvent {
    guard var stream = inflation.take() else {
      inflation = Inflation()
      return nextInflated(input, &position, now, &output)
    }
    var event = read(&stream, now, &output)
    if event == .needMore, stream.stage == .open, position < input.count || stream.mayHaveMore {
      if inflated.isEmpty { inflated = [UInt8](repeating: 0, count: Inflation.pieceBytes) }
      var room = inflated.mutableSpan
      stream.inflate(input, &position, into: &room)
      event = read(&stream, now, &output)
      if event == .needMore, position < input.count || stream.mayHaveMore || stream.stage != .open {
        event = .again
      }
    } else if event == .needMore, stream.stage == .ended {
      inflated = []
      state.isCompressed = false
      return .compressionEnded
    } else if event == .needMore, stream.stage == .damaged {
      position = input.count
      event = .compressionFailed
    }
    // Most compressed games wait for somebody to type.
    if event == .needMore { inflated = [] }
    inflation = consume stream
    return event
  }

  /// What is left of the piece.
  private mutating func read(
    _ stream: inout Inflation, _ now: MonotonicTime, _ output: inout [UInt8]
  ) -> TelnetEvent {
    guard stream.position < stream.end else { return .needMore }
    // Lent out for the time: a second reference, no copy.
    let piece = inflated
    return read(
      piece.span.extracting(0..<stream.end), &stream.position, now, isInflated: true, &output)
  }
}

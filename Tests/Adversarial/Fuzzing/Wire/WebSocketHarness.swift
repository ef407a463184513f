/// Frames with and without deflate (RFC 6455 §5, RFC 7692): the same is found however the bytes are cut, and
/// no message grows beyond its limit.
///
/// The first byte of an input says how the decoder is set up; the stream follows.
internal import Bytes
internal import Deflate
@testable internal import WebSocketWire

enum WebSocketHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let first = bytes.first else { return .refused }
    let setup = Setup(first)
    let stream = Array(bytes.dropFirst())
    let whole = try read(stream, cutEvery: max(stream.count, 1), setup)
    // A cut that the input itself chooses, and all cuts there are.
    let cut = Int(stream.reduce(7) { $0 &* 31 &+ UInt32($1) } % 61) + 2
    for size in [cut, 1] {
      let pieces = try read(stream, cutEvery: size, setup)
      // zlib refuses what reaches back farther than the window agreed on only across calls: within what one
      // call writes it is lenient, unless it was built to be strict.
      if setup.windowBits < 15, pieces.violation == .invalidDeflate { continue }
      try require(pieces == whole, "cut every \(size) bytes it reads otherwise")
    }
    return whole.violation == nil ? .accepted : .refused
  }

  private struct Setup {
    let role: FrameDecoder.Role
    let limits: FrameDecoder.Limits
    let acceptsCompressed: Bool
    let windowBits: Int
    /// Room for what is inflated, at each step.
    let room: Int
    /// Whether messages are compressed anew, which is slow.
    let compresses: Bool
    /// Whether a message may reach back into those before it.
    let keepsContext: Bool

    init(_ byte: UInt8) {
      role = byte & 0x01 == 0 ? .server : .client
      acceptsCompressed = byte & 0x02 == 0
      limits = byte & 0x04 == 0 ? .init() : .init(frameBytes: 300, messageBytes: 500)
      windowBits = byte & 0x08 == 0 ? 15 : 8
      room = byte & 0x10 == 0 ? 4096 : 7
      compresses = byte & 0x20 != 0
      keepsContext = byte & 0x40 != 0
    }
  }

  /// What a reader of the stream got, without where its parts were cut.
  private struct Reading: Equatable {
    enum Event: Equatable {
      case message(MessageType, isCompressed: Bool, [UInt8], isWhole: Bool)
      case ping([UInt8])
      case pong([UInt8])
      case close(CloseRequest)
    }

    var events: [Event] = []
    /// The message under way; control frames may stand within it.
    var message: Int?
    var violation: WebSocketViolation?
  }

  private static func read(
    _ stream: [UInt8], cutEvery size: Int, _ setup: Setup
  ) throws(BrokenProperty) -> Reading {
    var reader = Reader(setup)
    var start = 0
    while start < stream.count, reader.isOpen {
      let end = min(start + size, stream.count)
      try reader.take(Array(stream[start..<end]))
      start = end
    }
    return reader.reading
  }

  private struct Reader: ~Copyable {
    private let setup: Setup
    private let pool = ZlibPool()
    private var decoder: FrameDecoder
    private var inflater: MessageInflater
    private(set) var reading = Reading()

    var isOpen: Bool { reading.violation == nil && !decoder.hasEnded }

    init(_ setup: Setup) {
      self.setup = setup
      decoder = FrameDecoder(
        role: setup.role, limits: setup.limits, acceptsCompressed: setup.acceptsCompressed)
      inflater = MessageInflater(
        windowBits: setup.windowBits, messageBytes: setup.limits.messageBytes,
        keepsContext: setup.keepsContext)
    }

    mutating func take(_ bytes: [UInt8]) throws(BrokenProperty) {
      var buffer = bytes
      var position = 0
      var output = 0
      while reading.violation == nil {
        var span = buffer.mutableSpan
        let event = decoder.next(&span, position: &position, end: bytes.count, output: &output)
        try require(output <= position && position <= bytes.count, "output \(output) before \(position)")
        switch event {
        case .needMore:
          try require(position == bytes.count, "bytes left behind at \(position)")
          inflater.rest(pool)
          try require(
            inflater.windowBytes <= 1 << setup.windowBits, "a window of \(inflater.windowBytes) bytes")
          try require(reading.message != nil || !inflater.holdsInflater, "an inflater between messages")
          return
        case .data(let piece): try take(piece, Array(buffer[piece.start..<output]))
        case .ping(let payload): try takeControl(.ping(payload), payload)
        case .pong(let payload): try takeControl(.pong(payload), payload)
        case .close(let request): reading.events.append(.close(request))
        case .violation(let violation): reading.violation = violation
        }
      }
    }

    private mutating func takeControl(_ event: Reading.Event, _ payload: [UInt8]) throws(BrokenProperty) {
      try require(payload.count <= ControlFrame.payloadLimit, "a control frame of \(payload.count) bytes")
      reading.events.append(event)
    }

    private mutating func take(_ piece: DataPiece, _ payload: [UInt8]) throws(BrokenProperty) {
      try require(piece.startsMessage == (reading.message == nil), "a message begins or ends unheard")
      if piece.startsMessage {
        reading.message = reading.events.count
        reading.events.append(.message(piece.type, isCompressed: piece.isCompressed, [], isWhole: false))
      }
      let content = piece.isCompressed ? try inflate(payload, piece) : payload
      guard let index = reading.message,
        case .message(let type, let isCompressed, let before, _) = reading.events[index]
      else { throw BrokenProperty("a piece without its message") }
      let message = before + content
      try require(message.count <= setup.limits.messageBytes, "a message of \(message.count) bytes")
      let isWhole = piece.endsMessage && reading.violation == nil
      if isWhole, type == .text {
        try require(String(validating: message, as: UTF8.self) != nil, "text that is not UTF-8")
      }
      reading.events[index] = .message(type, isCompressed: isCompressed, message, isWhole: isWhole)
      if isWhole {
        reading.message = nil
        try checkCompressing(message)
      }
    }

    private mutating func inflate(_ payload: [UInt8], _ piece: DataPiece) throws(BrokenProperty) -> [UInt8] {
      var content: [UInt8] = []
      var taken = 0
      var steps = 0
      while true {
        var room = [UInt8](repeating: 0, count: setup.room)
        var end = 0
        var span = room.mutableSpan
        let outcome = inflater.take(
          payload.span.extracting(taken..<payload.count), type: piece.type, endsMessage: piece.endsMessage,
          from: pool, into: &span, at: &end)
        content += room[..<end]
        steps += 1
        try require(steps <= 70_000, "inflating does not come to an end")
        switch outcome {
        case .taken: return content
        case .outputFull(let count): taken += count
        case .violation(let violation):
          reading.violation = violation
          return content
        }
      }
    }

    /// What the gate would send of it comes back as it was.
    private func checkCompressing(_ message: [UInt8]) throws(BrokenProperty) {
      guard setup.compresses, (1...256).contains(message.count) else { return }
      var compressed = [UInt8](repeating: 0, count: message.count + 4)
      var span = compressed.mutableSpan
      guard let count = pool.compress(message.span, windowBits: 9, into: &span) else { return }
      try require(count < message.count, "compressed to more than it was")
      var inflater = MessageInflater(windowBits: 15, messageBytes: message.count)
      var output = [UInt8](repeating: 0, count: message.count + 1)
      var end = 0
      var room = output.mutableSpan
      let outcome = inflater.take(
        compressed.span.extracting(0..<count), type: .binary, endsMessage: true, from: pool, into: &room,
        at: &end)
      try require(
        outcome == .taken && output[..<end].elementsEqual(message), "compressed, it reads otherwise")
    }
  }
}

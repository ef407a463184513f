/// Puts whole messages together from what a server sends (RFC 6455 §5), for clients with time and memory.
internal import WebSocketWire

struct ServerMessages {
  enum Event: Equatable {
    case text(String)
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(CloseRequest)
    case violation(WebSocketViolation)
  }

  /// More than any gate sends in one message.
  static let largestMessage = 16 << 20

  private var decoder = FrameDecoder(
    role: .client, limits: FrameDecoder.Limits(frameBytes: largestMessage, messageBytes: largestMessage))
  private var message: [UInt8] = []

  /// What `bytes` complete, in order. After a close or a violation nothing more comes.
  mutating func take(_ bytes: [UInt8]) -> [Event] {
    var buffer = bytes
    var events: [Event] = []
    var position = 0
    var output = 0
    while true {
      switch next(&buffer, &position, &output) {
      case .needMore: return events
      case .data(let piece):
        message += buffer[piece.start..<output]
        guard piece.endsMessage else { continue }
        switch piece.type {
        // The decoder has checked that it is UTF-8.
        case .text: events.append(.text(String(decoding: message, as: UTF8.self)))
        case .binary: events.append(.binary(message))
        }
        message = []
      case .ping(let payload): events.append(.ping(payload))
      case .pong(let payload): events.append(.pong(payload))
      case .close(let request): events.append(.close(request))
      case .violation(let violation): events.append(.violation(violation))
      }
    }
  }

  private mutating func next(_ buffer: inout [UInt8], _ position: inout Int, _ output: inout Int)
    -> FrameEvent
  {
    let end = buffer.count
    var span = buffer.mutableSpan
    return decoder.next(&span, position: &position, end: end, output: &output)
  }
}

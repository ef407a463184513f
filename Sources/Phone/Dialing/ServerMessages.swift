/// Puts whole messages together from what a server sends (RFC 6455 §5, and RFC 7692 where it was agreed on),
/// for clients with time and memory.
package import Deflate
package import WebSocketWire

package struct ServerMessages: ~Copyable {
  package enum Event: Equatable {
    case text(String)
    case binary([UInt8])
    case ping([UInt8])
    case pong([UInt8])
    case close(CloseRequest)
    case violation(WebSocketViolation)
  }

  /// More than any gate sends in one message.
  static let largestMessage = 16 << 20

  private var decoder: FrameDecoder
  private var inflater: MessageInflater
  private let zlib: ZlibPool
  private var message: [UInt8] = []

  package init(deflate: PermessageDeflate?, zlib: ZlibPool) {
    decoder = FrameDecoder(
      role: .client,
      limits: FrameDecoder.Limits(frameBytes: Self.largestMessage, messageBytes: Self.largestMessage),
      acceptsCompressed: deflate != nil)
    inflater = MessageInflater(windowBits: deflate?.serverWindowBits ?? 15, messageBytes: Self.largestMessage)
    self.zlib = zlib
  }

  /// What `bytes` complete, in order. After a close or a violation nothing more comes.
  package mutating func take(_ bytes: [UInt8]) -> [Event] {
    var buffer = bytes
    var events: [Event] = []
    var position = 0
    var output = 0
    while true {
      switch next(&buffer, &position, &output) {
      case .needMore: return events
      case .data(let piece):
        if let violation = add(piece, buffer[piece.start..<output]) {
          return events + [.violation(violation)]
        }
        guard piece.endsMessage else { continue }
        switch piece.type {
        // That it is UTF-8 has been checked.
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

  private mutating func add(_ piece: DataPiece, _ payload: ArraySlice<UInt8>) -> WebSocketViolation? {
    guard piece.isCompressed else {
      message += payload
      return nil
    }
    var rest = Array(payload)
    var output = [UInt8](repeating: 0, count: 65_536)
    while true {
      var end = 0
      let outcome = inflate(rest, piece, &output, &end)
      message += output[..<end]
      switch outcome {
      case .taken: return nil
      case .outputFull(let taken): rest.removeFirst(taken)
      case .violation(let violation): return violation
      }
    }
  }

  private mutating func inflate(
    _ payload: [UInt8], _ piece: DataPiece, _ output: inout [UInt8], _ end: inout Int
  ) -> MessageInflater.Outcome {
    var room = output.mutableSpan
    return inflater.take(
      payload.span, type: piece.type, endsMessage: piece.endsMessage, from: zlib, into: &room, at: &end)
  }

  private mutating func next(_ buffer: inout [UInt8], _ position: inout Int, _ output: inout Int)
    -> FrameEvent
  {
    let end = buffer.count
    var span = buffer.mutableSpan
    return decoder.next(&span, position: &position, end: end, output: &output)
  }
}

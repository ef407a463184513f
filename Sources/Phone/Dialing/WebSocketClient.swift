/// An open WebSocket of a client (RFC 6455): sends masked frames, receives whole messages, closes both ways.
internal import Deflate
internal import System
internal import Time
package import WebSocketWire

package final class WebSocketClient {
  package enum Message: Equatable, Sendable {
    case text(String)
    case binary([UInt8])
    /// Answers a ping of ours; pings are answered without being shown.
    case pong([UInt8])
    /// The end: nothing comes after it. 1005 when the close frame had no code, 1006 when there was no close
    /// frame.
    case closed(code: UInt16, reason: String)
  }

  /// The 101.
  package let response: GateResponse
  package let subprotocol: String?
  /// What was agreed on, if compression was offered.
  package let deflate: PermessageDeflate?
  /// How long a send, or the closing handshake, may take.
  private let timeout: Duration
  private var connection: ClientConnection
  private let zlib = ZlibPool()
  private var messages: ServerMessages
  /// Come, but not yet asked for.
  private var events: [ServerMessages.Event] = []
  private var end: Message?
  private var hasSentClose = false

  init(
    _ connection: consuming ClientConnection, response: GateResponse, subprotocol: String?,
    deflate: PermessageDeflate?, timeout: Duration
  ) {
    self.connection = connection
    self.response = response
    self.subprotocol = subprotocol
    self.deflate = deflate
    self.timeout = timeout
    messages = ServerMessages(deflate: deflate, zlib: zlib)
    events = messages.take(self.connection.takeReceived())
  }

  // MARK: Sending

  package func send(text: String) throws(GateClientError) { try send(.text, Array(text.utf8)) }
  package func send(binary: [UInt8]) throws(GateClientError) { try send(.binary, binary) }
  /// - Parameter payload: at most 125 bytes.
  package func ping(_ payload: [UInt8] = []) throws(GateClientError) { try send(.ping, payload) }

  /// Sends a close frame; the server's comes as the last message.
  /// - Parameter reason: cut to 123 bytes.
  package func close(code: UInt16 = 1000, reason: String = "") throws(GateClientError) {
    if hasSentClose { return }
    hasSentClose = true
    try send(.close, ControlFrame.closePayload(CloseCode(code), reason: reason))
  }

  private func send(_ opcode: Opcode, _ payload: [UInt8]) throws(GateClientError) {
    let key = KernelEntropy().bytes(4)
    let mask = MaskingKey(key[0], key[1], key[2], key[3])
    let compressed = opcode.isControl ? nil : compressed(payload)
    let frame = ClientFrame.encode(opcode, compressed ?? payload, mask: mask, rsv1: compressed != nil)
    try connection.stream.write(frame, .after(timeout))
  }

  /// Nil when it was not agreed on, or would gain nothing.
  private func compressed(_ payload: [UInt8]) -> [UInt8]? {
    // zlib cannot compress for a window of 8 bits.
    guard let windowBits = deflate?.clientWindowBits, windowBits >= 9 else { return nil }
    var output = [UInt8](repeating: 0, count: payload.count + 4)
    var room = output.mutableSpan
    guard let count = zlib.compress(payload.span, windowBits: windowBits, into: &room) else { return nil }
    return Array(output[..<count])
  }

  // MARK: Receiving

  /// The next message; after the end, the end again.
  /// - Parameter timeout: nil waits for ever.
  package func receive(timeout: Duration? = nil) throws(GateClientError) -> Message {
    let deadline = timeout.map { Deadline.after($0) } ?? .never
    while true {
      if let message = try nextMessage() { return message }
      take(try connection.stream.read(deadline))
    }
  }

  /// Waits for a message or for input on a descriptor of the caller's; nil when it was the input.
  package func receive(orInputOn descriptor: Int32) throws(GateClientError) -> Message? {
    while true {
      if let message = try nextMessage() { return message }
      guard try connection.stream.waitForServer(or: descriptor, .never) else { return nil }
      if let bytes = try connection.stream.readAvailable() { take(bytes) }
    }
  }

  package enum Occasion {
    case message(Message)
    /// Which of the caller's descriptors is readable.
    case input(Int)
    /// The server has sent something, but no message is whole.
    case piece
    case timedOut
  }

  /// Waits for a message, for input on descriptors of the caller's, or until the time is over.
  package func receive(orInputOn inputs: [Int32], _ deadline: Deadline) throws(GateClientError) -> Occasion {
    if let message = try nextMessage() { return .message(message) }
    switch try connection.stream.waitForServer(orAnyOf: inputs, deadline) {
    case .timedOut: return .timedOut
    case .input(let index): return .input(index)
    case .server:
      if let bytes = try connection.stream.readAvailable() { take(bytes) }
      return try nextMessage().map(Occasion.message) ?? .piece
    }
  }

  /// - Parameter bytes: none when the server has closed the connection.
  private func take(_ bytes: [UInt8]) {
    events += messages.take(bytes)
    if bytes.isEmpty, end == nil { end = .closed(code: 1006, reason: "") }
  }

  /// Closes, and waits for the server's close frame and the end of the connection; what comes before it is
  /// dropped.
  @discardableResult
  package func closeAndWait(code: UInt16 = 1000) throws(GateClientError) -> Message {
    try close(code: code)
    while true {
      if case .closed(let code, let reason) = try receive(timeout: timeout) {
        return .closed(code: code, reason: reason)
      }
    }
  }

  /// The first of what has come, pings answered on the way; nil when that was all and there may be more.
  private func nextMessage() throws(GateClientError) -> Message? {
    while !events.isEmpty {
      switch events.removeFirst() {
      case .text(let text): return .text(text)
      case .binary(let bytes): return .binary(bytes)
      case .pong(let payload): return .pong(payload)
      case .ping(let payload):
        if !hasSentClose { try send(.pong, payload) }
      case .close(let request):
        // The answer to the server's close; the server may be gone by now, which is as good.
        try? close(code: request.code?.rawValue ?? 1000)
        connection.stream.closeNotify(.after(timeout))
        end = .closed(code: request.code?.rawValue ?? 1005, reason: request.reason)
      case .violation(let violation):
        try? close(code: violation.closeCode.rawValue)
        throw .protocolViolation(violation.step)
      }
    }
    return end
  }
}

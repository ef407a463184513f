/// An open WebSocket of a client (RFC 6455): sends masked frames, receives whole messages, closes both ways.
internal import System

package final class WebSocketClient {
  package enum Message: Equatable, Sendable {
    case text(String)
    case binary([UInt8])
    /// Answers a ping of ours; pings are answered without being shown.
    case pong([UInt8])
    /// The end: nothing comes after it. Without a code when the close frame had none, 1006 when there was no frame.
    case closed(code: UInt16, reason: String)
  }

  /// The 101.
  package let response: GateResponse
  package let subprotocol: String?
  /// How long a send, or the closing handshake, may take.
  private let timeout: Duration
  private var connection: ClientConnection
  private var frames = ServerFrames()
  private var end: Message?
  private var hasSentClose = false

  init(
    _ connection: consuming ClientConnection, response: GateResponse, subprotocol: String?, timeout: Duration
  ) {
    self.connection = connection
    self.response = response
    self.subprotocol = subprotocol
    self.timeout = timeout
  }

  // MARK: Sending

  package func send(text: String) throws(GateClientError) { try send(.text, Array(text.utf8)) }
  package func send(binary: [UInt8]) throws(GateClientError) { try send(.binary, binary) }
  /// - Parameter payload: at most 125 bytes.
  package func ping(_ payload: [UInt8] = []) throws(GateClientError) { try send(.ping, payload) }

  /// Sends a close frame; the server's comes as the last message.
  package func close(code: UInt16 = 1000, reason: String = "") throws(GateClientError) {
    if hasSentClose { return }
    hasSentClose = true
    try send(.close, [UInt8(code >> 8), UInt8(code & 0xFF)] + Array(reason.utf8))
  }

  private func send(_ opcode: WebSocketOpcode, _ payload: [UInt8]) throws(GateClientError) {
    let frame = ClientFrame.encode(opcode, payload, mask: KernelEntropy().bytes(4))
    try connection.stream.write(frame, .after(timeout))
  }

  // MARK: Receiving

  /// The next message; after the end, the end again.
  /// - Parameter timeout: nil waits for ever.
  package func receive(timeout: Duration? = nil) throws(GateClientError) -> Message {
    let deadline = timeout.map { Deadline.after($0) } ?? .never
    while true {
      if let message = try nextMessage() { return message }
      guard try connection.readMore(deadline) else { return finish(.closed(code: 1006, reason: "")) }
    }
  }

  /// Waits for a message or for input on a descriptor of the caller's; nil when it was the input.
  func receive(orInputOn descriptor: Int32) throws(GateClientError) -> Message? {
    while true {
      if let message = try nextMessage() { return message }
      guard try connection.stream.waitForServer(or: descriptor, .never) else { return nil }
      guard let more = try connection.readAvailable() else { continue }
      guard more else { return finish(.closed(code: 1006, reason: "")) }
    }
  }

  /// Closes, and waits for the server's close frame and the end of the connection; what comes before it is dropped.
  @discardableResult
  package func closeAndWait(code: UInt16 = 1000) throws(GateClientError) -> Message {
    try close(code: code)
    while true {
      if case .closed(let code, let reason) = try receive(timeout: timeout) {
        return .closed(code: code, reason: reason)
      }
    }
  }

  /// What the bytes at hand hold; nil when they are not a whole message.
  private func nextMessage() throws(GateClientError) -> Message? {
    if let end { return end }
    while let event = try connection.nextEvent(&frames) {
      switch event {
      case .text(let text): return .text(text)
      case .binary(let bytes): return .binary(bytes)
      case .pong(let payload): return .pong(payload)
      case .ping(let payload):
        if !hasSentClose { try send(.pong, payload) }
      case .close(let code, let reason):
        // The answer to the server's close; it may be gone by now, which is as good.
        if !hasSentClose { try? close(code: code ?? 1000) }
        connection.stream.closeNotify(.after(timeout))
        return finish(.closed(code: code ?? 1005, reason: reason))
      }
    }
    return nil
  }

  private func finish(_ message: Message) -> Message {
    end = message
    return message
  }
}

extension ClientConnection {
  fileprivate mutating func nextEvent(_ frames: inout ServerFrames) throws(GateClientError) -> ServerFrames.Event? {
    while !received.isEmpty {
      guard let step = try frames.next(received) else { return nil }
      _ = take(step.length)
      if let event = step.event { return event }
    }
    return nil
  }
}

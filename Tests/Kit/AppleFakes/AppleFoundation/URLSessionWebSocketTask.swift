/// A WebSocket as URLSession has it: messages are asked for one by one, and the end is an error and a code.
internal import Synchronization

@available(iOS 13.0, *)
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
  public enum Message: Sendable {
    case data(Data)
    case string(String)
  }

  /// Of Objective-C, so that every number makes one.
  public enum CloseCode: RawRepresentable, Hashable, Sendable {
    case invalid
    case normalClosure
    case goingAway
    case protocolError
    case unsupportedData
    case noStatusReceived
    case abnormalClosure
    case invalidFramePayloadData
    case policyViolation
    case messageTooBig
    case mandatoryExtensionMissing
    case internalServerError
    case tlsHandshakeFailure
    /// No case of Apple's: a number that is none of them.
    case _unnamed(Int)

    private static let named: [CloseCode] = [
      .invalid, .normalClosure, .goingAway, .protocolError, .unsupportedData, .noStatusReceived,
      .abnormalClosure, .invalidFramePayloadData, .policyViolation, .messageTooBig,
      .mandatoryExtensionMissing, .internalServerError, .tlsHandshakeFailure,
    ]

    public init?(rawValue: Int) {
      self = Self.named.first { $0.rawValue == rawValue } ?? ._unnamed(rawValue)
    }

    public var rawValue: Int {
      switch self {
      case .invalid: 0
      case .normalClosure: 1000
      case .goingAway: 1001
      case .protocolError: 1002
      case .unsupportedData: 1003
      case .noStatusReceived: 1005
      case .abnormalClosure: 1006
      case .invalidFramePayloadData: 1007
      case .policyViolation: 1008
      case .messageTooBig: 1009
      case .mandatoryExtensionMissing: 1010
      case .internalServerError: 1011
      case .tlsHandshakeFailure: 1015
      case ._unnamed(let number): number
      }
    }
  }

  private struct Socket {
    var arrived: [Message] = []
    var readers: [CheckedContinuation<Message, any Error>] = []
    var closeCode = 0
    var largest = 1_048_576
    /// What later calls throw.
    var end: (any Error)?
  }

  private let socket = Mutex(Socket())

  open var maximumMessageSize: Int {
    get { socket.withLock(\.largest) }
    set { socket.withLock { socket in socket.largest = newValue } }
  }

  open var closeCode: URLSessionWebSocketTask.CloseCode {
    CloseCode(rawValue: socket.withLock(\.closeCode)) ?? .invalid
  }

  public func send(_ message: URLSessionWebSocketTask.Message) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      loader.send(message) { error in
        if let error { continuation.resume(throwing: error) } else { continuation.resume() }
      }
    }
  }

  public func receive() async throws -> URLSessionWebSocketTask.Message {
    try await withCheckedThrowingContinuation { continuation in
      let next = socket.withLock { socket -> Result<Message, any Error>? in
        if !socket.arrived.isEmpty { return .success(socket.arrived.removeFirst()) }
        if let end = socket.end { return .failure(end) }
        socket.readers.append(continuation)
        return nil
      }
      if let next { continuation.resume(with: next) }
      loader.goOn()
    }
  }

  open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
    loader.ping(pongReceiveHandler)
  }

  open func cancel(with closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?) {
    loader.close(closeCode.rawValue, reason: [UInt8](reason ?? Data()))
  }

  // MARK: For what loads it

  /// Nothing more than one message is read ahead of those who ask.
  package var hasRoom: Bool { socket.withLock { $0.arrived.isEmpty } }

  package func open(_ subprotocol: String?) {
    tell { [self] session in
      (session.delegate as? any URLSessionWebSocketDelegate)?.urlSession(
        session, webSocketTask: self, didOpenWithProtocol: subprotocol)
    }
  }

  package func take(_ message: Message) {
    let count =
      switch message {
      case .data(let data): data.count;
      case .string(let text): text.utf8.count
      }
    let (reader, isTooLong) = socket.withLock { socket in
      if count > socket.largest { return (nil as CheckedContinuation<Message, any Error>?, true) }
      if socket.readers.isEmpty { socket.arrived.append(message) }
      return (socket.readers.isEmpty ? nil : socket.readers.removeFirst(), false)
    }
    reader?.resume(returning: message)
    if isTooLong { end(PosixFailure.messageTooLong, closeCode: 0, telling: URLError(.unknown)) }
  }

  /// The server's Close, or the lack of one.
  package func end(_ error: any Error, closeCode: Int, telling told: URLError?) {
    socket.withLock { socket in
      socket.closeCode = closeCode
      socket.end = socket.end ?? error
    }
    finish(told)
  }

  override package func didEnd(_ error: URLError?) {
    let (readers, end) = socket.withLock { socket -> ([CheckedContinuation<Message, any Error>], any Error) in
      let end = socket.end ?? error ?? PosixFailure.notConnected
      socket.end = end
      defer { socket.readers = [] }
      return (socket.readers, end)
    }
    for reader in readers { reader.resume(throwing: end) }
  }
}

/// NSPOSIXErrorDomain, of which URLSession's WebSockets throw these, by Darwin's numbers.
package struct PosixFailure: Error, Equatable {
  package let code: Int

  package static let messageTooLong = PosixFailure(code: 40)
  package static let notConnected = PosixFailure(code: 57)
}

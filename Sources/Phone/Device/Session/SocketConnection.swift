/// One WebSocket of a session, on a thread that waits for the gate and for what is to be done.
internal import Dialing
internal import PortcullisClient
internal import System

final class SocketConnection: GateConnection {
  private enum Word {
    case message(GateMessage)
    case ping
    case close(code: UInt16)
  }

  private struct Jobs {
    /// In their order; the first one is being done.
    var words: [(Word, CheckedContinuation<Void, any Error>)] = []
    var reader: CheckedContinuation<GateArrival, any Error>?
    var pings: [CheckedContinuation<Void, any Error>] = []
    /// Nothing more is done: what the gate's end was, or why there is none.
    var end: Result<GateArrival, GateTransportError>?
  }

  private struct Socket: @unchecked Sendable {
    let client: WebSocketClient
  }

  let subprotocol: String?
  private let bell: Bell
  private let jobs = Monitor(Jobs())

  /// - Parameter client: used by the thread alone from here on.
  init(_ client: WebSocketClient) throws(SystemError) {
    subprotocol = client.subprotocol
    bell = try Bell()
    let socket = Socket(client: client)
    let thread = try Thread(name: "session") { [self] in serve(socket.client) }
    thread.detach()
  }

  // MARK: From the session

  func send(_ message: GateMessage) async throws { try await say(.message(message)) }

  func ping() async throws {
    try await say(.ping)
    try await wait { jobs, continuation in jobs.pings.append(continuation) }
  }

  func close(code: UInt16) async throws { try await say(.close(code: code)) }

  private func say(_ word: Word) async throws {
    try await wait { jobs, continuation in jobs.words.append((word, continuation)) }
  }

  func receive() async throws -> GateArrival {
    try await withCheckedThrowingContinuation { continuation in
      let end = jobs.withLock { jobs, _ in
        if jobs.end == nil { jobs.reader = continuation }
        return jobs.end
      }
      if let end { continuation.resume(with: end.mapError { $0 }) } else { bell.ring() }
    }
  }

  func abandon() {
    finish(.failure(.failed(.unreachable, "abandoned")))
  }

  private func wait(_ add: (inout Jobs, CheckedContinuation<Void, any Error>) -> Void) async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let isOver = jobs.withLock { jobs, _ in
        if jobs.end == nil { add(&jobs, continuation) }
        return jobs.end != nil
      }
      if isOver { continuation.resume(throwing: Self.over) } else { bell.ring() }
    }
  }

  private static let over = GateTransportError.failed(.unreachable, "the connection is over")

  /// Whoever waits hears of it at once; the thread when it looks next.
  private func finish(_ end: Result<GateArrival, GateTransportError>) {
    let left = jobs.withLock { jobs, _ in
      defer {
        if jobs.end == nil { jobs = Jobs(end: end) }
      }
      return jobs.end == nil ? jobs : Jobs()
    }
    for (_, continuation) in left.words { continuation.resume(throwing: Self.over) }
    for continuation in left.pings { continuation.resume(throwing: Self.over) }
    left.reader?.resume(with: end.mapError { $0 })
    bell.ring()
  }

  // MARK: On the thread

  private func serve(_ client: WebSocketClient) {
    do throws(GateClientError) {
      while true {
        bell.clear()
        let (word, isReading, isOver) = jobs.withLock { jobs, _ in
          (jobs.words.first?.0, jobs.reader != nil, jobs.end != nil)
        }
        if isOver { return }
        if let word {
          try say(word, client)
        } else if isReading {
          guard try receive(client) else { return }
        } else {
          do { _ = try Deadline.never.waitForAny(of: [bell.descriptor]) } catch { throw .broken(error) }
        }
      }
    } catch {
      finish(.failure(GateTransportError(error)))
    }
  }

  private func say(_ word: Word, _ client: WebSocketClient) throws(GateClientError) {
    switch word {
    case .message(.text(let text)): try client.send(text: text)
    case .message(.binary(let bytes)): try client.send(binary: bytes)
    case .ping: try client.ping()
    case .close(let code): try client.close(code: code)
    }
    let done = jobs.withLock { jobs, _ in jobs.words.isEmpty ? nil : jobs.words.removeFirst().1 }
    done?.resume()
  }

  /// - Returns: whether more may come.
  private func receive(_ client: WebSocketClient) throws(GateClientError) -> Bool {
    switch try client.receive(orInputOn: [bell.descriptor], .never) {
    case .input, .timedOut, .piece: break
    case .message(.pong):
      let pings = jobs.withLock { jobs, _ in
        defer { jobs.pings = [] }
        return jobs.pings
      }
      for continuation in pings { continuation.resume() }
    case .message(.text(let text)): deliver(.message(.text(text)))
    case .message(.binary(let bytes)): deliver(.message(.binary(bytes)))
    case .message(.closed(1006, _)): throw .closed
    case .message(.closed(let code, _)):
      finish(.success(.closed(code: code == 1005 ? nil : code)))
      return false
    }
    return true
  }

  private func deliver(_ arrival: GateArrival) {
    let reader = jobs.withLock { jobs, _ in
      defer { jobs.reader = nil }
      return jobs.reader
    }
    reader?.resume(returning: arrival)
  }
}

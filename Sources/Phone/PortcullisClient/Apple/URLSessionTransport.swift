/// How a session reaches its gate on Apple's platforms: by URLSession.
#if canImport(DeviceCheck)
  internal import Foundation

  /// Requests and WebSockets by URLSession, each in a session of its own that keeps nothing.
  ///
  /// Whom to trust is the system's matter. An app that wants the gate's own key and nothing else names it under
  /// `NSPinnedDomains` in its Info.plist.
  public struct URLSessionTransport: GateTransport {
    private let certificate: ClientCertificate?

    /// - Parameter certificate: what is shown to a gate that asks for one.
    public init(certificate: ClientCertificate? = nil) {
      self.certificate = certificate
    }

    /// Sends one request and reads its answer, within 30 seconds.
    public func request(_ request: GateRequest) async throws -> GateAnswer {
      var sent = URLRequest(url: request.url)
      sent.httpMethod = request.method
      sent.httpBody = request.body.map { Data($0) }
      for field in request.fields { sent.setValue(field.value, forHTTPHeaderField: field.name) }
      let session = session(SessionDelegate(certificate), patience: 30)
      defer { session.invalidateAndCancel() }
      let (bytes, response) = try await session.bytes(for: sent)
      guard let head = response as? HTTPURLResponse else { throw GateTransportError.unreachable("no HTTP") }
      var body: [UInt8] = []
      for try await byte in bytes {
        guard body.count < 65_536 else { throw GateTransportError.unreachable("too long an answer") }
        body.append(byte)
      }
      return GateAnswer(
        status: head.statusCode, code: head.errorCode, retryAfter: head.retryAfter, body: body)
    }

    /// Opens a WebSocket, within 15 seconds.
    public func connect(_ upgrade: GateUpgrade) async throws -> any GateConnection {
      var sent = URLRequest(url: upgrade.url)
      sent.setValue(upgrade.subprotocol, forHTTPHeaderField: "Sec-WebSocket-Protocol")
      for field in upgrade.fields { sent.setValue(field.value, forHTTPHeaderField: field.name) }
      let delegate = SessionDelegate(certificate)
      // What is silent for long is a quiet game, and no request that has failed.
      let session = session(delegate, patience: 604_800)
      sent.timeoutInterval = 604_800
      // It goes when its one task has ended, and the delegate with it.
      defer { session.finishTasksAndInvalidate() }
      let task = session.webSocketTask(with: sent)
      // The longest that a gate sends are events of 256 KiB.
      task.maximumMessageSize = 1_048_576
      let deadline = Task {
        try await Task.sleep(nanoseconds: 15_000_000_000)
        task.cancel()
      }
      defer { deadline.cancel() }
      let subprotocol = try await withTaskCancellationHandler {
        try await delegate.opening.value { _ in task.resume() }
      } onCancel: {
        task.cancel()
      }
      return URLSessionConnection(task: task, delegate: delegate, subprotocol: subprotocol)
    }

    private func session(_ delegate: SessionDelegate, patience: Double) -> URLSession {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.timeoutIntervalForResource = patience
      // A challenge is good once.
      configuration.urlCache = nil
      return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
  }

  private struct URLSessionConnection: GateConnection {
    let task: URLSessionWebSocketTask
    let delegate: SessionDelegate
    let subprotocol: String?

    func send(_ message: GateMessage) async throws {
      switch message {
      case .text(let text): try await task.send(.string(text))
      case .binary(let bytes): try await task.send(.data(Data(bytes)))
      }
    }

    func receive() async throws -> GateArrival {
      do {
        switch try await task.receive() {
        case .data(let data): return .message(.binary([UInt8](data)))
        case .string(let text): return .message(.text(text))
        @unknown default: throw GateTransportError.unreachable("neither text nor binary")
        }
      } catch {
        switch task.closeCode.rawValue {
        // None, and what stands for a connection that was lost, or for a Close without a code (RFC 6455 §7.4.1).
        case 0, 1006: throw error
        case 1005: return .closed(code: nil)
        case let code: return .closed(code: UInt16(exactly: code))
        }
      }
    }

    /// URLSession has been seen to call a ping's handler twice, and not at all when the task ends.
    func ping() async throws {
      let pong = delegate.pong
      try await pong.value { turn in
        task.sendPing { error in pong.resume(error.map { .failure($0) } ?? .success(()), turn: turn) }
      }
    }

    func close(code: UInt16) {
      task.cancel(with: URLSessionWebSocketTask.CloseCode(rawValue: Int(code)) ?? .goingAway, reason: nil)
    }

    func abandon() { task.cancel() }
  }

  private final class SessionDelegate: NSObject, URLSessionWebSocketDelegate {
    let opening = Awaited<String?>()
    let pong = Awaited<Void>()
    private let certificate: ClientCertificate?

    init(_ certificate: ClientCertificate?) {
      self.certificate = certificate
    }

    func urlSession(
      _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?
    ) {
      opening.resume(.success(`protocol`))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
      var end = error ?? GateTransportError.unreachable("the connection has ended")
      // URLSession calls a refused upgrade a bad answer, and keeps it.
      if let head = task.response as? HTTPURLResponse, head.statusCode != 101 {
        end = GateTransportError.refused(
          status: head.statusCode, code: head.errorCode, retryAfter: head.retryAfter)
      }
      opening.end(end)
      pong.end(end)
    }

    /// The gate has no redirections.
    func urlSession(
      _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
      newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      completionHandler(nil)
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
      completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
      let method = challenge.protectionSpace.authenticationMethod
      let credential = method == NSURLAuthenticationMethodClientCertificate ? certificate?.credential : nil
      completionHandler(credential == nil ? .performDefaultHandling : .useCredential, credential)
    }
  }

  extension HTTPURLResponse {
    fileprivate var errorCode: String? { value(forHTTPHeaderField: "Portcullis-Error") }
    fileprivate var retryAfter: Double? { value(forHTTPHeaderField: "Retry-After").flatMap(Double.init) }
  }
#endif

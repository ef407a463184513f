/// How a session reaches its gate on Apple's platforms: by URLSession.
#if canImport(DeviceCheck)
  internal import Foundation

  /// Requests and WebSockets by URLSession, each in a session of its own that keeps nothing.
  public struct URLSessionTransport: GateTransport {
    private let certificate: ClientCertificate?
    private let trust: GateTrust

    /// - Parameters:
    ///   - certificate: what is shown to a gate that asks for one.
    ///   - trust: which certificates of the gate's are taken.
    public init(certificate: ClientCertificate? = nil, trust: GateTrust = .system) {
      self.certificate = certificate
      self.trust = trust
    }

    /// Each change of the network after the one that there is.
    public var pathChanges: AsyncStream<Void>? { PathWatch.changes() }

    /// Sends one request and reads its answer.
    public func request(_ request: GateRequest) async throws -> GateAnswer {
      var sent = URLRequest(url: request.url)
      sent.httpMethod = request.method
      sent.httpBody = request.body.map { Data($0) }
      for field in request.fields { sent.setValue(field.value, forHTTPHeaderField: field.name) }
      let delegate = SessionDelegate(certificate, trust)
      let session = session(delegate, patience: request.timeLimit)
      defer { session.invalidateAndCancel() }
      do {
        let (bytes, response) = try await session.bytes(for: sent)
        guard let head = response as? HTTPURLResponse else {
          throw GateTransportError.failed(.interference, "no HTTP")
        }
        var body: [UInt8] = []
        for try await byte in bytes {
          guard body.count < 65_536 else {
            throw GateTransportError.failed(.interference, "an answer of more than 64 KiB")
          }
          body.append(byte)
        }
        return GateAnswer(
          status: head.statusCode, code: head.errorCode, retryAfter: head.retryAfter, trace: head.trace,
          body: body)
      } catch {
        throw delegate.failure(error)
      }
    }

    /// Opens a WebSocket, within 15 seconds.
    public func connect(_ upgrade: GateUpgrade) async throws -> any GateConnection {
      var sent = URLRequest(url: upgrade.url)
      sent.setValue(upgrade.subprotocol, forHTTPHeaderField: "Sec-WebSocket-Protocol")
      for field in upgrade.fields { sent.setValue(field.value, forHTTPHeaderField: field.name) }
      let delegate = SessionDelegate(certificate, trust)
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
        delegate.opening.end(GateTransportError.failed(.timeout, "no answer to the upgrade in 15 s"))
        task.cancel()
      }
      defer { deadline.cancel() }
      let subprotocol: String?
      do {
        subprotocol = try await withTaskCancellationHandler {
          try await delegate.opening.value { _ in task.resume() }
        } onCancel: {
          task.cancel()
        }
      } catch {
        throw delegate.failure(error)
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
#endif

/// How a session of the app's package reaches its gate on Linux: this client's own TLS and WebSocket, which block, on
/// threads of their own.
internal import Dialing
internal import FoundationEssentials
internal import Glibc
internal import PortcullisClient
internal import PortcullisProtocol
internal import System

final class SocketTransport: GateTransport {
  /// Requests of one attempt go over one connection. Attempts never overlap, and so one thread at a time has it.
  private struct Idle: @unchecked Sendable {
    var client: GateClient?
  }

  private let gate: SessionGate
  private let idle = Monitor(Idle())

  init(_ gate: SessionGate) {
    self.gate = gate
  }

  func request(_ request: GateRequest) async throws -> GateAnswer {
    let response = try await blocking { () throws(GateClientError) in
      let client = try self.takeClient()
      let query = request.url.query.map { "?\($0)" } ?? ""
      let response = try client.send(
        method: request.method, path: request.url.path + query,
        fields: request.fields.map { GateResponse.Field($0.name, $0.value) }, body: request.body)
      self.idle.withLock { idle, _ in idle.client = client }
      return response
    }
    return GateAnswer(
      status: response.status, code: response.errorCode, retryAfter: response.retryAfter,
      trace: response[HeaderName.trace], body: response.body)
  }

  func connect(_ upgrade: GateUpgrade) async throws -> any GateConnection {
    idle.withLock { idle, _ in idle.client = nil }
    var gate = gate
    // The assertion of an attestor is among the fields.
    if case .appKey = gate.credential { gate.credential = .none }
    let fields = upgrade.fields.map { GateResponse.Field($0.name, $0.value) }
    let socket = try await blocking { [gate] () throws(GateClientError) in
      Opened(
        socket: try gate.connect(
          fields: fields, subprotocols: [upgrade.subprotocol], offersDeflate: true))
    }
    do {
      return try SocketConnection(socket.socket)
    } catch {
      throw GateTransportError.failed(.unreachable, error.description)
    }
  }

  /// Made by one thread and used by another one afterwards, never by both.
  private struct Opened: @unchecked Sendable {
    let socket: WebSocketClient
  }

  private func takeClient() throws(GateClientError) -> GateClient {
    let client = idle.withLock { idle, _ in
      defer { idle.client = nil }
      return idle
    }.client
    if let client { return client }
    return try gate.client()
  }

  /// On a thread of its own: the pool of Swift's tasks has one for each processor, and waits for all of them.
  private func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws(GateClientError) -> Value
  ) async throws -> Value {
    do {
      return try await withCheckedThrowingContinuation { continuation in
        do throws(SystemError) {
          let thread = try Thread(name: "connect") {
            continuation.resume(with: Result { () throws(GateClientError) in try body() }.mapError { $0 })
          }
          thread.detach()
        } catch {
          continuation.resume(throwing: GateClientError.broken(error))
        }
      }
    } catch let error as GateClientError {
      throw GateTransportError(error)
    }
  }
}

extension GateTransportError {
  init(_ error: GateClientError) {
    if case .refused(let response) = error {
      self = .refused(
        status: response.status, code: response.errorCode, retryAfter: response.retryAfter,
        trace: response[HeaderName.trace])
    } else {
      self = .failed(error.kind, error.description)
    }
  }
}

extension GateClientError {
  fileprivate var kind: GameFailure.Kind {
    switch self {
    case .unreachable(let error) where [ENETUNREACH, ENETDOWN].contains(error.number): .offline
    case .unresolved, .unreachable, .broken, .closed: .unreachable
    case .timedOut: .timeout
    case .handshake, .untrusted: .untrusted
    case .notPinned: .pinMismatch
    case .malformedResponse, .refused: .interference
    case .protocolViolation: .protocolViolation
    case .device: .attestation
    case .invalidURL, .invalidField, .tlsSettings: .unusable
    }
  }
}

extension GateResponse {
  /// In seconds.
  fileprivate var retryAfter: Double? { self[HeaderName.retryAfter].flatMap(Double.init) }
}

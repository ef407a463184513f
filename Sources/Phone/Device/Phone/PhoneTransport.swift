/// How a simulated phone reaches its gate: this client's own TLS, with the pins of the moment, on threads of their own.
internal import Bytes
internal import Dialing
internal import FoundationEssentials
internal import PortcullisClient
internal import PortcullisDevice
internal import PortcullisProtocol
internal import System

final class PhoneTransport: GateTransport {
  /// Requests that come one after the other go over one connection; those at the same time have their own.
  private struct Idle: @unchecked Sendable {
    var client: GateClient?
    var trust: ServerTrust?
  }

  private let pins: DevicePins
  private let trust: ServerTrust
  private let timeout: Duration
  private let idle = Monitor(Idle())

  /// - Parameter trust: while no pins are known.
  init(pins: DevicePins, trust: ServerTrust, timeout: Duration) {
    self.pins = pins
    self.trust = trust
    self.timeout = timeout
  }

  func request(_ request: GateRequest) async throws -> GateAnswer {
    guard let gate = GateURL(request.url.absoluteString) else {
      throw DeviceFailure(.unusable, "not the address of a gate: \(request.url.absoluteString)")
    }
    // What the gate was asked to wait comes beside the time that the command line gives it.
    let wait = Duration.seconds(max(0, request.timeLimit - DeviceCall.patience))
    let response = try await blocking { () throws(GateClientError) in
      let trust = self.pins.current.map { ServerTrust.publicKeys($0.hashes.compactMap { Bytes32($0) }) }
      let (client, used) = try self.takeClient(for: gate, trust ?? self.trust)
      let response = try client.send(
        method: request.method, path: gate.path,
        fields: request.fields.map { GateResponse.Field($0.name, $0.value) }, body: request.body, wait: wait)
      self.idle.withLock { idle, _ in (idle.client, idle.trust) = (client, used) }
      return response
    }
    return GateAnswer(
      status: response.status, code: response.errorCode,
      retryAfter: response[HeaderName.retryAfter].flatMap(Double.init), trace: response[HeaderName.trace],
      body: response.body)
  }

  /// A device has no session of play of its own.
  func connect(_ upgrade: GateUpgrade) async throws -> any GateConnection {
    throw GateTransportError.failed(.unusable, "a phone's requests open no WebSocket")
  }

  private func takeClient(
    for gate: GateURL, _ trust: ServerTrust
  ) throws(GateClientError) -> (GateClient, ServerTrust) {
    let kept = idle.withLock { idle, _ in
      defer { idle.client = nil }
      return idle
    }
    if let client = kept.client, kept.trust == trust, client.url.authority == gate.authority {
      return (client, trust)
    }
    return (try GateClient(gate, trust: trust, timeout: timeout), trust)
  }

  /// On a thread of its own: the pool of Swift's tasks has one for each processor, and waits for all of them.
  private func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws(GateClientError) -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      do throws(SystemError) {
        let thread = try Thread(name: "phone") {
          do throws(GateClientError) { continuation.resume(returning: try body()) } catch {
            continuation.resume(throwing: DeviceFailure(error))
          }
        }
        thread.detach()
      } catch {
        continuation.resume(throwing: DeviceFailure(.unusable, error.description))
      }
    }
  }
}

extension DeviceFailure {
  /// Where an answer was on its way, nobody knows what the gate has done: that is `timeout`.
  init(_ error: GateClientError) {
    let kind: Kind =
      switch error {
      case .timedOut, .closed, .broken: .timeout
      case .unresolved, .unreachable, .handshake: .unreachable
      case .untrusted: .untrusted
      case .notPinned: .pinMismatch
      case .malformedResponse, .protocolViolation: .protocolViolation
      case .refused: .refused
      case .invalidURL, .invalidField, .tlsSettings: .unusable
      case .device: .attestation
      }
    self.init(kind, error.description)
  }
}

/// The model of a gate behind a transport in memory, whose connections break where a seed says.
import FoundationEssentials
import Kit

@testable import PortcullisClient

final class MemoryGate: GateTransport {
  struct State {
    var gate = ModelGate()
    var random: SplitMix
    var lossesLeft: Int
    var connection: MemoryConnection?
    var connections = 0
    /// `Portcullis-Resume` of each upgrade.
    var resumes: [String?] = []
    /// The assertion's fields of each upgrade.
    var assertions: [[GateField]] = []
    /// Of each request.
    var requests: [GateRequest] = []
    /// For each request and upgrade from now on; nil: none.
    var refusals: [GateAnswer?] = []
    var attempts = 0
    var mostAttempts = 0
  }

  private let state: Locked<State>

  /// - Parameter losses: so many connections break.
  init(seed: UInt64 = 1, losses: Int = 0) {
    state = Locked(State(random: SplitMix(seed: seed), lossesLeft: losses))
  }

  func look<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

  var session: ModelGate.Session? { look { $0.gate.attached } }
  var connection: MemoryConnection? { look { $0.connection } }

  // MARK: What a test has it do

  /// Counted, and sent where somebody is attached.
  func say(_ frame: Frame) {
    state.withLock { state in state.connection?.deliver(state.gate.say(frame)) }
  }

  func acknowledge() {
    state.withLock { state in
      if state.gate.attached != nil { state.connection?.deliver([state.gate.acknowledgement()]) }
    }
  }

  /// Not counted.
  func tell(_ frame: Frame) { connection?.deliver([frame]) }

  /// The connection breaks, and whatever is on its way is lost.
  func cut() { connection?.abandon() }

  // MARK: GateTransport

  static let nonce = String(repeating: "ab", count: 32)

  func request(_ request: GateRequest) async throws -> GateAnswer {
    await Task.yield()
    return state.withLock { state in
      state.requests.append(request)
      if !state.refusals.isEmpty, let refusal = state.refusals.removeFirst() { return refusal }
      let body =
        request.method == "GET"
        ? #"{"nonce":"\#(Self.nonce)","expires":9000000000000}"# : #"{"registered":true}"#
      return GateAnswer(status: 200, code: nil, retryAfter: nil, body: Array(body.utf8))
    }
  }

  func connect(_ upgrade: GateUpgrade) async throws -> any GateConnection {
    state.withLock { state in
      state.attempts += 1
      state.mostAttempts = max(state.attempts, state.mostAttempts)
    }
    await Task.yield()
    return try state.withLock { (state) throws(GateTransportError) in try accept(upgrade, &state) }
  }

  private func accept(
    _ upgrade: GateUpgrade, _ state: inout State
  ) throws(GateTransportError) -> MemoryConnection {
    state.attempts -= 1
    if !state.refusals.isEmpty, let refusal = state.refusals.removeFirst() {
      throw .refused(
        status: refusal.status, code: refusal.code, retryAfter: refusal.retryAfter, trace: refusal.trace)
    }
    let resume = upgrade.fields.first { $0.name == "Portcullis-Resume" }?.value
    state.resumes.append(resume)
    state.assertions.append(upgrade.fields.filter { $0.name.hasPrefix("X-App-Assert-") })
    state.connections += 1
    state.connection?.abandon()
    let breaks = state.lossesLeft > 0
    if breaks { state.lossesLeft -= 1 }
    let connection = MemoryConnection(self, patience: breaks ? Int(state.random.next() % 40) : nil)
    state.connection = connection
    connection.deliver(state.gate.upgrade(resume: resume))
    return connection
  }

  fileprivate func take(_ message: GateMessage, from connection: MemoryConnection) {
    state.withLock { state in
      guard state.connection === connection else { return }
      let frame: Frame =
        switch message {
        case .text(let text): .text(text)
        case .binary(let bytes): .binary(String(decoding: bytes, as: UTF8.self))
        }
      connection.deliver(state.gate.take(frame))
    }
  }
}

/// Its lock is taken inside the gate's, never around it.
final class MemoryConnection: GateConnection {
  private struct State {
    var arrivals: [GateArrival] = []
    var reader: CheckedContinuation<GateArrival, any Error>?
    /// After so many messages either way the connection is lost.
    var patience: Int?
    var isLost = false
    var read = 0
    var closes: [UInt16] = []

    /// Whether one more message gets through.
    mutating func passes() -> Bool {
      if let patience {
        self.patience = patience - 1
        if patience <= 0 { lose() }
      }
      return !isLost && closes.isEmpty
    }

    mutating func lose() {
      isLost = true
      arrivals = []
      reader?.resume(throwing: MemoryConnection.lost)
      reader = nil
    }

    mutating func arrive(_ arrival: GateArrival) {
      if let reader {
        self.reader = nil
        reader.resume(returning: arrival)
      } else {
        arrivals.append(arrival)
      }
    }
  }

  private static let lost = GateTransportError.failed(.unreachable, "lost")

  let subprotocol: String? = SessionRequest.subprotocol
  private let state: Locked<State>
  /// Which has this one.
  private weak let gate: MemoryGate?

  init(_ gate: MemoryGate, patience: Int?) {
    self.gate = gate
    state = Locked(State(patience: patience))
  }

  /// How many messages were asked for.
  var read: Int { state.withLock { $0.read } }
  var closes: [UInt16] { state.withLock { $0.closes } }
  var isLost: Bool { state.withLock { $0.isLost } }

  fileprivate func deliver(_ frames: [Frame]) {
    state.withLock { state in
      for frame in frames {
        switch frame {
        case .text(let text): if state.passes() { state.arrive(.message(.text(text))) }
        case .binary(let text): if state.passes() { state.arrive(.message(.binary(Array(text.utf8)))) }
        case .close(let code): if state.passes() { state.arrive(.closed(code: code)) }
        case .upgrade, .accepted, .ping, .pong: break
        }
      }
    }
  }

  // MARK: GateConnection

  func send(_ message: GateMessage) async throws {
    await Task.yield()
    guard state.withLock({ $0.passes() }) else { throw Self.lost }
    gate?.take(message, from: self)
  }

  func receive() async throws -> GateArrival {
    await Task.yield()
    return try await withCheckedThrowingContinuation { continuation in
      state.withLock { state in
        state.read += 1
        if state.isLost {
          continuation.resume(throwing: Self.lost)
        } else if !state.arrivals.isEmpty {
          continuation.resume(returning: state.arrivals.removeFirst())
        } else {
          state.reader = continuation
        }
      }
    }
  }

  func ping() async throws {
    guard state.withLock({ $0.passes() }) else { throw Self.lost }
  }

  /// The gate's answer has the same code.
  func close(code: UInt16) async throws {
    state.withLock { state in
      guard state.passes() else { return }
      state.arrive(.closed(code: code))
      state.closes.append(code)
    }
  }

  func abandon() { state.withLock { $0.lose() } }
}

/// One connection of a scripted gate: what it delivers, and when it breaks.
package import PortcullisClient

/// Its lock is taken inside the gate's, never around it.
package final class ScriptedConnection: GateConnection {
  private struct State {
    var arrivals: [GateArrival] = []
    var reader: CheckedContinuation<GateArrival, any Error>?
    /// After so many messages either way the connection is lost.
    var patience: Int?
    var isLost = false
    /// What comes waits for nothing, and what is sent goes nowhere.
    var isStalled = false
    var read = 0
    var closes: [UInt16] = []
    /// Whose pong has not come.
    var pings: [CheckedContinuation<Void, any Error>] = []

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
      reader?.resume(throwing: ScriptedConnection.lost)
      reader = nil
      for ping in pings { ping.resume(throwing: ScriptedConnection.lost) }
      pings = []
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

  package let subprotocol: String? = SessionRequest.subprotocol
  private let state: Locked<State>
  /// Which has this one.
  private weak let gate: ScriptedGate?

  init(_ gate: ScriptedGate, patience: Int?) {
    self.gate = gate
    state = Locked(State(patience: patience))
  }

  /// How many messages were asked for.
  package var read: Int { state.withLock { $0.read } }
  package var closes: [UInt16] { state.withLock { $0.closes } }
  package var isLost: Bool { state.withLock { $0.isLost } }

  func deliver(_ frames: [Frame]) {
    state.withLock { state in
      guard !state.isStalled else { return }
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

  package func send(_ message: GateMessage) async throws {
    await Task.yield()
    if state.withLock({ $0.isStalled }) { return }
    guard state.withLock({ $0.passes() }) else { throw Self.lost }
    gate?.take(message, from: self)
  }

  package func receive() async throws -> GateArrival {
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

  package func ping() async throws {
    guard state.withLock({ $0.isStalled || $0.passes() }) else { throw Self.lost }
    try await pong()
  }

  /// There is none while the network is silent, until the connection is given up.
  private func pong() async throws {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
      let isAnswered = state.withLock { state in
        let isAnswered = !state.isStalled || state.isLost
        if !isAnswered { state.pings.append(continuation) }
        return isAnswered
      }
      if isAnswered { continuation.resume() }
    }
  }

  package func stall() { state.withLock { $0.isStalled = true } }

  /// The gate's answer has the same code.
  package func close(code: UInt16) async throws {
    state.withLock { state in
      if state.isStalled { return }
      guard state.passes() else { return }
      state.arrive(.closed(code: code))
      state.closes.append(code)
    }
  }

  package func abandon() { state.withLock { $0.lose() } }
}

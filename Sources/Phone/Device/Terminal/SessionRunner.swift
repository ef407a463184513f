/// Does what the machine of a session asks for, over connections of this client's: one thread, blocking calls.
internal import PortcullisProtocol
package import PortcullisClient
package import System

package final class SessionRunner {
  private let gate: SessionGate
  private let clock = SystemClock()
  private var machine: SessionMachine
  private var attempt: ConnectionAttempt?
  private var socket: WebSocketClient?
  private var events: [GameEvent] = []
  /// Why the last attempt came to nothing.
  package private(set) var failure: GateClientError?

  package init(_ gate: SessionGate, policy: GameOptions, client: ClientDescription) {
    self.gate = gate
    var seed: UInt64 = 0
    for byte in KernelEntropy().bytes(8) { seed = seed << 8 | UInt64(byte) }
    machine = SessionMachine(policy: policy, client: client, seed: seed)
  }

  private var now: Double { Double(clock.monotonic().nanoseconds) / 1e9 }

  // MARK: What its owner does

  package var end: GameEnd? { machine.end }
  package var isAttached: Bool { machine.isAttached }
  package var hasRoom: Bool { machine.hasRoom }
  package var maxMessage: Int { machine.maxMessage }
  package var client: ClientDescription { machine.client }

  package func begin() {
    machine.begin(now: now)
    perform()
  }

  package func send(_ bytes: [UInt8]) throws(GameInputError) {
    try machine.send(bytes, now: now)
    perform()
  }

  package func update(_ client: ClientDescription) {
    machine.update(client)
    perform()
  }

  package func finish(whenSent: Bool) {
    machine.finish(whenSent: whenSent, now: now)
    perform()
  }

  package func leave() {
    machine.leave(now: now)
    perform()
  }

  /// Drops the connection without a word, as a network does that is gone.
  package func cut() {
    guard socket != nil else { return }
    socket = nil
    machine.closed(code: 1006, now: now)
    perform()
  }

  package func takeEvents() -> [GameEvent] {
    defer { events = [] }
    return events
  }

  /// Waits until something has happened: to the session, on one of the caller's descriptors, or nothing in time.
  /// - Parameter inputs: negative ones are passed over.
  /// - Returns: the place of the descriptor that is readable, if that is what happened.
  package func wait(orInputOn inputs: [Int32] = [], until deadline: Deadline = .never) throws(SystemError)
    -> Int?
  {
    guard machine.end == nil else { return nil }
    let deadline = deadline.earlier(.at(seconds: machine.nextTime))
    var input: Int?
    if let socket {
      input = receive(from: socket, orInputOn: inputs, deadline)
    } else if let attempt {
      input = try deadline.waitForAny(of: inputs + [attempt.descriptor])
      if input == inputs.count {
        self.attempt = nil
        input = nil
        conclude(attempt.outcome())
      }
    } else {
      input = try deadline.waitForAny(of: inputs)
    }
    machine.tick(now: now)
    perform()
    return input
  }

  // MARK: Connections

  private func conclude(_ outcome: ConnectionAttempt.Outcome) {
    switch outcome {
    case .success(let socket):
      self.socket = socket
      machine.opened(subprotocol: socket.subprotocol, now: now)
    case .failure(let error):
      failure = error
      switch error {
      case .refused(let response):
        machine.refused(
          status: response.status, code: response.errorCode, retryAfter: response.retryAfter, now: now)
      case .unresolved, .unreachable, .broken, .timedOut, .handshake, .closed, .malformedResponse:
        machine.failed(now: now)
      // What another attempt does not mend.
      case .invalidURL, .invalidField, .tlsSettings, .untrusted, .protocolViolation, .device:
        machine.giveUp()
      }
    }
  }

  private func receive(
    from socket: WebSocketClient, orInputOn inputs: [Int32], _ deadline: Deadline
  ) -> Int? {
    do throws(GateClientError) {
      switch try socket.receive(orInputOn: inputs, deadline) {
      case .input(let index): return index
      case .timedOut: break
      case .piece, .message(.pong): machine.heard(now: now)
      case .message(.text(let text)):
        machine.receive(text: Array(text.utf8), now: now)
        machine.handled(machine.mark, now: now)
      case .message(.binary(let bytes)):
        machine.receive(binary: bytes, now: now)
        machine.handled(machine.mark, now: now)
      case .message(.closed(let code, _)): close(code: code)
      }
    } catch {
      lose(error)
    }
    return nil
  }

  private func close(code: UInt16) {
    socket = nil
    machine.closed(code: code, now: now)
  }

  private func lose(_ error: GateClientError) {
    failure = error
    close(code: 1006)
  }

  // MARK: Actions

  private func perform() {
    var actions = machine.takeActions()
    while !actions.isEmpty {
      for action in actions { perform(action) }
      actions = machine.takeActions()
    }
    if machine.end != nil { socket = nil }
  }

  private func perform(_ action: SessionAction) {
    do throws(GateClientError) {
      switch action {
      case .connect(let request):
        do { attempt = try ConnectionAttempt(gate, request) } catch { throw .broken(error) }
      // Keys are registered by a command of their own.
      case .register: machine.giveUp()
      case .remember: break
      case .sendText(let bytes): try socket?.send(text: String(decoding: bytes, as: UTF8.self))
      case .sendBinary(let bytes): try socket?.send(binary: bytes)
      case .ping: try socket?.ping()
      case .close(let code): try socket?.close(code: code)
      case .abandon: socket = nil
      case .tell(let event): events.append(event)
      }
    } catch {
      // The rest of the actions finds no connection.
      if socket == nil { machine.failed(now: now) } else { lose(error) }
    }
  }
}

extension GateResponse {
  /// In seconds.
  fileprivate var retryAfter: Double? { self[HeaderName.retryAfter].flatMap(Double.init) }
}

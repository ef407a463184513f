/// A gate and a game in memory, that do what a test says: no network, and nothing that waits for time.
#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
public import PortcullisClient
public import PortcullisProtocol

/// Stands in for a gate and the game behind it, as the transport of a `GameSession` and an `AppKey`.
///
/// It registers keys, takes assertions, keeps sessions and what was said in them, and acknowledges what the app sends, as a
/// gate does. It proves nothing: which keys and assertions are good is the gate's own matter.
public final class ScriptedGate: GateTransport {
  package struct State {
    package var gate = GateModel()
    package var faults: Faults
    package var connection: ScriptedConnection?
    package var connections = 0
    /// `Portcullis-Resume` of each upgrade.
    package var resumes: [String?] = []
    /// The assertion's fields of each upgrade.
    package var assertions: [[GateField]] = []
    /// All fields of the last upgrade.
    package var fields: [GateField] = []
    /// Of each request.
    package var requests: [GateRequest] = []
    /// For each request and upgrade from now on; nil: none.
    package var refusals: [GateAnswer?] = []
    package var attempts = 0
    package var mostAttempts = 0
    fileprivate var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Locked<State>

  /// - Parameter faults: of the network.
  public init(faults: Faults = Faults()) {
    state = Locked(State(faults: faults))
  }

  package func look<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

  package var session: GateModel.Session? { look { $0.gate.attached } }
  package var connection: ScriptedConnection? { look { $0.connection } }

  // MARK: What the game does

  /// Text of the game.
  public func say(_ text: String) { say(.binary(text)) }

  /// Data of the game: GMCP.
  /// - Parameters:
  ///   - package: such as `Char.Vitals`.
  ///   - data: the text of one JSON value.
  public func sayGMCP(_ package: String, _ data: String) {
    say(.text(#"{"type":"gmcp","package":"\#(package)","data":\#(data)}"#))
  }

  /// Whether what is typed is hidden from now on.
  public func echo(_ isOn: Bool) { say(.text(#"{"type":"echo","on":\#(isOn)}"#)) }

  /// Ends the stay in the game.
  public func end(_ reason: EndedReason = .gameClosed) {
    say(.text(#"{"type":"ended","reason":"\#(reason.rawValue)"}"#))
    tell(.close(1000))
  }

  // MARK: What the gate and the network do

  /// The next request or upgrade is refused, or several.
  /// - Parameters:
  ///   - code: the value of `Portcullis-Error`.
  ///   - status: of HTTP.
  ///   - retryAfter: in seconds.
  ///   - times: how often.
  public func refuse(_ code: RefusalCode, status: Int, retryAfter: Double? = nil, times: Int = 1) {
    let answer = GateAnswer(
      status: status, code: code.rawValue, retryAfter: retryAfter, trace: "test", body: [])
    look { $0.refusals += [GateAnswer?](repeating: answer, count: times) }
  }

  /// What goes wrong on the way; may be changed at any time.
  public var faults: Faults {
    get { look { $0.faults } }
    set { look { $0.faults = newValue } }
  }

  /// The connection breaks, and what is on its way is lost.
  public func cut() { connection?.abandon() }

  /// Nothing goes through the connection any more, either way, and nobody is told: a network that is silent.
  public func stall() { connection?.stall() }

  /// The gate's process ends and begins anew.
  /// - Parameter keepsSession: whether it finds its sessions again.
  public func restart(keepsSession: Bool) {
    look { state in
      if !keepsSession { state.gate.forgetIDs() }
    }
    cut()
  }

  // MARK: What came

  /// What the game heard in the session that is attached last, in its order.
  public var heard: [String] { session?.taken.filter { !$0.isEmpty } ?? [] }

  /// How many connections there were.
  public var connections: Int { look { $0.connections } }

  /// How many sessions were begun.
  public var sessions: Int { look { $0.gate.sessions.count } }

  /// How many registrations came, the ones that were refused among them.
  public var registrations: Int { look { $0.requests.count { $0.method == "POST" } } }

  /// Returns once the condition holds; looks whenever something has come to the gate.
  public func until(_ condition: @Sendable (ScriptedGate) -> Bool) async {
    while !condition(self) {
      await withCheckedContinuation { continuation in
        look { $0.waiting.append(continuation) }
        if condition(self) { wake() }
      }
    }
  }

  private func wake() {
    let waiting = look { state in
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  // MARK: Frames

  /// Counted, and sent where somebody is attached.
  package func say(_ frame: Frame) {
    look { state in state.connection?.deliver(state.gate.say(frame)) }
  }

  package func acknowledge() {
    look { state in
      if state.gate.attached != nil { state.connection?.deliver([state.gate.acknowledgement()]) }
    }
  }

  /// Not counted.
  package func tell(_ frame: Frame) { connection?.deliver([frame]) }

  // MARK: GateTransport

  package static let nonce = String(repeating: "ab", count: 32)

  /// A challenge, or a registration.
  public func request(_ request: GateRequest) async throws -> GateAnswer {
    await Task.yield()
    defer { wake() }
    return try state.withLock { (state) throws(GateTransportError) in
      state.requests.append(request)
      if let failure = state.faults.failure { throw .failed(failure, "by the test's plan") }
      if !state.refusals.isEmpty, let refusal = state.refusals.removeFirst() { return refusal }
      let isRegistration = request.method == "POST"
      if isRegistration, state.faults.lostRegistrations > 0 {
        state.faults.lostRegistrations -= 1
        throw .failed(.timeout, "the answer is lost by the test's plan")
      }
      let body =
        isRegistration ? #"{"registered":true}"# : #"{"nonce":"\#(Self.nonce)","expires":9000000000000}"#
      return GateAnswer(status: 200, code: nil, retryAfter: nil, body: Array(body.utf8))
    }
  }

  /// A WebSocket in memory.
  public func connect(_ upgrade: GateUpgrade) async throws -> any GateConnection {
    look { state in
      state.attempts += 1
      state.mostAttempts = max(state.attempts, state.mostAttempts)
    }
    await Task.yield()
    defer { wake() }
    return try state.withLock { (state) throws(GateTransportError) in try accept(upgrade, &state) }
  }

  private func accept(
    _ upgrade: GateUpgrade, _ state: inout State
  ) throws(GateTransportError) -> ScriptedConnection {
    state.attempts -= 1
    if let failure = state.faults.failure { throw .failed(failure, "by the test's plan") }
    if !state.refusals.isEmpty, let refusal = state.refusals.removeFirst() {
      throw .refused(
        status: refusal.status, code: refusal.code, retryAfter: refusal.retryAfter, trace: refusal.trace)
    }
    let resume = upgrade.fields.first { $0.name == HeaderName.resume }?.value
    let proof = upgrade.fields.filter { $0.name.hasPrefix(HeaderName.assertionPrefix) }
    if let nonce = proof.last?.value, nonce != Self.nonce, !state.gate.takes(nonce, for: resume) {
      throw .refused(status: 401, code: RefusalCode.nonceInvalid.rawValue, retryAfter: nil, trace: nil)
    }
    state.resumes.append(resume)
    state.assertions.append(proof)
    state.fields = upgrade.fields
    let patience =
      state.faults.cutsAfter.indices.contains(state.connections)
      ? state.faults.cutsAfter[state.connections] : nil
    state.connections += 1
    state.connection?.abandon()
    let connection = ScriptedConnection(self, patience: patience)
    state.connection = connection
    connection.deliver(state.gate.upgrade(resume: resume))
    return connection
  }

  func take(_ message: GateMessage, from connection: ScriptedConnection) {
    look { state in
      guard state.connection === connection else { return }
      let frame: Frame =
        switch message {
        case .text(let text): .text(text)
        case .binary(let bytes): .binary(String(decoding: bytes, as: UTF8.self))
        }
      connection.deliver(state.gate.take(frame))
    }
    wake()
  }
}

/// The owner of a session's machine: gives it what happens, one thing at a time, and does what it asks for.
///
/// Outbound: 1. `send` puts a message into the machine, from any thread; 2. what the machine wants sent is queued, in its
/// order; 3. one task runs these errands. Inbound: 4. a task for each connection reads it, while there is room; 5. what
/// comes goes into the machine; 6. what that tells waits for the app, which takes it by `next`.
internal import PortcullisProtocol

final class SessionOwner: Sendable {
  let clock: GameClock
  private let admission: GateAdmission
  private let memory: SessionMemory
  private let state: Locked<OwnerState>
  private let timer: Locked<(at: Double, task: Task<Void, Never>?)>
  /// Called when anything may have changed, on any thread.
  private let observer = Locked<(@Sendable () -> Void)?>(nil)

  init(_ machine: SessionMachine, clock: GameClock, admission: GateAdmission, memory: SessionMemory) {
    self.clock = clock
    self.admission = admission
    self.memory = memory
    state = Locked(OwnerState(machine))
    timer = Locked((.infinity, nil))
  }

  // MARK: The lock

  /// Something happens to the machine; then what it asks for is done.
  @discardableResult
  private func withState<Result, Failure: Error>(
    _ body: (inout OwnerState, Double) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let now = clock.now()
    let (result, orders, next) = try state.withLock { (state) throws(Failure) in
      let result = try body(&state, now)
      let orders = state.heed()
      return (result, orders, state.machine.nextTime)
    }
    follow(orders)
    if let next { wake(at: next) }
    observer.withLock { $0 }?()
    return result
  }

  private func follow(_ orders: OwnerState.Orders) {
    for connection in orders.abandoned { connection.abandon() }
    for line in orders.pings { ping(line) }
    if orders.registers { Task { await self.register() } }
    if let request = orders.connect { Task { await self.connect(request) } }
  }

  func observe(_ body: @escaping @Sendable () -> Void) {
    observer.withLock { $0 = body }
  }

  func look<Result>(_ body: (SessionMachine) -> Result) -> Result {
    state.withLock { body($0.machine) }
  }

  var waitingEvents: Int { state.withLock { $0.waiting } }
  var isAsked: Bool { state.withLock { $0.isAsked } }

  // MARK: Time

  private func wake(at time: Double) {
    timer.withLock { timer in
      guard time < timer.at else { return }
      timer.task?.cancel()
      let seconds = time - clock.now()
      let sleep = clock.sleep
      timer.at = time
      timer.task = Task { [weak self] in
        do { try await sleep(seconds) } catch { return }
        self?.tick(time)
      }
    }
  }

  private func tick(_ time: Double) {
    timer.withLock { timer in if timer.at == time { timer.at = .infinity } }
    withState { state, now in
      if state.isReadingPaused { state.machine.heard(now: now) }
      state.machine.tick(now: now)
    }
  }

  // MARK: From the app

  func send(_ bytes: [UInt8]) throws(GameInputError) {
    try withState { (state, now) throws(GameInputError) in try state.machine.send(bytes, now: now) }
  }

  func send(gmcp package: String, data: String?) throws(GameInputError) {
    try withState { (state, now) throws(GameInputError) in
      try state.machine.send(gmcp: package, data: data, now: now)
    }
  }

  func send(msdp data: String) throws(GameInputError) {
    try withState { (state, now) throws(GameInputError) in try state.machine.send(msdp: data, now: now) }
  }

  func update(_ change: (inout ClientDescription) -> Void) {
    withState { state, _ in
      var client = state.machine.client
      change(&client)
      state.machine.update(client)
    }
  }

  func change(_ body: (inout SessionMachine, Double) -> Void) {
    withState { state, now in body(&state.machine, now) }
  }

  func wait(for stillness: Stillness) async {
    await withCheckedContinuation { continuation in
      state.withLock { $0.wait(for: stillness, continuation) }
    }
  }

  /// Loses the connection, as a network does that is gone.
  func cut() {
    let line = state.withLock { $0.line }
    guard let line else { return }
    line.connection.abandon()
    lose(line)
  }

  /// Nobody holds the session any more.
  func drop() {
    let orders = state.withLock { $0.drop() }
    timer.withLock { $0.task?.cancel() }
    follow(orders)
  }

  // MARK: To the app

  func next() async -> GameEvent? {
    begin()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        withState { state, now in state.ask(continuation, isCancelled: Task.isCancelled, now: now) }
      }
    } onCancel: {
      state.withLock { $0.stopAsking() }
    }
  }

  private func begin() {
    let isFirst = state.withLock { state in
      defer { state.hasBegun = true }
      return !state.hasBegun
    }
    guard isFirst else { return }
    Task { await self.runErrands() }
    Task {
      await memory.load()
      let remembered = await memory.session
      withState { state, now in
        if let remembered { state.machine.adopt(remembered) }
        state.machine.begin(now: now)
      }
    }
  }

  // MARK: Attempts

  private func connect(_ request: SessionRequest) async {
    do throws(AdmissionFailure) {
      let connection = try await admission.connect(request)
      let line = withState { state, now -> Line? in
        // The end may have come meanwhile, which nobody waits for any longer.
        guard state.machine.end == nil else { return nil }
        let line = state.open(connection)
        state.machine.opened(subprotocol: connection.subprotocol, now: now)
        return line
      }
      if let line { await read(line) } else { connection.abandon() }
    } catch {
      fail(error)
    }
  }

  private func register() async {
    do throws(AdmissionFailure) {
      try await admission.register()
      withState { state, _ in state.machine.registered() }
    } catch {
      fail(error)
    }
  }

  private func fail(_ failure: AdmissionFailure) {
    withState { state, now in
      switch failure {
      case .refused(let status, let code, let retryAfter):
        state.machine.refused(status: status, code: code, retryAfter: retryAfter, now: now)
      case .failed: state.machine.failed(now: now)
      case .unusable: state.machine.giveUp()
      case .keyLost: state.machine.keyLost()
      }
    }
  }

  // MARK: One connection

  private func read(_ line: Line) async {
    while await mayRead(line) {
      do {
        guard take(try await line.connection.receive(), from: line) else { return }
      } catch {
        return lose(line)
      }
    }
  }

  private func mayRead(_ line: Line) async -> Bool {
    await withCheckedContinuation { continuation in
      state.withLock { $0.mayRead(line, continuation) }
    }
  }

  /// - Returns: whether more may come.
  private func take(_ arrival: GateArrival, from line: Line) -> Bool {
    withState { state, now in
      guard state.isCurrent(line) else { return false }
      switch arrival {
      case .message(.text(let text)): state.machine.receive(text: Array(text.utf8), now: now)
      case .message(.binary(let bytes)): state.machine.receive(binary: bytes, now: now)
      case .closed(let code):
        _ = state.take(line)
        state.machine.closed(code: code ?? 1005, now: now)
        return false
      }
      if !state.machine.isTelling { state.markArrival(now: now) }
      return true
    }
  }

  private func lose(_ line: Line) {
    withState { state, now in
      if state.take(line) { state.machine.closed(code: 1006, now: now) }
    }
    line.connection.abandon()
  }

  private func ping(_ line: Line) {
    Task {
      // Where no pong comes the machine gives up by itself.
      do { try await line.connection.ping() } catch { return await give(up: line) }
      withState { state, now in
        if state.isCurrent(line) { state.machine.heard(now: now) }
      }
    }
  }

  // MARK: Errands

  private func runErrands() async {
    while let errand = await nextErrand() {
      switch errand {
      case .send(let message, let line):
        await run(on: line) { () async throws in try await line.connection.send(message) }
      case .close(let code, let line):
        await run(on: line) { () async throws in try await line.connection.close(code: code) }
      case .remember(let session): await memory.remember(session)
      case .tell(let event): state.withLock { $0.tell(event) }
      }
    }
  }

  private func nextErrand() async -> Errand? {
    await withCheckedContinuation { continuation in
      state.withLock { $0.nextErrand(continuation) }
    }
  }

  /// How long the reader has for what the gate said before it stopped listening.
  private static let lastWords = 1.0

  private func run(on line: Line, _ body: () async throws -> Void) async {
    guard state.withLock({ $0.isOpen(line) }) else { return }
    do {
      try await body()
    } catch {
      state.withLock { $0.mute(line) }
      Task { await give(up: line) }
    }
  }

  private func give(up line: Line) async {
    try? await clock.sleep(Self.lastWords)
    lose(line)
  }
}

/// The owner of a session's machine: gives it what happens, one thing at a time, and does what it asks for.
///
/// Outbound: 1. `send` puts a message into the machine, from any thread; 2. what the machine wants sent is queued, in its
/// order; 3. one task runs these errands. Inbound: 4. a task for each connection reads it, while there is room; 5. what
/// comes goes into the machine; 6. what that tells waits for the app, which takes it by `next`.
internal import PortcullisProtocol

final class SessionOwner: Sendable {
  /// A type of its own: a function that stands in a generic place by itself is wrapped anew whenever it is looked at, once
  /// for each event of a session's life.
  private struct Observer {
    var body: (@Sendable () -> Void)?
  }

  let clock: GameClock
  let admission: GateAdmission
  let memory: SessionMemory
  /// Asked for when the session begins: what watches the network goes with it.
  private let pathChanges: @Sendable () -> AsyncStream<Void>?
  let state: Locked<OwnerState>
  private let timer: Locked<(at: Double, task: Task<Void, Never>?)>
  private let name: SessionName
  private let pathWatch = Locked<Task<Void, Never>?>(nil)
  /// Called when anything may have changed, on any thread.
  private let observer = Locked(Observer())

  init(
    _ machine: SessionMachine, clock: GameClock, admission: GateAdmission, memory: SessionMemory,
    name: SessionName, pathChanges: @escaping @Sendable () -> AsyncStream<Void>?
  ) {
    self.clock = clock
    self.admission = admission
    self.memory = memory
    self.name = name
    self.pathChanges = pathChanges
    state = Locked(OwnerState(machine))
    timer = Locked((.infinity, nil))
  }

  // MARK: The lock

  /// Something happens to the machine; then what it asks for is done.
  @discardableResult
  func withState<Result, Failure: Error>(
    _ body: (inout OwnerState, Double) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let now = clock.now()
    let (result, orders, next) = try state.withLock { (state) throws(Failure) in
      let result = try body(&state, now)
      let orders = state.heed(now: now, wall: clock.wall())
      return (result, orders, state.machine.nextTime)
    }
    follow(orders)
    if let next { wake(at: next) }
    observer.withLock { $0.body }?()
    return result
  }

  private func follow(_ orders: OwnerState.Orders) {
    for connection in orders.abandoned { connection.abandon() }
    for line in orders.pings { ping(line) }
    if orders.recalls { Task { await self.recall() } }
    if let failure = orders.renewsKey { Task { await self.renewKey(because: failure) } }
    if let request = orders.connect { Task { await self.connect(request) } }
  }

  func observe(_ body: @escaping @Sendable () -> Void) {
    observer.withLock { $0.body = body }
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
      timer.at = time
      timer.task = Task { [weak self, clock] in
        do { try await clock.sleep(until: time) } catch { return }
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
    // The end is told even where nobody has asked for an event.
    begin()
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
    rest()
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
    guard name.take() else {
      let failure = GameFailure(.nameInUse, detail: "another session of this process is called \(name.text)")
      return withState { state, _ in state.machine.giveUp(failure) }
    }
    watchPath()
    Task { await self.recall() }
  }

  private func watchPath() {
    guard let pathChanges = pathChanges() else { return }
    let task = Task { [weak self] in
      for await _ in pathChanges {
        guard let self else { return }
        self.change { machine, now in machine.networkChanged(now: now) }
      }
    }
    pathWatch.withLock { $0 = task }
  }

  /// The session is over: another one may have its name.
  func rest() {
    name.giveBack()
    pathWatch.withLock { $0?.cancel() }
  }

  private func recall() async {
    let found = await memory.load()
    withState { state, now in
      switch found {
      case .locked: state.machine.cannotRecall(now: now)
      case .later:
        state.machine.giveUp(
          GameFailure(.storage, detail: "the session was saved by a later version of the app"))
      case .session(let remembered):
        if let remembered { state.machine.adopt(remembered) }
        state.machine.begin(now: now)
      }
    }
  }
}

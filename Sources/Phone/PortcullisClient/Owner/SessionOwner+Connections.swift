/// Attempts to connect, one connection's reading and writing, and what else the machine wants done.
extension SessionOwner {
  // MARK: Attempts

  func connect(_ request: SessionRequest) async {
    do throws(AdmissionFailure) {
      let connection = try await admission.connect(request) { [self] in look { !$0.isAway } }
      let line = withState { state, now -> Line? in
        // The end may have come meanwhile.
        guard state.machine.end == nil, !state.isOver else { return nil }
        let line = state.open(connection)
        state.machine.opened(subprotocol: connection.subprotocol, now: now)
        return line
      }
      if let line { await read(line) } else { connection.abandon() }
    } catch {
      fail(error)
    }
  }

  func renewKey(because failure: GameFailure) async {
    let isRenewed = await admission.renewKey(because: failure)
    withState { state, _ in isRenewed ? state.machine.renewed() : state.machine.giveUp(failure) }
  }

  private func fail(_ failure: AdmissionFailure) {
    let wall = clock.wall()
    withState { state, now in
      switch failure {
      case .refused(let refusal): state.machine.refused(refusal, now: now)
      case .failed(let failure): state.machine.failed(failure, now: now)
      case .waits(let until, let failure):
        state.machine.waits(until: until.map { now + max(0, $0 - wall) }, failure, now: now)
      case .final(let failure): state.machine.giveUp(failure)
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
        if code == 1007 { CompressionTrust.lose() }
        state.machine.closed(code: code ?? 1005, now: now)
        return false
      }
      if !state.machine.isTelling { state.markArrival(now: now) }
      return true
    }
  }

  func lose(_ line: Line) {
    withState { state, now in
      if state.take(line) { state.machine.closed(code: 1006, now: now) }
    }
    line.connection.abandon()
  }

  func ping(_ line: Line) {
    Task {
      // Where no pong comes the machine gives up by itself.
      do { try await line.connection.ping() } catch { return await give(up: line) }
      withState { state, now in
        if state.isCurrent(line) { state.machine.ponged(now: now) }
      }
    }
  }

  // MARK: Errands

  func runErrands() async {
    while let errand = await nextErrand() {
      switch errand {
      case .send(let message, let line):
        await run(on: line) { () async throws in try await line.connection.send(message) }
      case .close(let code, let line):
        await run(on: line) { () async throws in try await line.connection.close(code: code) }
      case .remember(let session): await memory.remember(session)
      case .tell(let event):
        if case .state(.ended) = event { rest() }
        state.withLock { $0.tell(event) }
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

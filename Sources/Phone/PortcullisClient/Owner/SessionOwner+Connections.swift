/// Attempts to connect, one connection's reading and writing, and what else the machine wants done.
extension SessionOwner {
  // MARK: Attempts

  func connect(_ request: SessionRequest) async {
    do throws(AdmissionFailure) {
      let connection = try await admission.connect(request)
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

  func register() async {
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
        if state.isCurrent(line) { state.machine.heard(now: now) }
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

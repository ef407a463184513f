/// One thread of a load test: registers its devices, has them admitted in turn, and sends messages round its
/// sessions, waiting for the other threads between these parts.
internal import Bytes
internal import Device
internal import Dialing
internal import Time

struct BenchWorker: ~Copyable {
  /// What all threads of one test have in common.
  struct Common: Sendable {
    let plan: BenchPlan
    let authority: TestAttestationAuthority
    let barrier: Barrier
    let progress: BenchProgress
  }

  private let number: Int
  private let common: Common
  private let client: Result<GateClient, GateClientError>
  private let clock = SystemClock()
  private var apps: [SimulatedApp] = []
  private var turns = 0
  private(set) var result = BenchResult()

  /// For registering, and for opening the sessions, each: a gate's REGISTER_RATE as it comes lets 700
  /// keys in meanwhile. What is refused after that counts as failed.
  private static let setUpPatience: Duration = .seconds(300)

  init(_ number: Int, _ common: Common) {
    self.number = number
    self.common = common
    client = Result { () throws(GateClientError) in
      try GateClient(common.plan.url, trust: common.plan.trust, timeout: .seconds(common.plan.timeoutSeconds))
    }
  }

  /// This thread's part of `total` things.
  private func share(of total: Int) -> Int {
    let workers = common.plan.workers
    return total / workers + (number < total % workers ? 1 : 0)
  }

  mutating func run() {
    register()
    admit()
    echo()
  }

  // MARK: Registrations

  private mutating func register() {
    let start = common.barrier.arrive(.registering, rate: 0)
    let patience = start.at + Self.setUpPatience
    for _ in 0..<share(of: common.plan.devices) {
      do throws(GateClientError) {
        apps.append(try registered(start.pace, until: patience))
        common.progress.count()
      } catch {
        result.fail(error)
      }
    }
    result.registration.elapsed = clock.monotonic() - start.at
  }

  private mutating func registered(_ pace: Pace, until patience: MonotonicTime) throws(GateClientError)
    -> SimulatedApp
  {
    let enclave: SoftwareEnclave
    do {
      enclave = try .generate(appID: common.plan.appID, environment: common.plan.environment)
    } catch {
      throw .device(error)
    }
    let app = SimulatedApp(try client.get(), enclave)
    while true {
      clock.sleep(until: pace.turn(now: clock.monotonic()))
      do throws(GateClientError) {
        let challenge = try app.challenge()
        let attestation: [UInt8]
        do {
          attestation = try enclave.attest(
            clientDataHash: challenge.clientDataHash, by: common.authority, now: clock.wall())
        } catch {
          throw .device(error)
        }
        let sent = clock.monotonic()
        let response = try app.register(attestation, for: challenge)
        guard response.status == 200 else { throw .refused(response) }
        result.registration.latency.record(clock.monotonic() - sent)
        return app
      } catch {
        guard wait(after: error, pace, until: patience) else { throw error }
      }
    }
  }

  /// Whether the gate only wants to be asked later, and that is soon enough; all threads heed it.
  private mutating func wait(
    after error: GateClientError, _ pace: Pace, until patience: MonotonicTime
  ) -> Bool {
    guard let seconds = error.retryAfter else { return false }
    let moment = clock.monotonic() + .seconds(seconds)
    guard moment < patience else { return false }
    result.throttled[error.code, default: 0] += 1
    pace.hold(until: moment)
    return true
  }

  // MARK: Admissions

  private mutating func admit() {
    let start = common.barrier.arrive(.admitting, rate: common.plan.rate)
    let end = start.at + .seconds(common.plan.seconds)
    while let app = nextApp() {
      let due = start.pace.turn(now: clock.monotonic())
      // A gate that asks for patience beyond the end has said all there is to hear.
      guard due < end else { break }
      clock.sleep(until: due)
      // Without a rate there is nothing to be late for.
      let begun = common.plan.rate > 0 ? due : clock.monotonic()
      guard clock.monotonic() < end else { break }
      do throws(GateClientError) {
        let socket = try admitted(app, due: begun)
        common.progress.count()
        try socket.closeAndWait()
      } catch {
        if wait(after: error, start.pace, until: MonotonicTime(nanoseconds: .max)) { continue }
        result.fail(error)
        // A gate that is gone is not asked as fast as the kernel can say so.
        clock.sleep(until: clock.monotonic() + .milliseconds(100))
      }
    }
    result.admission.elapsed = clock.monotonic() - start.at
  }

  /// Its devices one after the other, as a key's assertions have to come in the order of their counters.
  private mutating func nextApp() -> SimulatedApp? {
    if apps.isEmpty { return nil }
    turns += 1
    return apps[turns % apps.count]
  }

  private mutating func admitted(_ app: SimulatedApp, due: MonotonicTime) throws(GateClientError)
    -> WebSocketClient
  {
    let asked = clock.monotonic()
    let challenge = try app.challenge()
    let answered = clock.monotonic()
    let headers = try app.admission(for: challenge)
    let sent = clock.monotonic()
    let socket = try app.client.connectWebSocket(fields: headers.fields)
    let done = clock.monotonic()
    result.challenge.record(answered - asked)
    result.upgrade.record(done - sent)
    result.admission.latency.record(done - due)
    return socket
  }

  // MARK: Messages

  private mutating func echo() {
    let opening = common.barrier.arrive(.opening, rate: common.plan.rate)
    var sessions: [EchoSession] = []
    let patience = opening.at + Self.setUpPatience
    for _ in 0..<share(of: common.plan.sessions) {
      guard let app = nextApp() else { break }
      if let session = opened(app, opening.pace, until: patience) { sessions.append(session) }
    }
    result.sessionsOpened = sessions.count

    let start = common.barrier.arrive(.echoing, rate: common.plan.messageRate)
    let end = start.at + .seconds(common.plan.seconds)
    var turn = 0
    while !sessions.isEmpty {
      let due = start.pace.turn(now: clock.monotonic())
      guard due < end else { break }
      clock.sleep(until: due)
      guard clock.monotonic() < end else { break }
      turn = (turn + 1) % sessions.count
      let begun = common.plan.messageRate > 0 ? due : clock.monotonic()
      do throws(EchoFailure) {
        try sessions[turn].roundTrip(within: .seconds(common.plan.timeoutSeconds))
        result.echo.latency.record(clock.monotonic() - begun)
        common.progress.count()
      } catch {
        result.fail(error.code, error.description)
        sessions.remove(at: turn)
      }
    }
    result.echo.elapsed = clock.monotonic() - start.at
    for session in sessions { session.end() }
  }

  private mutating func opened(
    _ app: SimulatedApp, _ pace: Pace, until patience: MonotonicTime
  ) -> EchoSession? {
    while true {
      clock.sleep(until: pace.turn(now: clock.monotonic()))
      do throws(GateClientError) {
        let session = EchoSession(try app.connect(), common.plan.messageBytes)
        common.progress.count()
        return session
      } catch {
        if wait(after: error, pace, until: patience) { continue }
        result.fail(error)
        return nil
      }
    }
  }
}

/// What an app's own tests see: a gate, App Attest, a storage and a clock that do what a test says.
import FoundationEssentials
import PortcullisProtocol
import PortcullisTesting
import Testing

@testable import PortcullisClient

@Suite(.timeLimit(.minutes(3))) struct ScriptedGateTests {
  private let gate = ScriptedGate()
  private let clock = TestClock()
  private let appAttest = ScriptedAppAttest()
  private let storage = ScriptedStorage()

  private func session(_ options: GameOptions = GameOptions(inputPatience: nil)) throws -> GameSession {
    let url = try #require(URL(string: "https://play.example.com:8443"))
    let key = AppKey(
      gate: url, transport: gate, attestor: appAttest, storage: storage, clock: clock.clock, log: options.log)
    return GameSession(
      gate: url, client: ClientDescription(name: "Test"), transport: gate, key: key, storage: storage,
      options: options, clock: clock.clock)
  }

  /// Until this event has come; others before it are passed over.
  private func next(
    _ events: inout GameEvents.AsyncIterator, where fits: (GameEvent) -> Bool
  ) async throws -> GameEvent {
    while let event = await events.next() { if fits(event) { return event } }
    throw CancellationError()
  }

  @Test func aPlayerComesBack() async throws {
    let session = try session()
    var events = session.events.makeAsyncIterator()
    #expect(await events.next() == .state(.connecting))
    #expect(await events.next() == .state(.attached(isResumed: false)))
    gate.say("You are in a hall.")
    gate.sayGMCP("Char.Vitals", #"{"hp":7}"#)
    _ = try await next(&events) { $0 == .text("You are in a hall.") }
    #expect(await events.next() == .gmcp(package: "Char.Vitals", data: #"{"hp":7}"#, isAgain: false))
    try session.send("north")
    await gate.until { $0.heard == ["north\n"] }
    gate.cut()
    let waiting = try await next(&events) { if case .state(.waiting) = $0 { true } else { false } }
    guard case .state(.waiting(_, let why)) = waiting else { return }
    #expect(why.kind == .unreachable)
    clock.advance(by: 2)
    _ = try await next(&events) { $0 == .state(.attached(isResumed: true)) }
    #expect(gate.connections == 2 && gate.sessions == 1 && appAttest.keys == 1)
    gate.end()
    #expect(
      try await next(&events) { if case .state(.ended) = $0 { true } else { false } }
        == .state(.ended(.byGate(.known(.gameClosed)))))
  }

  // MARK: Back in one handshake

  /// The nonce that came with the session stands in place of a challenge: one request less.
  @Test func comingBackNeedsNoChallenge() async throws {
    let session = try session()
    var events = session.events.makeAsyncIterator()
    _ = try await next(&events) { $0 == .state(.attached(isResumed: false)) }
    let before = gate.look { $0.requests.count }
    #expect(before == 3)
    gate.cut()
    _ = try await next(&events) { if case .state(.waiting) = $0 { true } else { false } }
    clock.advance(by: 2)
    _ = try await next(&events) { $0 == .state(.attached(isResumed: true)) }
    #expect(gate.look { $0.requests.count } == before)
    let nonces = gate.look { $0.assertions.map { $0.last?.value } }
    #expect(nonces.count == 2 && nonces[0] == ScriptedGate.nonce && nonces[1] != ScriptedGate.nonce)
    // And after another start of the app: what was saved has it.
    session.finish(whenSent: false)
  }

  @Test func anotherStartComesBackWithoutAChallengeToo() async throws {
    var first: GameSession? = try session()
    var events = first?.events.makeAsyncIterator()
    while let event = await events?.next() { if event == .state(.attached(isResumed: false)) { break } }
    try await eventually("it is saved") { await storage.session != nil }
    events = nil
    first = nil
    let requests = gate.look { $0.requests.count }
    let again = try session()
    var more = again.events.makeAsyncIterator()
    _ = try await next(&more) { $0 == .state(.attached(isResumed: true)) }
    #expect(gate.look { $0.requests.count } == requests)
  }

  /// A gate that knows nothing of the session any more: a challenge is fetched, and a new session begins.
  @Test func anOldNonceIsGivenUp() async throws {
    let session = try session()
    var events = session.events.makeAsyncIterator()
    _ = try await next(&events) { $0 == .state(.attached(isResumed: false)) }
    gate.restart(keepsSession: false)
    _ = try await next(&events) { if case .state(.waiting) = $0 { true } else { false } }
    clock.advance(by: 2)
    _ = try await next(&events) { $0 == .state(.attached(isResumed: false)) }
    #expect(gate.sessions == 2 && gate.look { $0.requests.count } == 4 && appAttest.keys == 1)
  }

  // MARK: Faults

  @Test func aSilentNetworkShowsAndIsLeft() async throws {
    let session = try session()
    var events = session.events.makeAsyncIterator()
    _ = try await next(&events) { $0 == .state(.attached(isResumed: false)) }
    gate.stall()
    try session.send("north")
    let begun = clock.now
    clock.advance(by: 2)
    try await eventually("it is asked") { session.owner.look { $0.pingedAt != nil } }
    clock.advance(by: 3)
    _ = try await next(&events) { $0 == .answering(false) }
    #expect(!session.isAnswering && clock.now - begun == 5)
    clock.advance(by: 12)
    let waiting = try await next(&events) { if case .state(.waiting) = $0 { true } else { false } }
    if case .state(.waiting(_, let why)) = waiting { #expect(why.kind == .timeout) }
    clock.advance(by: 2)
    #expect(try await next(&events) { if case .answering = $0 { true } else { false } } == .answering(true))
    #expect(await events.next() == .state(.attached(isResumed: true)))
    await gate.until { $0.heard == ["north\n"] }
  }

  @Test func pinsThatDoNotMatchWaitForThePlayer() async throws {
    gate.faults.failure = .pinMismatch
    let session = try session()
    var events = session.events.makeAsyncIterator()
    let waiting = try await next(&events) { if case .state(.waiting) = $0 { true } else { false } }
    guard case .state(.waiting(.distantFuture, let why)) = waiting else {
      Issue.record("\(waiting)")
      return
    }
    #expect(why.kind == .pinMismatch)
    gate.faults.failure = nil
    session.retry()
    _ = try await next(&events) { $0 == .state(.attached(isResumed: false)) }
  }

  @Test func lostAnswersToARegistrationCostNoKey() async throws {
    gate.faults.lostRegistrations = 5
    let session = try session()
    let player = Player(session)
    try await eventually("it plays") {
      clock.advance(by: 30)
      return session.isAttached
    }
    #expect(appAttest.keys == 1 && gate.registrations == 6)
    player.stop()
  }

  /// The app has its say: off for good, and off for the process once a message could not be read.
  @Test func compressionIsDeclinedInTheUpgrade() async throws {
    let session = try session(GameOptions(inputPatience: nil, compression: .off))
    var events = session.events.makeAsyncIterator()
    _ = try await next(&events) { $0 == .state(.attached(isResumed: false)) }
    #expect(gate.look { $0.fields }.contains(GateField(HeaderName.compression, "off")))
  }

  @Test func refusalsAreByPlan() async throws {
    gate.refuse(.overloaded, status: 503, retryAfter: 9, times: 2)
    let session = try session()
    var events = session.events.makeAsyncIterator()
    for _ in 0..<2 {
      let waiting = try await next(&events) { if case .state(.waiting) = $0 { true } else { false } }
      guard case .state(.waiting(let until, let why)) = waiting else { return }
      #expect(why.code == .overloaded && why.trace == "test")
      #expect((9...11.1).contains(until.timeIntervalSince1970 - clock.clock.wall()))
      clock.advance(by: 12)
    }
    _ = try await next(&events) { $0 == .state(.attached(isResumed: false)) }
  }
}

@Suite struct GameEventCodingTests {
  private struct Vitals: Codable, Equatable {
    var hp: Int
    var name: String?
  }

  @Test func dataBecomesAValue() throws {
    let text = #"{"hp":7,"later":true}"#
    for event in [
      GameEvent.gmcp(package: "Char.Vitals", data: text, isAgain: false), .msdp(text, isAgain: true),
      .mssp(text, isAgain: false),
    ] {
      #expect(try event.decode(Vitals.self) == Vitals(hp: 7))
    }
    for event in [GameEvent.text("x"), .prompt, .gmcp(package: "Core.Ping", data: nil, isAgain: false)] {
      #expect(try event.decode(Vitals.self) == nil)
    }
    for text in [#"{"hp":"seven"}"#, "[]", "", #"{"hp":1e99}"#] {
      #expect(throws: GameInputError.malformed) {
        try GameEvent.gmcp(package: "Char.Vitals", data: text, isAgain: false).decode(Vitals.self)
      }
    }
  }
}

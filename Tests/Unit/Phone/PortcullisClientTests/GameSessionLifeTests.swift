/// How a session gets in, how it stops and goes on, and what another start of the app knows of it.
import FoundationEssentials
import PortcullisProtocol
import Testing
import PortcullisTesting

@testable import PortcullisClient

@Suite(.timeLimit(.minutes(3))) struct GameSessionLifeTests {
  private static func refusal(_ status: Int, _ code: String, retryAfter: Double? = nil) -> GateAnswer {
    GateAnswer(status: status, code: code, retryAfter: retryAfter, body: [])
  }

  // MARK: Getting in

  @Test func aKeyIsRegisteredWhereThereIsNone() async throws {
    let gate = ScriptedGate()
    let attestor = ScriptedAppAttest()
    let storage = MemoryStorage()
    let player = Player(try Player.session(gate, attestor: attestor, storage: storage))
    try await eventually("a session begins") { player.session.isAttached }
    #expect(attestor.calls == ["make", "attest 1", "assert 1"])
    let requests = gate.look { $0.requests }
    #expect(
      requests.map { "\($0.method) \($0.url.absoluteString)" } == [
        "GET https://play.example.com:8443/attest/challenge?purpose=register&key=\(ScriptedAppAttest.query(1))",
        "POST https://play.example.com:8443/attest/register",
        "GET https://play.example.com:8443/attest/challenge",
      ])
    #expect(
      requests[1].body.map { String(decoding: $0, as: UTF8.self) }
        == #"{"keyId":"\#(ScriptedAppAttest.key(1))","attestation":"AQI=","clientData":"\#(ScriptedGate.nonce)"}"#
    )
    #expect(
      gate.look { $0.assertions } == [
        [
          GateField("X-App-Assert-KeyId", ScriptedAppAttest.key(1)), GateField("X-App-Assert-Data", "Aw=="),
          GateField("X-App-Assert-Nonce", ScriptedGate.nonce),
        ]
      ])
    #expect(await storage.keyRecord?.key?.id == ScriptedAppAttest.key(1))
    // Once is enough: each connection has an assertion of its own.
    gate.cut()
    try await eventually("another connection") { gate.look { $0.connections } == 2 }
    #expect(attestor.calls.count == 4 && attestor.calls.last == "assert 1")
  }

  /// The challenge outlives 429 and 503, and a key cannot be attested twice.
  @Test func aRegistrationThatHasToWaitGoesOutAgain() async throws {
    let gate = ScriptedGate()
    let attestor = ScriptedAppAttest()
    gate.look { state in
      state.refusals = [
        nil, Self.refusal(429, "rate_limited", retryAfter: 2), Self.refusal(503, "store_unavailable"),
      ]
    }
    let player = Player(try Player.session(gate, attestor: attestor))
    try await eventually("a session begins") { player.session.isAttached }
    #expect(attestor.calls == ["make", "attest 1", "assert 1"])
    let bodies = gate.look { $0.requests.compactMap(\.body) }
    #expect(bodies.count == 3 && Set(bodies).count == 1)
  }

  @Test func aKeyThatTheGateDoesNotKnowIsReplaced() async throws {
    let gate = ScriptedGate()
    let attestor = ScriptedAppAttest()
    let storage = Player.storage(keyID: ScriptedAppAttest.key(99))
    gate.look { $0.refusals = [nil, Self.refusal(401, "key_unknown")] }
    let player = Player(try Player.session(gate, attestor: attestor, storage: storage))
    try await eventually("a session begins") { player.session.isAttached }
    #expect(attestor.calls == ["assert 99", "make", "attest 1", "assert 1"])
    #expect(await storage.keyRecord?.key?.id == ScriptedAppAttest.key(1))
  }

  @Test func aKeyThatIsGoneIsReplaced() async throws {
    let gate = ScriptedGate()
    let attestor = ScriptedAppAttest()
    attestor.fail(3)
    let storage = Player.storage(keyID: ScriptedAppAttest.key(99))
    let player = Player(try Player.session(gate, attestor: attestor, storage: storage))
    try await eventually("a session begins") { player.session.isAttached }
    #expect(attestor.calls == ["assert 99", "make", "attest 1", "assert 1"])
  }

  @Test func whereThereIsNoAppAttest() async throws {
    let attestor = ScriptedAppAttest()
    attestor.isSupported = false
    let player = Player(try Player.session(ScriptedGate(), attestor: attestor))
    try await eventually("the end") { player.end?.failure?.kind == .unsupported }
    #expect(attestor.calls == [])
    let none = Player(try Player.session(ScriptedGate()))
    try await eventually("without an assertion") { none.session.isAttached }
  }

  @Test func aFinalRefusal() async throws {
    let gate = ScriptedGate()
    gate.look { $0.refusals = [Self.refusal(403, "key_revoked")] }
    let player = Player(try Player.session(gate))
    try await eventually("the end") { player.end?.failure?.code == .keyRevoked }
  }

  /// What the gate asks for is waited for, whatever the network does meanwhile.
  @Test func theGatesPauseIsObeyed() async throws {
    let gate = ScriptedGate()
    gate.look { $0.refusals = [Self.refusal(503, "overloaded", retryAfter: 5)] }
    let player = Player(try Player.session(gate))
    let begun = Player.fastClock.now()
    try await eventually("it waits") {
      player.events.contains { if case .state(.waiting) = $0 { true } else { false } }
    }
    while !player.session.isAttached {
      player.session.pathChanged()
      await Task.yield()
    }
    #expect(Player.fastClock.now() - begun >= 5)
    #expect(gate.look { $0.mostAttempts } == 1)
  }

  // MARK: Another start

  @Test func anotherStartComesBack() async throws {
    let gate = ScriptedGate()
    let storage = MemoryStorage()
    var player: Player? = Player(try Player.session(gate, storage: storage))
    try await eventually("a session begins") { player?.session.isAttached == true }
    try player?.session.send("before")
    for number in 0..<40 { gate.say(.binary("text \(number)")) }
    try await eventually("both ways") {
      gate.session?.heard == ["before\n"] && gate.session?.acknowledged == 40
    }
    let saved = try #require(await storage.session)
    #expect(saved.id.count == 22 && saved.received == 40)
    let first = try #require(gate.connection)
    player?.stop()
    player = nil
    try await eventually("nobody holds it") { first.isLost }
    gate.say(.binary("text 40"))
    let again = Player(try Player.session(gate, storage: storage))
    try await eventually("the rest") { again.shown == ["text 40"] }
    #expect(gate.look { $0.resumes.last } == "\(saved.id);received=40;state")
    #expect(again.events.contains(.gmcp(package: "Char.Vitals", data: "0", isAgain: true)))
    try again.session.send("after")
    try await eventually("what is typed") { gate.session?.heard == ["before\n", "after\n"] }
    #expect(gate.look { $0.gate.sessions.count } == 1)
  }

  @Test func whatIsOverIsNotComeBackTo() async throws {
    let gate = ScriptedGate()
    let storage = MemoryStorage()
    let player = Player(try Player.session(gate, storage: storage, clock: .system))
    try await eventually("a session begins") { player.session.isAttached }
    try await eventually("it is remembered") { await storage.session != nil }
    await player.session.close()
    #expect(gate.connection?.closes == [1000])
    try await eventually("the end") { player.end == .byApp }
    #expect(await storage.session == nil)
  }

  @Test func whoLeavesCanComeBack() async throws {
    let gate = ScriptedGate()
    let storage = MemoryStorage()
    let player = Player(try Player.session(gate, storage: storage, clock: .system))
    try await eventually("a session begins") { player.session.isAttached }
    let leaving = Task { await player.session.leave() }
    try await eventually("the gate is told") { gate.session?.taken == [#"{"type":"leave"}"#] }
    gate.tell(.close(4000))
    await leaving.value
    try await eventually("the end") { player.end == .left }
    #expect(await storage.session != nil)
  }

  // MARK: Background

  @Test func nothingIsTriedInTheBackground() async throws {
    let gate = ScriptedGate()
    let player = Player(try Player.session(gate, clock: .system))
    try await eventually("a session begins") { player.session.isAttached }
    gate.say(.binary("one"))
    try await eventually("it is shown") { player.shown == ["one"] }
    let connection = try #require(gate.connection)
    await player.session.enterBackground().value
    #expect(connection.closes == [1001] && gate.session?.acknowledged == 1)
    try await eventually("it says so") { player.events.last?.isSleep == true }
    gate.say(.binary("two"))
    for _ in 0..<20 {
      player.session.pathChanged()
      await Task.yield()
    }
    #expect(gate.look { $0.connections } == 1)
    player.session.enterForeground()
    try await eventually("the rest") { player.shown == ["one", "two"] }
    #expect(gate.look { $0.connections } == 2)
  }

  // MARK: The consumer

  @Test func aConsumerThatStopsAndAnotherOne() async throws {
    let gate = ScriptedGate()
    let player = Player(try Player.session(gate))
    try await eventually("a session begins") { player.session.isAttached && player.events.count == 3 }
    player.stop()
    try await eventually("nobody asks") { !player.session.owner.isAsked }
    gate.say(.binary("one"))
    gate.say(.binary("two"))
    let other = Player(player.session)
    try await eventually("what has waited") { other.events == [.text("one"), .text("two")] }
  }

  @Test func aGateThatIsNoURLOfOne() async throws {
    for text in ["http://play.example.com", "mailto:x@example.com", "wss:///game"] {
      let gate = try #require(URL(string: text))
      let session = GameSession(
        gate: gate, client: ClientDescription(), transport: ScriptedGate(), key: nil, storage: MemoryStorage()
      )
      let player = Player(session)
      try await eventually("the end") { player.end?.failure?.kind == .unusable }
    }
  }
}

extension GameEnd {
  var failure: GameFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

extension GameEvent {
  /// There is no connection, and nothing is tried before something happens.
  var isSleep: Bool { if case .state(.waiting(.distantFuture, _)) = self { true } else { false } }
}

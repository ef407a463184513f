/// One key for a process and gate: assertions in turn, whoever asks, and names that are not used twice.
import FoundationEssentials
import PortcullisProtocol
import Testing
import PortcullisTesting

@testable import PortcullisClient

@Suite(.timeLimit(.minutes(3))) struct AppKeyTests {
  private static let url = "https://play.example.com:8443/game"

  private static func key(
    _ gate: ScriptedGate, _ attestor: ScriptedAppAttest, storage: any GameStorage = MemoryStorage(),
    clock: GameClock = Player.fastClock
  ) throws -> AppKey {
    AppKey(
      gate: try #require(URL(string: url)), transport: gate, attestor: attestor, storage: storage,
      clock: clock)
  }

  private static func session(_ gate: ScriptedGate, _ key: AppKey, name: String) throws -> GameSession {
    GameSession(
      gate: try #require(URL(string: url)), client: ClientDescription(), name: name, transport: gate,
      key: key,
      storage: MemoryStorage(), options: GameOptions(inputPatience: nil), clock: Player.fastClock)
  }

  /// Many ask at once: one key is made, and each assertion is answered before the next one is made.
  @Test func assertionsAreMadeInTurn() async throws {
    let attestor = ScriptedAppAttest()
    let key = try Self.key(ScriptedGate(), attestor)
    let under = Locked((now: 0, most: 0, done: 0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<100 {
        group.addTask {
          let assertion = try await key.assertion()
          under.withLock { state in
            state.now += 1
            state.most = max(state.most, state.now)
          }
          await Task.yield()
          under.withLock { state in
            state.now -= 1
            state.done += 1
          }
          await key.answered(assertion, isAccepted: true)
        }
      }
      try await group.waitForAll()
    }
    #expect(under.withLock { $0.most } == 1 && under.withLock { $0.done } == 100)
    #expect(attestor.keys == 1 && attestor.calls.count == 102)
  }

  /// A request that is never answered keeps the others waiting for 15 seconds, not for ever.
  @Test func aLeaseEndsByItself() async throws {
    let key = try Self.key(ScriptedGate(), ScriptedAppAttest())
    let begun = Player.fastClock.now()
    let lost = try await key.assertion()
    let next = try await key.assertion()
    #expect(Player.fastClock.now() - begun >= AppKey.leaseTime)
    // Too late, and nobody's turn is taken by it.
    await key.answered(lost, isAccepted: true)
    await key.answered(next, isAccepted: true)
    _ = try await key.assertion()
  }

  /// An error gives the turn back.
  @Test func aFailureGivesTheTurnBack() async throws {
    let gate = ScriptedGate()
    let attestor = ScriptedAppAttest()
    let key = try Self.key(gate, attestor, storage: Player.storage(keyID: ScriptedAppAttest.key(99)))
    attestor.fail(4)
    await #expect(throws: AdmissionFailure.self) { try await key.assertion() }
    gate.look { $0.refusals = [GateAnswer(status: 503, code: "overloaded", retryAfter: 3, body: [])] }
    await #expect(
      throws: AdmissionFailure.refused(GateRefusal(status: 503, code: "overloaded", retryAfter: 3))
    ) {
      try await key.assertion()
    }
    #expect(try await key.assertion().keyID == ScriptedAppAttest.key(99))
  }

  @Test func aNonceOfTheGatesNeedsNoChallenge() async throws {
    let gate = ScriptedGate()
    let key = try Self.key(
      gate, ScriptedAppAttest(), storage: Player.storage(keyID: ScriptedAppAttest.key(99)))
    let nonce = String(repeating: "cd", count: 32)
    #expect(try await key.assertion(over: .nonce(nonce)).nonce == nonce)
    #expect(gate.look { $0.requests } == [])
  }

  // MARK: Several sessions

  @Test func twoSessionsShareOneKey() async throws {
    let attestor = ScriptedAppAttest()
    let (first, second) = (ScriptedGate(), ScriptedGate())
    let key = try Self.key(first, attestor)
    let players = [
      Player(try Self.session(first, key, name: "main")),
      Player(try Self.session(second, key, name: "other")),
    ]
    try await eventually("both play") { players.allSatisfy { $0.session.isAttached } }
    #expect(attestor.keys == 1)
    let ids = [first, second].flatMap { gate in gate.look { $0.assertions.map { $0[0].value } } }
    #expect(Set(ids) == [ScriptedAppAttest.key(1)])
  }

  @Test func aNameIsUsedOnce() async throws {
    let gate = ScriptedGate()
    let key = try Self.key(gate, ScriptedAppAttest())
    let first = Player(try Self.session(gate, key, name: "main"))
    try await eventually("it plays") { first.session.isAttached }
    let second = Player(try Self.session(ScriptedGate(), key, name: "main"))
    try await eventually("its end") { second.end?.failure?.kind == .nameInUse }
    #expect(first.session.isAttached)
    // Once that one is over, another may have it.
    let closing = Task { await first.session.close() }
    await closing.value
    try await eventually("the end") { first.end == .byApp }
    let third = Player(try Self.session(ScriptedGate(), key, name: "main"))
    try await eventually("it plays") { third.session.isAttached }
  }

  /// Written by a later version of the app: nothing is made, and nothing is written over it.
  @Test func whatALaterVersionSavedIsLeftAlone() async throws {
    let later = Array(#"{"v":2}"#.utf8)
    for entry in [Player.keyEntry, Player.sessionEntry] {
      let storage = MemoryStorage([entry: later])
      let attestor = ScriptedAppAttest()
      let player = Player(try Player.session(ScriptedGate(), attestor: attestor, storage: storage))
      try await eventually("the end") { player.end?.failure?.kind == .storage }
      #expect(attestor.calls == [])
      #expect(await storage.load(entry) == later)
    }
  }

  // MARK: The log

  /// Each step is in it, and nothing that is secret.
  @Test func theLogHoldsNoSecrets() async throws {
    let lines = Locked([String]())
    let gate = ScriptedGate()
    let attestor = ScriptedAppAttest()
    let storage = MemoryStorage()
    let options = GameOptions(inputPatience: nil, log: { line in lines.withLock { $0.append("\(line)") } })
    let url = try #require(URL(string: Self.url))
    let key = AppKey(
      gate: url, transport: gate, attestor: attestor, storage: storage, clock: Player.fastClock,
      log: options.log)
    let player = Player(
      GameSession(
        gate: url, client: ClientDescription(), transport: gate, key: key, storage: storage, options: options,
        clock: Player.fastClock))
    try await eventually("it plays") { player.session.isAttached }
    try player.session.send("my password")
    gate.say(.binary("a secret of the game's"))
    gate.cut()
    try await eventually("it is back") { gate.look { $0.connections } == 2 && player.session.isAttached }
    gate.look { state in
      state.refusals = [
        GateAnswer(status: 503, code: "overloaded", retryAfter: 1, trace: "t7", body: [])
      ]
    }
    gate.cut()
    try await eventually("refused and back") {
      gate.look { $0.connections } == 3 && player.session.isAttached
    }
    let text = lines.withLock { $0 }.joined(separator: "\n")
    for part in ["key made", "key registered", "a session begins", "resumed", "503 overloaded", "(trace t7)"]
    {
      #expect(text.contains(part), "\(part) in\n\(text)")
    }
    let id = try #require(await storage.session?.id)
    for secret in [ScriptedGate.nonce, ScriptedAppAttest.key(1), id, "my password", "a secret of the game's"]
    {
      #expect(!text.contains(secret), "\(secret)")
    }
  }
}

import KeyStore
import Kit
import Stores
import System
import Testing

@testable import Conversation
@testable import Gateway
@testable import Keeping
@testable import Scheduling
@testable import Upstream

/// Sessions that outlive the gate's process, by a store of the test's: killed between any two instructions, restarted in good
/// order, and what may not go on.
@Suite struct KeptSessionTests {
  static let settings = [("SESSION_RESUME_FOR", "300s")]

  private func start(_ more: [(String, String)] = [], loops: Int = 1) throws -> (
    harness: LoopHarness, store: MemoryDescriptors
  ) {
    let store = MemoryDescriptors()
    return (try LoopHarness(Self.settings + more, loops: loops, hasGame: true, keeping: store), store)
  }

  private func again(
    _ estate: Estate, _ store: MemoryDescriptors, _ more: [(String, String)] = [], loops: Int = 1
  ) throws -> LoopHarness {
    try LoopHarness(Self.settings + more, loops: loops, keeping: store, after: estate)
  }

  private func caller(_ harness: LoopHarness, _ index: Int = 0) throws -> TestGame.Caller {
    let game = try #require(harness.game)
    game.accept()
    return try #require(game.callers.indices.contains(index) ? game.callers[index] : nil)
  }

  private func kept(_ harness: LoopHarness) throws -> PersistedLeg {
    var found: PersistedLeg?
    for loop in harness.loops { loop.sessions.forEach { found = found ?? $0.game.kept } }
    return try #require(found)
  }

  private func member(_ name: String, _ app: TestApp) -> String? {
    app.events.first.flatMap { TestApp.member(name, of: $0) }
  }

  // MARK: Who is kept

  @Test func whoIsKeptIsTold() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    #expect(member("kept", app) == "true")
    harness.turn()
    #expect(store.said == ["+slot", "+s000"])
    #expect(harness.loop.sessionDescriptions.first?.isKept == true)
  }

  @Test func nobodyIsWithoutAStore() throws {
    let harness = try LoopHarness(Self.settings, hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    #expect(member("kept", app) == "false")
  }

  @Test func norWhoIsRawOrMayBeCompressed() throws {
    let (harness, store) = try start()
    try TestApp(harness, subprotocol: "gmcp.mudstandards.org").connect()
    let (compressing, other) = try start([("GAME_COMPRESSION", "mccp2")])
    let app = TestApp(compressing)
    try app.connect()
    #expect(member("kept", app) == "false")
    #expect(store.said == ["+slot"])
    #expect(other.said == ["+slot"])
  }

  @Test func asManyAsMayBe() throws {
    let (harness, store) = try start([("HOT_RESTART_MAX_SESSIONS", "1")])
    let (first, second, third) = (TestApp(harness), TestApp(harness), TestApp(harness))
    try first.connect()
    try second.connect()
    #expect((member("kept", first), member("kept", second)) == ("true", "false"))
    first.close(1000)
    harness.settle()
    // The store was told to forget the one leg before it gets the next of that name.
    try third.connect()
    harness.turn()
    #expect(member("kept", third) == "true")
    #expect(store.said == ["+slot", "+s000", "-s000", "+s000"])
  }

  @Test func aGameHearsOfTheEndThoughTheStoreHasItsLeg() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    let caller = try caller(harness)
    store.setSilent(true)
    app.close(1000)
    harness.settle()
    caller.hear()
    #expect(caller.hasEnded)
  }

  // MARK: A crash

  @Test func aKilledGateLosesNobody() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    let caller = try caller(harness)
    app.type("look\r\n")
    for _ in 0..<3 { harness.turn() }
    caller.say("A room.\r\n")
    for _ in 0..<3 { harness.turn() }
    app.hear()
    let next = try again(try harness.kill(), store, loops: 2)
    #expect(next.events.contains("session_kept"))
    let back = TestApp(next, as: app)
    try back.connect(at: 1)
    #expect(back.wasResumed)
    #expect(back.taken == 1)
    #expect(member("doubt", back) == nil)
    #expect(back.events.contains { $0.contains("\"type\":\"gap\",\"messages\":0") })
    back.type("say hi\r\n")
    caller.say("You say hi.\r\n")
    for _ in 0..<4 { next.turn() }
    back.hear()
    caller.hear()
    #expect(caller.lines == ["look", "say hi"])
    #expect(!caller.hasEnded)
    #expect(back.text.contains("You say hi."))
  }

  @Test func whatWasNotReadToItsEndIsAGapOfUnknownSize() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    let caller = try caller(harness)
    caller.say("One.\r\n")
    for _ in 0..<3 { harness.turn() }
    app.hear()
    #expect(app.count == 1)
    try kept(harness).willRead()
    let next = try again(try harness.kill(), store)
    let back = TestApp(next, as: app)
    try back.connect()
    #expect(back.events.contains { $0.contains("\"messages\":null,\"next\":2") })
    let line = try #require(next.logLines.last { $0.contains("event=session_resumed") })
    #expect(line.contains(" gap=unknown "))
  }

  @Test func whatWasBeingWrittenIsInDoubt() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    let caller = try caller(harness)
    app.type("one\r\n")
    for _ in 0..<3 { harness.turn() }
    try kept(harness).willWrite(unhandled: 2, offered: 10, waiting: 10)
    let next = try again(try harness.kill(), store)
    // Nobody was there to hear of it: a second kill changes nothing.
    next.turn()
    let third = try again(try next.kill(), store)
    let back = TestApp(third, as: app)
    try back.connect()
    #expect(back.taken == 3)
    #expect(member("doubt", back) == "2")
    // The answer may be lost; what the app says tells that it is not.
    back.vanish()
    third.settle()
    let later = TestApp(third, as: back)
    try later.connect()
    #expect(member("doubt", later) == "2")
    later.acknowledge()
    for _ in 0..<3 { third.turn() }
    later.vanish()
    third.settle()
    let last = TestApp(third, as: later)
    try last.connect()
    #expect(member("doubt", last) == nil)
    caller.hear()
    #expect(caller.lines == ["one"])
  }

  /// Between the note and the send: the game asks once, so what it was not told is said by the next process, once.
  @Test func whatTheGameWasNotToldIsSaidFirst() throws {
    let (harness, store) = try start([("GAME_CHARSET", "ISO-8859-1")])
    let app = TestApp(harness)
    try app.connect()
    let caller = try caller(harness)
    caller.say([255, 251, 42])
    for _ in 0..<3 { harness.turn() }
    caller.hear()
    let before = caller.heard.count
    var session: GameSession?
    harness.loop.sessions.forEach { session = $0 }
    let found = try #require(session)
    let request: [UInt8] = [255, 250, 42, 1] + Array(";KOI8-R".utf8) + [255, 240]
    try found.game.conversation?.state.read(request.span, now: harness.loop.now)
    if let conversation = found.game.conversation {
      found.game.noteRead(conversation.state)
      // It dies with what it was about to say.
      conversation.state.voice.toGame = []
    }
    let next = try again(try harness.kill(), store, [("GAME_CHARSET", "ISO-8859-1")])
    for _ in 0..<3 { next.turn() }
    caller.hear()
    let accepted: [UInt8] = [255, 250, 42, 2] + Array("KOI8-R".utf8) + [255, 240]
    #expect(Array(caller.heard[before...].prefix(accepted.count)) == accepted)
    let heard = Array(caller.heard[before...])
    let back = TestApp(next, as: app)
    try back.connect()
    caller.say([0xEC, 0xC1, 0xCD, 0xD0, 0xC1, 0x0D, 0x0A])
    for _ in 0..<3 { next.turn() }
    back.hear()
    #expect(back.text.contains("Лампа"))
    // And once more: it is known, and not said again.
    let third = try again(try next.kill(), store, [("GAME_CHARSET", "ISO-8859-1")])
    third.turn()
    caller.hear()
    let all = Array(caller.heard[before...])
    #expect(all.starts(with: heard))
    #expect(all.indices.filter { all[$0...].starts(with: accepted) } == [0])
  }

  /// What telnet had no turn for at a restart goes over with the snapshot, of which nothing is left behind a kill.
  @Test func whatWasTakenAlongAndNotReadIsLostByAKill() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    let caller = try caller(harness)
    // More questions than a second has answers for.
    caller.say((0..<100).flatMap { _ in [255, 253, 6] as [UInt8] } + Array("You win.\r\n".utf8))
    for _ in 0..<3 { harness.turn() }
    app.hear()
    #expect(!app.text.contains("You win."))
    let next = try again(try harness.restart(), store)
    let third = try again(try next.kill(), store)
    let back = TestApp(third, as: app)
    try back.connect()
    #expect(back.events.contains { $0.contains("\"type\":\"gap\",\"messages\":null") })
  }

  @Test func whoWasDetachedWaitsNoLonger() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    let caller = try caller(harness)
    app.vanish()
    harness.pass(.seconds(1))
    harness.pass(.seconds(200))
    let next = try again(try harness.kill(), store)
    next.pass(.seconds(99))
    #expect(next.shared.away.value == 1)
    for _ in 0..<3 { next.pass(.seconds(2)) }
    #expect(next.shared.away.value == 0)
    caller.hear()
    #expect(caller.hasEnded)
    #expect(store.names == ["slot"])
    next.expectNothingLeft()
  }

  @Test func numbersGoOn() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    let next = try again(try harness.kill(), store)
    let other = TestApp(next)
    try other.connect()
    let numbers = next.loop.sessionDescriptions.map(\.number).sorted()
    #expect(numbers.first == 1)
    #expect(try #require(numbers.last) > 1)
  }

  // MARK: Who may not go on

  @Test func aRevokedKeyEndsWithTheProcess() throws {
    let (harness, store) = try start(TestKey.settings)
    let key = try TestKey(harness)
    let app = TestApp(harness)
    try app.connect(fields: key.fields())
    let caller = try caller(harness)
    harness.turn()
    let estate = try harness.kill()
    _ = estate.store.revoke(key.identifier, now: estate.clock.wall()) { _ in }
    let next = try again(estate, store, TestKey.settings)
    caller.hear()
    #expect(caller.hasEnded)
    next.turn()
    #expect(store.names == ["slot"])
    #expect(next.events.contains("session_dropped"))
    next.expectNothingLeft()
  }

  @Test func norDoesWhoeverCameInByAWayThatIsClosedNow() throws {
    let (harness, store) = try start()
    try TestApp(harness).connect()
    let caller = try caller(harness)
    harness.turn()
    let next = try again(try harness.kill(), store, TestKey.settings)
    caller.hear()
    #expect(caller.hasEnded)
    next.expectNothingLeft()
  }

  @Test func aLegOfNobodyEnds() throws {
    let (harness, store) = try start()
    try TestApp(harness).connect()
    let caller = try caller(harness)
    harness.turn()
    let estate = try harness.kill()
    // Memory that nobody has written.
    let empty = try SlotFile.create(limit: 1)
    let next = try LoopHarness(
      Self.settings, keeping: store,
      after: Estate(estate, slots: OwnedDescriptor.duplicate(empty.descriptorNumber)))
    next.turn()
    caller.hear()
    #expect(caller.hasEnded)
    #expect(store.names == ["slot"])
  }

  // MARK: A restart

  @Test func nothingIsMissingAfterARestart() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    let caller = try caller(harness)
    app.type("look\r\n")
    caller.say("One.\r\n")
    for _ in 0..<3 { harness.turn() }
    app.hear()
    let estate = try harness.restart()
    app.hear()
    #expect(app.eventTypes().last == "closing")
    #expect(app.events.last?.contains("1012") == true)
    #expect(app.closeCode == 1012)
    caller.say("Two.\r\n")
    let next = try again(estate, store, loops: 2)
    caller.say("Three.\r\n")
    for _ in 0..<3 { next.turn() }
    let back = TestApp(next, as: app)
    try back.connect()
    for _ in 0..<3 { next.turn() }
    back.hear()
    #expect(back.wasResumed)
    #expect(back.taken == 1)
    #expect(!back.eventTypes().contains("gap"))
    #expect(back.text.contains("Two."))
    #expect(back.text.contains("Three."))
    caller.hear()
    #expect(caller.lines == ["look"])
    #expect(!caller.hasEnded)
  }

  @Test func whatWaitedForTheAppGoesOver() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.connect()
    let caller = try caller(harness)
    app.vanish()
    harness.settle()
    for line in 1...20 { caller.say("Line \(line).\r\n") }
    for _ in 0..<3 { harness.turn() }
    let next = try again(try harness.restart(), store)
    let back = TestApp(next, as: app)
    try back.connect()
    for _ in 0..<3 { next.turn() }
    back.hear()
    #expect(!back.eventTypes().contains("gap"))
    #expect((1...20).allSatisfy { back.text.contains("Line \($0).") })
  }

  @Test func othersEndAtARestart() throws {
    let (harness, store) = try start([("HOT_RESTART_MAX_SESSIONS", "1")])
    let (kept, unkept) = (TestApp(harness), TestApp(harness))
    try kept.connect()
    try unkept.connect()
    let raw = try harness.arrive()
    try raw.handshake()
    #expect(raw.say(Player.upgrade).hasPrefix("HTTP/1.1 101"))
    _ = try harness.restart()
    kept.hear()
    unkept.hear()
    #expect(kept.closeCode == 1012)
    #expect(unkept.eventTypes().suffix(2) == ["ended", "closing"])
    #expect(unkept.events.contains { $0.contains("shutdown") })
    #expect(raw.hearBytes().starts(with: [0x88]))
    #expect(store.names == ["s000", "slot"])
  }

  // MARK: A store in trouble

  @Test func aStoreThatDoesNotAnswerKeepsNobodyFromPlaying() throws {
    let (harness, store) = try start()
    store.setSilent(true)
    let (first, second) = (TestApp(harness), TestApp(harness))
    try first.connect()
    harness.turn()
    #expect(member("kept", first) == "false")
    #expect(harness.loop.sessionDescriptions.first?.isKept == false)
    try second.connect()
    #expect(member("kept", second) == "false")
    #expect(harness.events.filter { $0 == "keeping_failed" }.count == 1)
    #expect(harness.shared.storeClient?.failures.value == 1)
    let caller = try caller(harness)
    first.type("look\r\n")
    for _ in 0..<3 { harness.turn() }
    caller.hear()
    #expect(caller.lines == ["look"])
  }
}

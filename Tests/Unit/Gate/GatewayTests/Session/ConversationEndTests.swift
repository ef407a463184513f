import Kit
import SessionWire
import System
import Testing
import Time

@testable import Conversation
@testable import Gateway
@testable import Scheduling

/// What a conversation says last, to the game and to the app, and what it wakes its loop for.
@Suite struct ConversationEndTests {
  /// When the loop is to be woken next.
  private func nextWake(_ harness: LoopHarness) -> Duration {
    harness.turn()
    return (harness.loop.wheel.next ?? .never) - harness.clock.monotonic()
  }

  @Test(arguments: ["terminal.mudstandards.org", "gmcp.mudstandards.org", "json.mudstandards.org"])
  func aDialectWakesNobodyForAcknowledgements(_ subprotocol: String) throws {
    let harness = try LoopHarness([("PING_INTERVAL", "30s")], hasGame: true)
    let app = TestApp(harness, subprotocol: subprotocol)
    try app.connect()
    app.type("look")
    for _ in 0..<7 { harness.pass(.seconds(1)) }
    #expect(nextWake(harness) > .seconds(1))
  }

  /// Nobody acknowledges anything there: what its socket took is out of its buffer, however full that was for a moment.
  @Test(arguments: ["terminal.mudstandards.org", "gmcp.mudstandards.org", "json.mudstandards.org"], [1, 30])
  func whoListensToADialectStays(_ subprotocol: String, seconds: Int) throws {
    let harness = try LoopHarness([("SESSION_BUFFER", "4KiB"), ("PONG_TIMEOUT", "1h")], hasGame: true)
    let app = TestApp(harness, subprotocol: subprotocol)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    caller.say(String(repeating: "z", count: 8190) + "\r\n")
    harness.settle()
    app.hear()
    for number in 0..<60 / seconds {
      harness.pass(.seconds(seconds))
      caller.say("\(number)\r\n")
      harness.turn()
      app.hear()
      app.send(10, [])
    }
    #expect(harness.shared.sessions.value == 1)
    #expect(!app.hasEnded)
  }

  /// Messages wait for their time, and the game takes nothing: neither is a reason to look again and again.
  @Test func aGameThatStallsWakesNobody() throws {
    let harness = try LoopHarness([("INPUT_RATE", "8/s"), ("WRITE_STALL_TIMEOUT", "60s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    for _ in 0..<19 {
      app.type(String(repeating: "x", count: 15_000) + "\n")
      harness.turn()
    }
    for _ in 0..<8 { app.type("look\n") }
    harness.turn()
    for _ in 0..<10 { harness.pass(.seconds(1)) }
    #expect(nextWake(harness) > .milliseconds(500))
  }

  /// What a game asks of the app waits for half a second, in which it may say who it is, and no longer.
  @Test func whoTheAppIsIsWaitedForHalfASecond() throws {
    let harness = try LoopHarness(hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    // DO TTYPE, and SEND.
    caller.say([255, 253, 24, 255, 250, 24, 1, 255, 240])
    harness.pass(.milliseconds(499))
    harness.turn()
    caller.hear()
    #expect(caller.heard == [255, 251, 24])
    harness.pass(.milliseconds(1))
    caller.hear()
    #expect(caller.heard == [255, 251, 24, 255, 250, 24, 0] + Array("PORTCULLIS".utf8) + [255, 240])
  }

  /// Typed, and the connection is gone in the same moment.
  @Test(arguments: ["terminal.mudstandards.org", "portcullis.v1"])
  func lastWordsReachTheGame(_ subprotocol: String) throws {
    let harness = try LoopHarness([("SESSION_RESUME_FOR", "0s")], hasGame: true)
    let app = TestApp(harness, subprotocol: subprotocol)
    try app.connect()
    app.type("quit\n")
    app.vanish()
    for _ in 0..<6 { harness.turn() }
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    caller.hear()
    #expect(caller.lines == ["quit"])
    #expect(harness.shared.sessions.value == 0)
  }

  /// Some apps close with 1000 whenever they go; that they stay in the game was said before.
  @Test func leaveInFrontOfACloseIsHeard() throws {
    let harness = try LoopHarness([("INPUT_RATE", "2/s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    for _ in 0..<30 { app.type("look\n") }
    app.leave()
    app.close(1000)
    for _ in 0..<4 { harness.turn() }
    #expect(harness.shared.away.value == 1)
    #expect(harness.loop.sessionDescriptions.count == 1)
  }

  @Test(arguments: ["0s", "10m"])
  func theEndIsToldOnce(_ resumeFor: String) throws {
    let harness = try LoopHarness([("SESSION_RESUME_FOR", resumeFor)], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    harness.game?.callers[0].close()
    for _ in 0..<4 { harness.turn() }
    harness.loop.receive(.drain(spread: .zero))
    harness.settle()
    app.hear()
    #expect(app.eventTypes() == ["session", "ended", "closing"])
    #expect(app.closeCode == 1000)
    #expect(app.framesBehindClose == 0)
    app.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  /// Nobody takes what waits for the game: the app learns it as it does any other end.
  @Test func aStalledGameIsAnEndWithAClose() throws {
    let harness = try LoopHarness([("INPUT_RATE", "1000/s"), ("WRITE_STALL_TIMEOUT", "10s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    for _ in 0..<40 {
      app.type(String(repeating: "x", count: 15_000) + "\n")
      harness.turn()
    }
    for _ in 0..<12 { harness.pass(.seconds(1)) }
    app.hear()
    #expect(app.eventTypes().filter { $0 != "ack" } == ["session", "ended", "closing"])
    #expect(app.closeCode == 1000)
  }

  /// It asks as often as it is answered, and takes no answer.
  @Test func answersThatAreNotTakenDoNotPileUp() throws {
    let harness = try LoopHarness(
      [("QUEUE_MAX_BYTES", "64KiB"), ("WRITE_STALL_TIMEOUT", "1h"), ("PONG_TIMEOUT", "2h")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    app.sendText(#"{"type":"client","name":"x"}"#)
    harness.turn()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    let names = (0..<60).flatMap { [0, 2, 3, UInt8(ascii: "A") + UInt8($0 % 26)] as [UInt8] }
    let question: [UInt8] = [255, 250, 39, 1] + names + [255, 240]
    caller.say([255, 253, 39])
    var most = 0
    for _ in 0..<120 {
      for _ in 0..<64 { caller.say(question) }
      harness.pass(.seconds(1))
      harness.loop.sessions.forEach { most = max(most, $0.game.queued) }
    }
    #expect((64 << 10)...(256 << 10) ~= most)
    #expect(harness.shared.sessions.value == 1)
    // They are all there when it takes them, and it is heard again.
    for _ in 0..<100 {
      caller.hear()
      harness.pass(.seconds(1))
    }
    // The last question may have been cut anywhere.
    caller.say([255, 241, 255, 241] + Array("well\r\n".utf8))
    harness.settle()
    app.hear()
    #expect(app.text.hasSuffix("well\r\n"))
  }

  /// It may take 5 s for less than 16 KiB: a buffer that is smaller is full before.
  @Test func whoKeepsToTheContractIsNotDetachedForASmallBuffer() throws {
    let harness = try LoopHarness(
      [("SESSION_BUFFER", "4KiB"), ("WRITE_STALL_TIMEOUT", "1s"), ("PONG_TIMEOUT", "1h")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    for _ in 0..<3 {
      caller.say(String(repeating: "z", count: 5000) + "\r\n")
      harness.turn()
      app.hear()
      for _ in 0..<5 { harness.pass(.seconds(1)) }
      #expect(harness.shared.sessions.value == 1)
      app.acknowledge()
      harness.turn()
    }
    #expect(app.text.utf8.count == 3 * 5002)
    // Who owes an acknowledgement for what it has has no more time than others.
    for _ in 0..<32 { caller.say("z\u{1}\r\n") }
    caller.say(String(repeating: "z", count: 5000) + "\r\n")
    harness.turn()
    for _ in 0..<12 { harness.pass(.seconds(1)) }
    #expect(harness.shared.sessions.value == 0)
  }

  /// Two bytes of the game's may be an event of twenty for the app: a turn has so many of them, and all come, in order.
  @Test(arguments: [true, false])
  func eventsInAFloodAreToldATurnAtATime(isAttached: Bool) throws {
    let harness = try LoopHarness([("SESSION_BUFFER", "1MiB"), ("PONG_TIMEOUT", "1h")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    if !isAttached {
      app.vanish()
      harness.settle()
    }
    // Some text, and prompts: IAC GA.
    let prompts = 7000
    caller.say("one\r\n")
    caller.say((0..<prompts).flatMap { _ in [255, 249] as [UInt8] })
    caller.say("two\r\n")
    var last = 0
    var most = 0
    for _ in 0..<100 {
      harness.turn()
      var now = 0
      harness.loop.sessions.forEach { now = $0.game.conversation?.state.ledger.outgoing.last ?? 0 }
      most = max(most, now - last)
      last = now
      app.hear()
    }
    #expect(last == prompts + 2)
    // The connection may have two turns in one of the loop.
    #expect((200...600).contains(most))
    if !isAttached { try app.connect() }
    for _ in 0..<4 {
      harness.turn()
      app.hear()
    }
    #expect(app.text == "one\r\ntwo\r\n")
    #expect(app.eventTypes().filter { $0 == "prompt" }.count == prompts)
  }
}

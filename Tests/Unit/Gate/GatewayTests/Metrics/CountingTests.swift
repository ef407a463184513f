/// What is counted of what happens on loops that are turned by hand, against what players and games have seen themselves.
import System
import TLSPeers
import Testing

@testable import Gateway
@testable import Telemetry

@Suite struct CountingTests {
  @Test func anEchoCountsWhatThePlayerHas() throws {
    let harness = try LoopHarness()
    let player = try harness.arrive()
    #expect(harness.metric("connections{state=\"handshake\"}") == 1)
    try player.handshake()
    #expect(harness.metric("connections{state=\"exchange\"}") == 1)
    _ = player.say(Player.upgrade)
    #expect(harness.metric("connections{state=\"session\"}") == 1)
    #expect(harness.metric("sessions{state=\"attached\",credential=\"none\"}") == 1)
    #expect(harness.metric("admissions_total{result=\"admitted\"}") == 1)
    #expect(harness.metric("admission_duration_seconds_count") == 1)
    for text in ["one", "two", "three"] {
      player.client.write(Player.frame(1, text))
      player.exchange()
    }
    // A ping is no message with data.
    player.client.write(Player.frame(9, "ping"))
    player.exchange()
    #expect(harness.metric("messages_total{direction=\"from_player\"}") == 3)
    #expect(harness.metric("messages_total{direction=\"to_player\"}") == 3)
    #expect(harness.metric("bytes_total{direction=\"to_game\"}") == 11)
    #expect(harness.metric("bytes_total{direction=\"from_game\"}") == 11)
    #expect(harness.metric("tls_handshakes_total{version=\"1.3\",resumed=\"false\"}") == 1)
    player.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  /// A message in fragments is one, and a control frame between them none.
  @Test func fragmentsAreOneMessage() throws {
    let harness = try LoopHarness()
    let player = try harness.arrive()
    try player.handshake()
    _ = player.say(Player.upgrade)
    var bytes = Player.frame(1, "on")
    bytes[0] = 0x01
    player.client.write(bytes)
    player.exchange()
    #expect(harness.metric("messages_total{direction=\"from_player\"}") == 0)
    player.client.write(Player.frame(9, "p") + Player.frame(0, "e"))
    player.exchange()
    #expect(harness.metric("messages_total{direction=\"from_player\"}") == 1)
    player.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  @Test func refusedUpgradesAndThoseWhoLeave() throws {
    let harness = try LoopHarness(hasGame: true)
    let player = try harness.arrive()
    try player.handshake()
    _ = player.say("GET / HTTP/1.1\r\nHost: g\r\n\r\n")
    #expect(harness.metric("admissions_total{result=\"refused\"}") == 1)
    #expect(harness.metric("refusals_total{code=\"upgrade_required\"}") == 1)
    // What is no upgrade counts for none.
    _ = player.say("GET /attest/challenge HTTP/1.1\r\nHost: g\r\n\r\n")
    _ = player.say("GET /healthz HTTP/1.1\r\nHost: g\r\n\r\n")
    #expect(harness.metric("admissions_total{result=\"refused\"}") == 1)
    #expect(harness.metric("refusals_total{code=\"not_found\"}") == 1)
    let asked = harness.shared.refusals.latest.map(\.asked)
    #expect(asked.contains("upgrade") && asked.contains(nil))
    player.vanish()
    harness.settle()
    #expect(harness.metric("admissions_total{result=\"left\"}") == 0)
    harness.expectNothingLeft()
  }

  @Test func aGameThatIsAwayIsSeen() throws {
    let harness = try LoopHarness([("BACKEND", "unix:/nonexistent/game")])
    let player = try harness.arrive()
    try player.handshake()
    _ = player.say(Player.upgrade)
    #expect(harness.metric("game_connects_total{result=\"failed\"}") == 1)
    #expect(harness.metric("admissions_total{result=\"refused\"}") == 1)
    #expect(harness.metric("refusals_total{code=\"backend_unavailable\"}") == 1)
    player.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  @Test func handshakesThatFail() throws {
    let harness = try LoopHarness()
    let one = try harness.arrive()
    one.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
    harness.turn()
    // An alert (unknown_ca) in the place of a ClientHello is no TLS either.
    let doubtful = try harness.arrive()
    doubtful.send([21, 3, 1, 0, 2, 2, 48])
    let other = try harness.arrive()
    harness.turn()
    harness.pass(.seconds(60))
    harness.turn()
    #expect(harness.metric("tls_handshake_failures_total{reason=\"protocol\"}") == 2)
    #expect(harness.metric("tls_handshake_failures_total{reason=\"timeout\"}") == 1)
    #expect(harness.metric("tls_handshake_failures_total{reason=\"alert\"}") == 0)
    one.vanish()
    doubtful.vanish()
    other.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  // MARK: portcullis.v1

  /// Each TEXT and BINARY message is one, the greeting and acknowledgements too.
  @Test func messagesOfAnAppAreCountedAsItCountsThem() throws {
    let harness = try LoopHarness(hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let game = try #require(harness.game?.callers.first)
    for line in 0..<5 {
      app.type("line \(line)\n")
      harness.turn()
      game.hear()
      game.say("answer \(line)\r\n")
      harness.settle()
      app.hear()
    }
    #expect(harness.metric("messages_total{direction=\"from_player\"}") == 5)
    #expect(
      harness.metric("messages_total{direction=\"to_player\"}").map(Int.init)
        == app.events.count + app.count)
    #expect(harness.metric("bytes_total{direction=\"to_game\"}").map(Int.init) == game.heard.count)
    #expect(harness.metric("bytes_total{direction=\"from_game\"}") == 50)
    #expect(harness.metric("game_connects_total{result=\"connected\"}") == 1)
    app.vanish()
    harness.settle()
    #expect(harness.metric("sessions{state=\"detached\",credential=\"none\"}") == 1)
    #expect(harness.metric("sessions{state=\"attached\",credential=\"none\"}") == 0)
    #expect(harness.metric("detached_sessions") == 1)
    // What is said meanwhile counts as well.
    game.say("later\r\n")
    harness.settle()
    #expect(harness.metric("bytes_total{direction=\"from_game\"}") == 57)
    try app.connect()
    #expect(harness.metric("resumes_total{result=\"resumed\"}") == 1)
    #expect(harness.metric("admissions_total{result=\"resumed\"}") == 1)
    #expect(harness.metric("admissions_total{result=\"admitted\"}") == 1)
    app.close(1000)
    harness.settle()
    app.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  @Test func aSessionThatNobodyKnowsIsCounted() throws {
    let harness = try LoopHarness(hasGame: true)
    let app = TestApp(harness)
    try app.connect(fields: ["Portcullis-Resume: \(String(repeating: "A", count: 22));received=0"])
    #expect(harness.metric("resumes_total{result=\"unknown\"}") == 1)
    #expect(harness.metric("admissions_total{result=\"admitted\"}") == 1)
    app.close(1000)
    harness.settle()
    app.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  @Test func messagesThatAreLostAreCounted() throws {
    let harness = try LoopHarness([("SESSION_BUFFER", "16384")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let game = try #require(harness.game?.callers.first)
    app.vanish()
    harness.settle()
    for _ in 0..<8 {
      game.say(String(repeating: "x", count: 4000) + "\r\n")
      harness.settle()
    }
    try app.connect()
    let gap = try #require(app.events.first { TestApp.member("type", of: $0) == "gap" })
    let missed = try #require(TestApp.member("messages", of: gap).flatMap { Int($0) })
    #expect(missed > 0)
    #expect(harness.metric("gap_messages_total").map(Int.init) == missed)
    app.close(1000)
    harness.settle()
    app.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  /// Agreed once, and again after it was off; said again it is no news.
  @Test func optionsAreCountedWhenTheyAreAgreedOn() throws {
    let harness = try LoopHarness(hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let game = try #require(harness.game?.callers.first)
    let (iac, will, wont, gmcp, echo) = (UInt8(255), UInt8(251), UInt8(252), UInt8(201), UInt8(1))
    game.say([iac, will, gmcp, iac, will, echo])
    harness.settle()
    game.say([iac, will, gmcp])
    harness.settle()
    #expect(harness.metric("telnet_options_total{option=\"gmcp\"}") == 1)
    #expect(harness.metric("telnet_options_total{option=\"echo\"}") == 1)
    game.say([iac, wont, echo])
    harness.settle()
    app.vanish()
    harness.settle()
    game.say([iac, will, echo])
    harness.settle()
    #expect(harness.metric("telnet_options_total{option=\"echo\"}") == 2)
    #expect(harness.metric("telnet_options_total{option=\"msdp\"}") == 0)
    game.close()
    harness.settle()
    #expect(harness.metric("sessions{state=\"detached\",credential=\"none\"}") == 0)
  }

  /// A game that takes nothing: what waits for it is seen, and then the end that this brings.
  @Test func whatWaitsForTheGameIsSeen() throws {
    let harness = try LoopHarness([("SESSION_RESUME_FOR", "600s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let line = String(repeating: "y", count: 8000) + "\n"
    var rounds = 0
    while harness.metric("queued_bytes") == 0, rounds < 200 {
      app.type(line)
      harness.pass(.milliseconds(200))
      rounds += 1
    }
    let waiting = try #require(harness.metric("queued_bytes"))
    #expect(waiting > 0)
    app.vanish()
    harness.settle()
    #expect(try #require(harness.metric("queued_bytes")) > 0)
    for _ in 0..<10 { harness.pass(.seconds(31)) }
    #expect(harness.metric("stalls_total{side=\"game\"}") == 1)
    #expect(harness.metric("stalls_total{side=\"player\"}") == 0)
    #expect(harness.metric("queued_bytes") == 0)
  }

  @Test func turnsAreCountedByLoop() throws {
    let harness = try LoopHarness(loops: 2)
    harness.turn()
    harness.loops[1].turn(waiting: 0)
    #expect(harness.metric("loop_lag_seconds_count{loop=\"0\"}") == 1)
    #expect(harness.metric("loop_lag_seconds_count{loop=\"1\"}") == 2)
    #expect(harness.metric("loop_lag_seconds_bucket{loop=\"1\",le=\"+Inf\"}") == 2)
  }
}

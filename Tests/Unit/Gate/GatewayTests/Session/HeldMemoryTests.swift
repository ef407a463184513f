import System
import Testing

@testable import Gateway
@testable import Scheduling

/// What a session holds of its game beside messages: a subnegotiation that is not whole yet, what is not read yet.
@Suite struct HeldMemoryTests {
  private static func settings(total: String) -> [(String, String)] {
    TestKey.settings + [
      ("MAX_SESSIONS_PER_KEY", "100"), ("SESSION_BUFFER", "32KiB"), ("SESSION_BUFFERS_TOTAL", total),
      ("PONG_TIMEOUT", "1h"),
    ]
  }

  private let harness: LoopHarness
  private let key: TestKey

  init() throws {
    harness = try LoopHarness(Self.settings(total: "1MiB"), loops: 2, hasGame: true)
    key = try TestKey(harness)
  }

  /// An app whose game has agreed to GMCP.
  private func session(at loop: Int = 0) throws -> (TestApp, TestGame.Caller) {
    let app = TestApp(harness)
    try app.connect(at: loop, fields: key.fields())
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.last)
    caller.say([255, 251, 201])
    harness.turn()
    return (app, caller)
  }

  /// IAC SB GMCP, so much, and no end.
  private func begin(_ bytes: Int, to caller: TestGame.Caller) {
    caller.say([255, 250, 201] + Array("Char.Long \"".utf8))
    var left = bytes
    while left > 0 {
      caller.say(String(repeating: "x", count: min(left, 8000)))
      left -= 8000
      for _ in 0..<2 { harness.turn() }
    }
  }

  private func end(_ caller: TestGame.Caller) {
    caller.say(Array("\"".utf8) + [255, 240] + Array("and on\r\n".utf8))
    for _ in 0..<4 { harness.turn() }
  }

  @Test(arguments: [true, false])
  func whatIsNotWholeCounts(isAttached: Bool) throws {
    let (app, caller) = try session()
    if !isAttached {
      app.vanish()
      harness.settle()
    }
    begin(24_000, to: caller)
    #expect((24_000..<64_000).contains(harness.shared.buffers.value))
    // It is a message then, and all there is when it was taken.
    end(caller)
    if !isAttached { try app.connect(fields: key.fields()) }
    harness.turn()
    app.hear()
    #expect(app.events.contains { $0.utf8.count > 24_000 })
    #expect(app.text == "and on\r\n")
    app.acknowledge()
    harness.turn()
    #expect(harness.shared.buffers.value < 2000)
  }

  /// A game that asks for more answers than it may have: what it says behind that waits unread.
  @Test func whatIsNotReadYetCounts() throws {
    let (app, caller) = try session()
    let questions = (0..<70).flatMap { _ in [255, 253, 99] as [UInt8] }
    caller.say(questions + Array(String(repeating: "y", count: 10_000).utf8))
    for _ in 0..<4 { harness.turn() }
    #expect(harness.shared.buffers.value >= 10_000)
    harness.settle()
    app.hear()
    #expect(app.text.utf8.count == 10_000)
  }

  /// Beyond the room of all it goes like anything else, and the session goes on behind it.
  @Test func beyondTheRoomOfAllItIsDropped() throws {
    let sessions = try (0..<4).map { number in try session(at: number % 2) }
    for (app, caller) in sessions {
      app.vanish()
      harness.settle()
      begin(30_000, to: caller)
    }
    #expect(harness.shared.buffers.value >= 120_000)
    try harness.reload(Self.settings(total: "64KiB"))
    // What somebody else has to say is one message too many.
    let (_, talker) = try session()
    talker.say(String(repeating: "z", count: 1000) + "\r\n")
    harness.settle()
    #expect(harness.shared.buffers.value <= 64 * 1024)
    var gaps = 0
    for (app, caller) in sessions {
      end(caller)
      try app.connect(fields: key.fields())
      harness.settle()
      app.hear()
      #expect(app.wasResumed)
      #expect(app.text.hasSuffix("and on\r\n"))
      let isMissing = app.eventTypes().contains("gap")
      #expect(isMissing != app.events.contains { $0.utf8.count > 30_000 })
      if isMissing { gaps += 1 }
    }
    #expect(gaps >= 2)
  }

  /// Without a connection it has the room that its messages have, and what is larger than that is a gap.
  @Test func aloneItHasTheRoomOfItsSession() throws {
    let (app, caller) = try session()
    app.vanish()
    harness.settle()
    begin(60_000, to: caller)
    #expect(harness.shared.buffers.value <= 33 * 1024)
    end(caller)
    try app.connect(fields: key.fields())
    harness.settle()
    app.hear()
    #expect(app.text == "and on\r\n")
    #expect(app.events.filter { $0.hasPrefix(#"{"type":"gap","messages":1,"#) }.count == 1)
  }

  /// It was let go, and its end comes while somebody is there again: that is a gap of its own, and the state with it.
  @Test func whatWasLetGoIsAGapAlsoBehindAReturn() throws {
    let (app, caller) = try session()
    app.hear()
    app.acknowledge()
    harness.turn()
    app.vanish()
    harness.settle()
    begin(60_000, to: caller)
    try app.connect(fields: key.fields())
    caller.say("x")
    for _ in 0..<4 { harness.turn() }
    app.hear()
    #expect(app.wasResumed && !app.eventTypes().contains("gap"))
    end(caller)
    app.hear()
    #expect(app.eventTypes().suffix(2) == ["gap", "echo"])
    #expect(app.text == "and on\r\n")
    app.acknowledge()
    harness.turn()
    app.vanish()
    harness.settle()
    caller.say("more\r\n")
    harness.turn()
    try app.connect(fields: key.fields())
    harness.turn()
    app.hear()
    #expect(!app.eventTypes().contains("gap") && app.text == "and on\r\nmore\r\n")
  }
}

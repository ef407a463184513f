import Kit
import System
import Testing

@testable import Gateway
@testable import Scheduling

/// `SESSION_BUFFERS_TOTAL` over sessions of two loops.
@Suite struct SessionBufferTests {
  private let harness: LoopHarness
  private let key: TestKey

  private static func settings(total: String = "64KiB", stall: String = "30s") -> [(String, String)] {
    TestKey.settings + [
      ("MAX_SESSIONS_PER_KEY", "100"), ("SESSION_BUFFER", "32KiB"), ("SESSION_BUFFERS_TOTAL", total),
      ("WRITE_STALL_TIMEOUT", stall), ("PONG_TIMEOUT", "1h"),
    ]
  }

  init() throws {
    harness = try LoopHarness(Self.settings(), loops: 2, hasGame: true)
    key = try TestKey(harness)
  }

  private func session(at loop: Int) throws -> (TestApp, TestGame.Caller) {
    let app = TestApp(harness)
    try app.connect(at: loop, fields: key.fields())
    harness.game?.accept()
    return (app, try #require(harness.game?.callers.last))
  }

  private func say(_ caller: TestGame.Caller, kilobytes: Int) {
    for _ in 0..<kilobytes {
      caller.say(String(repeating: "z", count: 1022) + "\r\n")
      harness.turn()
      harness.clock.advance(.milliseconds(100))
    }
    harness.turn()
  }

  /// Those who are away give way to somebody who plays, wherever they are.
  @Test(arguments: [0, 1])
  func whoIsAwayGivesWay(_ place: Int) throws {
    for _ in 0..<3 {
      let (app, caller) = try session(at: 0)
      app.vanish()
      harness.settle()
      say(caller, kilobytes: 20)
    }
    #expect(harness.shared.buffers.value > 60_000)
    let (app, caller) = try session(at: place)
    say(caller, kilobytes: 25)
    harness.turn()
    app.hear()
    #expect(app.text.utf8.count == 25 * 1024)
    #expect(harness.shared.buffers.value <= 64 * 1024)
    // The fullest gave most.
    let kept = harness.loop.sessionDescriptions.filter { $0.state == .detached }.map(\.bufferedBytes)
    #expect(kept.count == 3 && kept.allSatisfy { $0 > 4096 })
  }

  /// So many who play, on both loops, and have acknowledged nothing of what fills the room of all.
  private func playersWithoutRoom(_ count: Int) throws -> [(app: TestApp, caller: TestGame.Caller)] {
    let players = try (0..<count).map { number in try session(at: number % 2) }
    for (app, caller) in players {
      say(caller, kilobytes: 24)
      app.hear()
    }
    try #require(harness.shared.buffers.value > 64 * 1024)
    return players.map { (app: $0.0, caller: $0.1) }
  }

  /// A turn for each of them.
  private func beat(_ players: [(app: TestApp, caller: TestGame.Caller)]) {
    for (app, _) in players { app.send(10, []) }
    harness.turn()
  }

  /// Numbers of those that have a connection.
  private var attached: [UInt64] {
    harness.loops.flatMap { $0.sessionDescriptions }.filter { $0.state == .attached }.map(\.number).sorted()
  }

  /// Nobody is away who could give way: each hears a word when all before it is acknowledged.
  @Test func whereAllRoomIsTakenAWordWaitsForTheAcknowledgement() throws {
    let players = try playersWithoutRoom(3)
    let (app, caller) = players[0]
    let before = app.text.utf8.count
    caller.say("one\r\n")
    harness.settle()
    app.hear()
    #expect(app.text.utf8.count == before)
    app.acknowledge()
    harness.settle()
    app.hear()
    #expect(app.text.utf8.count == before + 5)
    #expect(attached == [1, 2, 3])
    // Who forgets an app closes its connection.
    for (app, _) in players { app.vanish() }
  }

  /// They would else have the room for ever, and everybody would hear one word at a time.
  @Test func whoAcknowledgesNothingWhereAllRoomIsTakenIsDetached() throws {
    try harness.reload(Self.settings(total: "256KiB"))
    let players = try playersWithoutRoom(5)
    // What four of them have is more than all may.
    try harness.reload(Self.settings())
    let (app, caller) = players[0]
    app.acknowledge()
    beat(players)
    for number in 0..<8 {
      caller.say("word \(number)\r\n")
      harness.turn()
      app.hear()
      #expect(app.text.hasSuffix("word \(number)\r\n"))
      app.acknowledge()
      #expect(attached == [1, 2, 3, 4, 5])
      beat(players)
      harness.pass(.seconds(4))
    }
    harness.settle()
    #expect(attached == [1])
    // Of those who are away there is something to be had.
    say(caller, kilobytes: 1)
    #expect(harness.shared.buffers.value <= 64 * 1024)
  }

  /// A stall time that is shorter than what an app has for a single message is not meant for that.
  @Test func aSingleWordMayBeAcknowledgedInItsTime() throws {
    try harness.reload(Self.settings(stall: "1s"))
    let players = try playersWithoutRoom(3)
    beat(players)
    harness.pass(.seconds(5))
    beat(players)
    players[0].app.acknowledge()
    harness.settle()
    #expect(attached == [1])
  }

  /// Its own buffer is full a moment after there is room for all again: the time for that begins then.
  @Test func timeForTheRoomOfAllIsNoTimeForAFullBuffer() throws {
    try harness.reload(Self.settings(total: "256KiB", stall: "1s"))
    let players = try playersWithoutRoom(3)
    try harness.reload(Self.settings(stall: "1s"))
    beat(players)
    harness.pass(.seconds(2))
    beat(players)
    try harness.reload(Self.settings(total: "256KiB", stall: "1s"))
    beat(players)
    let (app, caller) = players[0]
    for _ in 0..<10 {
      caller.say(String(repeating: "z", count: 1022) + "\r\n")
      harness.turn()
    }
    app.hear()
    #expect(app.text.utf8.count >= 32 * 1024)
    harness.pass(.milliseconds(999))
    beat(players)
    #expect(attached.contains(1))
    harness.pass(.milliseconds(1))
    beat(players)
    #expect(!attached.contains(1))
  }

  /// Among those who are away the fullest loses first.
  @Test func theFullestGivesWay() throws {
    let (small, littleToSay) = try session(at: 0)
    small.vanish()
    harness.settle()
    say(littleToSay, kilobytes: 4)
    for _ in 0..<4 {
      let (app, caller) = try session(at: 0)
      app.vanish()
      harness.settle()
      say(caller, kilobytes: 30)
    }
    #expect(harness.shared.buffers.value <= 64 * 1024)
    try small.connect(fields: key.fields())
    #expect(small.wasResumed)
    harness.turn()
    small.hear()
    #expect(small.text.utf8.count == 4 * 1024)
    #expect(!small.eventTypes().contains("gap"))
  }

  /// Those who play have all the room: who is away keeps next to nothing, and is told so.
  @Test(arguments: [0, 1])
  func whereThereIsNothingToBeHadItsOwnGoes(_ place: Int) throws {
    let (app, caller) = try session(at: place)
    app.vanish()
    harness.settle()
    let players = try playersWithoutRoom(3)
    let before = harness.shared.buffers.value
    for number in 0..<30 {
      caller.say(String(repeating: "z", count: 1000) + " \(number)\r\n")
      harness.turn()
    }
    #expect(harness.shared.buffers.value < before + 8192)
    for (player, _) in players { player.vanish() }
    try app.connect(at: place, fields: key.fields())
    for _ in 0..<4 { harness.turn() }
    app.hear()
    #expect(app.wasResumed && app.eventTypes().contains("gap"))
  }

  /// What an app that was away for it has of it: kilobytes of text without a gap.
  private func expectNothingLost(
    _ app: TestApp, kilobytes: Int, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try app.connect(fields: key.fields())
    for _ in 0..<4 { harness.turn() }
    app.hear()
    #expect(app.wasResumed, sourceLocation: sourceLocation)
    #expect(app.text.utf8.count == kilobytes * 1024, sourceLocation: sourceLocation)
    #expect(!app.eventTypes().contains("gap"), sourceLocation: sourceLocation)
  }

  /// Wherever it is: whose message was the one too many loses none for that, as long as others have more.
  @Test(arguments: [0, 1], [0, 1])
  func theFullestOfAllLoopsGivesWay(fullAt: Int, smallAt: Int) throws {
    let (small, littleToSay) = try session(at: smallAt)
    small.vanish()
    harness.settle()
    let full = try (0..<2).map { _ in
      let (app, caller) = try session(at: fullAt)
      app.vanish()
      harness.settle()
      say(caller, kilobytes: 24)
      return app
    }
    try #require(harness.shared.buffers.value < 64 * 1024)
    say(littleToSay, kilobytes: 12)
    harness.settle()
    #expect(harness.shared.buffers.value <= 64 * 1024)
    try expectNothingLost(small, kilobytes: 12)
    // Of them there was enough.
    let kept = harness.loops.flatMap { $0.sessionDescriptions.map(\.bufferedBytes) }
    #expect(kept.count == 3)
    _ = full
  }

  /// One after the other goes down to where the next one stands, on whatever loop that is.
  @Test func thoseWhoHaveMostGiveFirst() throws {
    let sizes = [23, 4, 15, 6]
    let sessions = try sizes.enumerated().map { number, size in
      let (app, caller) = try session(at: number % 2)
      app.vanish()
      harness.settle()
      say(caller, kilobytes: size)
      return (app, caller)
    }
    try #require(harness.shared.buffers.value < 60 * 1024)
    say(sessions[1].1, kilobytes: 4)
    say(sessions[3].1, kilobytes: 6)
    harness.settle()
    #expect(harness.shared.buffers.value <= 64 * 1024)
    try expectNothingLost(sessions[1].0, kilobytes: 8)
    try expectNothingLost(sessions[2].0, kilobytes: 15)
    try expectNothingLost(sessions[3].0, kilobytes: 12)
  }
}

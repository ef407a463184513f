import System
import Testing

@testable import Admission
@testable import Gateway
@testable import Scheduling

/// Sessions of `portcullis.v1` on loops that are turned by hand: what they leave behind, and who still serves them.
@Suite struct DetachedSessionTests {
  @Test func aSilentAppCountsOnceForItsAddress() throws {
    let harness = try LoopHarness([("PONG_TIMEOUT", "90s"), ("SESSION_RESUME_FOR", "300s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    for _ in 0..<4 { harness.pass(.seconds(31)) }
    #expect(harness.shared.away.value == 1)
    app.vanish()
    for _ in 0..<20 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// It comes back for the last words, and the register of its key's sessions knows nothing of it afterwards.
  @Test func aConcludedSessionLeavesItsKey() throws {
    let harness = try LoopHarness(TestKey.settings, loops: 2, hasGame: true)
    let key = try TestKey(harness)
    let app = TestApp(harness)
    try app.connect(fields: key.fields())
    app.vanish()
    harness.settle()
    harness.game?.accept()
    harness.game?.callers[0].close()
    harness.settle()
    #expect(harness.shared.register.keyCount == 0)
    try app.connect(at: 1, fields: key.fields())
    #expect(app.wasResumed)
    #expect(app.eventTypes() == ["session", "ended", "closing"])
    #expect(app.closeCode == 1000)
    app.acknowledge()
    app.close(1000)
    harness.settle()
    app.vanish()
    harness.settle()
    harness.expectNothingLeft()
  }

  /// Five of its address are away already: it is not for a sixth to be away that it asks.
  @Test func atTheLimitOfItsAddressASessionIsTakenOver() throws {
    let harness = try LoopHarness(loops: 2, hasGame: true)
    let others = (0..<5).map { _ in TestApp(harness) }
    for other in others {
      try other.connect()
      other.vanish()
    }
    harness.settle()
    #expect(harness.shared.away.value == 5)
    let app = TestApp(harness)
    try app.connect()
    let old = app.player
    try app.connect(at: 1)
    #expect(app.wasResumed)
    #expect(harness.shared.sessions.value == 1)
    old?.vanish()
    app.vanish()
    for _ in 0..<40 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// Who asks for a session and goes before it comes does not hide it from its address's count.
  @Test func aSessionThatNobodyTakesUpCountsForItsAddress() throws {
    let harness = try LoopHarness(loops: 2, hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    app.vanish()
    harness.settle()
    #expect(harness.shared.detachedByAddress.count == 1)
    try app.call(at: 1)
    harness.loops[1].turn(waiting: 0)
    app.vanish()
    harness.loops[1].turn(waiting: 0)
    harness.settle()
    #expect(harness.shared.away.value == 1)
    #expect(harness.shared.detachedByAddress.count == 1)
    #expect(harness.loops[1].sessionDescriptions.first?.subprotocol == "portcullis.v1")
    for _ in 0..<40 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// Two loops that ask for keys, and an address that may have seven sessions.
  private func sevenOfAnAddress() throws -> (LoopHarness, TestKey) {
    let harness = try LoopHarness(
      TestKey.settings + [("MAX_SESSIONS_PER_KEY", "100"), ("MAX_CONNECTIONS_PER_ADDRESS", "7")], loops: 2,
      hasGame: true)
    return (harness, try TestKey(harness))
  }

  /// The numbers of all sessions, and how many of them are attached.
  private func expect(
    _ harness: LoopHarness, _ numbers: ClosedRange<UInt64>, attached: Int,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let found = harness.loops.flatMap { $0.sessionDescriptions.map(\.number) }.sorted()
    #expect(found == Array(numbers), sourceLocation: sourceLocation)
    #expect(harness.shared.sessions.value == attached, sourceLocation: sourceLocation)
    #expect(harness.shared.detachedByAddress.attachedCount == attached, sourceLocation: sourceLocation)
  }

  /// With a connection and without: the longest away go for those who lose theirs, and for those who begin to play.
  @Test func anAddressHasSoManySessionsAtMost() throws {
    let (harness, key) = try sevenOfAnAddress()
    func arrive(at loop: Int) throws -> TestApp {
      let app = TestApp(harness)
      try app.connect(at: loop, fields: key.fields())
      return app
    }
    for number in 0..<9 {
      try arrive(at: number % 2).vanish()
      harness.settle()
    }
    expect(harness, 3...9, attached: 0)
    var players: [TestApp] = []
    for number in 1...UInt64(7) {
      players.append(try arrive(at: Int(number) % 2))
      harness.settle()
      expect(harness, 3 + number...9 + number, attached: Int(number))
    }
    for player in players { player.vanish() }
    harness.settle()
    expect(harness, 10...16, attached: 0)
    for _ in 0..<40 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// Stays that are over have connections for as long as an app does not answer their end: nobody has to go for them.
  @Test func staysThatAreOverTakeNobodysPlaceAtTheirAddress() throws {
    let (harness, key) = try sevenOfAnAddress()
    let waiting = TestApp(harness)
    try waiting.connect(fields: key.fields())
    waiting.vanish()
    harness.settle()
    let apps = (0..<5).map { _ in TestApp(harness) }
    for app in apps {
      try app.connect(fields: key.fields())
      harness.game?.accept()
      harness.game?.callers.last?.close()
      app.vanish()
      harness.settle()
    }
    for (number, app) in apps.enumerated() {
      try app.connect(at: number % 2, fields: key.fields())
      #expect(app.wasResumed)
    }
    #expect(harness.shared.detachedByAddress.attachedCount == 0)
    // One that plays has its connection, too, until its end is answered.
    let playing = TestApp(harness)
    try playing.connect(at: 1, fields: key.fields())
    #expect(harness.shared.detachedByAddress.attachedCount == 1)
    harness.game?.accept()
    harness.game?.callers.last?.close()
    for _ in 0..<4 { harness.turn() }
    #expect(harness.shared.sessions.value == 6)
    #expect(harness.shared.detachedByAddress.attachedCount == 0)
    let another = TestApp(harness)
    try another.connect(fields: key.fields())
    for _ in 0..<4 { harness.turn() }
    #expect(!harness.events.contains("session_let_go"))
    apps[0].vanish()
    harness.turn()
    try waiting.connect(at: 1, fields: key.fields())
    #expect(waiting.wasResumed)
  }

  /// They keep nobody out, and who comes back takes nobody's place.
  @Test func anAddressFullOfSessionsComesBack() throws {
    let (harness, key) = try sevenOfAnAddress()
    let apps = (0..<7).map { _ in TestApp(harness) }
    for _ in 0..<2 {
      for (number, app) in apps.enumerated() {
        try app.connect(at: number % 2, fields: key.fields())
        app.acknowledge()
      }
      harness.settle()
      expect(harness, 1...7, attached: 7)
      for app in apps { app.vanish() }
      harness.settle()
      expect(harness, 1...7, attached: 0)
    }
    #expect(apps.filter(\.wasResumed).count == 7)
    #expect(!harness.events.contains("session_let_go"))
  }

  /// Connections cost nothing but a handshake; a session of somebody else's is not to be had for that.
  @Test func whoIsNotAdmittedTakesNobodysPlace() throws {
    let (harness, key) = try sevenOfAnAddress()
    let apps = (0..<7).map { _ in TestApp(harness) }
    for app in apps {
      try app.connect(fields: key.fields())
      app.vanish()
      harness.settle()
    }
    let strangers = try (0..<6).map { _ in try harness.arrive() }
    for stranger in strangers {
      try stranger.handshake()
      #expect(stranger.say(Player.upgrade).hasPrefix("HTTP/1.1 401"))
    }
    // And again while somebody comes and goes.
    for app in apps {
      try app.connect(at: 1, fields: key.fields())
      #expect(app.wasResumed)
      app.acknowledge()
      harness.turn()
      app.vanish()
      for _ in 0..<6 { harness.turn() }
    }
    expect(harness, 1...7, attached: 0)
    #expect(!harness.events.contains("session_let_go"))
    #expect(strangers.allSatisfy { !$0.hasEnded })
  }

  /// The game's words waited while it took nothing itself; they are read when it does.
  @Test func aGameThatTakesItsInputAgainIsHeard() throws {
    let harness = try LoopHarness([("INPUT_RATE", "100000/s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    let line = String(repeating: "x", count: 4000) + "\n"
    var waits = false
    for _ in 0..<120 where !waits {
      app.type(line)
      harness.turn()
      harness.loop.sessions.forEach { waits = $0.game.waits }
    }
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    app.vanish()
    for _ in 0..<4 { harness.turn() }
    caller.say("a word\r\n")
    harness.turn()
    try #require(harness.loop.sessionDescriptions.first?.bytesFromGame == 0)
    for _ in 0..<20 {
      caller.hear()
      harness.turn()
    }
    #expect(harness.loop.sessionDescriptions.first?.bytesFromGame == 8)
  }

  /// What was typed before is taken by nobody: that is the end of the stay, at its time and not before, also where a byte is
  /// taken in between.
  @Test(arguments: [false, true])
  func aGameThatTakesNothingOfWhoIsAwayIsFailed(takesSome: Bool) throws {
    let harness = try LoopHarness(
      [("INPUT_RATE", "100000/s"), ("WRITE_STALL_TIMEOUT", "60s"), ("SESSION_RESUME_FOR", "1h")],
      hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    let line = String(repeating: "x", count: 4000) + "\n"
    var waits = false
    for _ in 0..<120 where !waits {
      app.type(line)
      harness.turn()
      harness.loop.sessions.forEach { waits = $0.game.waits }
    }
    try #require(waits)
    app.vanish()
    harness.settle()
    #expect(harness.loop.sessionDescriptions.map(\.state) == [.detached])
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    for _ in 0..<50 { harness.pass(.seconds(1)) }
    if takesSome { caller.hear() }
    harness.pass(.seconds(2))
    #expect(harness.loop.sessionDescriptions.count == 1)
    for _ in 0..<3 { harness.pass(.seconds(1)) }
    // Of what it has taken then all the rest goes.
    for _ in 0..<3 where takesSome {
      caller.hear()
      harness.turn()
    }
    for _ in 0..<60 { harness.pass(.seconds(1)) }
    #expect(harness.loop.sessionDescriptions.count == (takesSome ? 1 : 0))
    #expect(harness.metric("stalls_total{side=\"game\"}") == (takesSome ? 0 : 1))
    try app.connect()
    harness.turn()
    app.hear()
    #expect(app.wasResumed)
    #expect(app.events.contains { $0.contains("game_failed") } == !takesSome)
  }

  /// It came back to a buffer that is full, and acknowledges nothing.
  @Test func whoAcknowledgesNothingOfAFullBufferIsDetached() throws {
    let harness = try LoopHarness(
      [("SESSION_BUFFER", "4KiB"), ("WRITE_STALL_TIMEOUT", "30s"), ("SESSION_RESUME_FOR", "1h")],
      hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    app.vanish()
    harness.settle()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    // Two bytes of header each.
    for _ in 0..<64 {
      caller.say(String(repeating: "y", count: 60) + "\r\n")
      harness.settle()
    }
    #expect(harness.loop.sessionDescriptions.first?.bufferedBytes == 4096)
    try app.connect()
    for _ in 0..<8 {
      harness.pass(.seconds(5))
      app.send(10, [])
    }
    harness.turn()
    #expect(harness.shared.away.value == 1)
  }

  /// A session whose messages fill their buffer while nothing of the app's was acknowledged.
  private func full(_ settings: [(String, String)]) throws -> (LoopHarness, TestApp, TestGame.Caller) {
    let harness = try LoopHarness(
      [("SESSION_BUFFER", "4KiB"), ("WRITE_STALL_TIMEOUT", "30s"), ("PONG_TIMEOUT", "1h")] + settings,
      hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    caller.say(String(repeating: "y", count: 5000) + "\r\n")
    harness.settle()
    app.hear()
    #expect(app.text.count == 5001)
    return (harness, app, caller)
  }

  /// Much was typed at once. What the app acknowledges behind that waits, and is no sign that it acknowledges nothing.
  @Test func anAcknowledgementBehindPacedInputIsWaitedFor() throws {
    let (harness, app, caller) = try full([("INPUT_RATE", "1/s")])
    for number in 0..<80 { app.type("line \(number)\n") }
    app.acknowledge()
    for _ in 0..<60 { harness.pass(.seconds(1)) }
    #expect(harness.shared.away.value == 0)
    for _ in 0..<30 { harness.pass(.seconds(1)) }
    caller.say("and so on\r\n")
    harness.settle()
    app.hear()
    #expect(app.text.hasSuffix("and so on\r\n"))
    caller.hear()
    #expect(caller.lines.count == 80)
  }

  /// It came while the gate stood still: what is here is read before anybody is given up.
  @Test func anAcknowledgementThatWasNotReadYetCounts() throws {
    let (harness, app, _) = try full([])
    app.acknowledge()
    harness.pass(.seconds(300))
    harness.settle()
    #expect(harness.shared.away.value == 0)
  }

  /// A reload lowers what may be away: the longest go, whichever loop they are on.
  @Test func theLongestGoWhereverTheyAre() throws {
    let harness = try LoopHarness(
      TestKey.settings + [("MAX_SESSIONS_PER_KEY", "100")], loops: 2, hasGame: true)
    let key = try TestKey(harness)
    for number in 0..<8 {
      let app = TestApp(harness)
      try app.connect(at: number % 2, fields: key.fields())
      app.vanish()
      harness.settle()
    }
    #expect(harness.shared.away.value == 8)
    try harness.reload(TestKey.settings + [("MAX_SESSIONS_PER_KEY", "100"), ("MAX_DETACHED", "4")])
    let app = TestApp(harness)
    try app.connect(fields: key.fields())
    app.vanish()
    harness.settle()
    #expect(harness.loops.flatMap { $0.sessionDescriptions.map(\.number) }.sorted() == [6, 7, 8, 9])
  }

  /// One of a key that plays gives way to its newest only if none is without a connection.
  @Test func whoPlaysGivesWayLast() throws {
    let harness = try LoopHarness(TestKey.settings + [("MAX_SESSIONS_PER_KEY", "3")], loops: 2, hasGame: true)
    let key = try TestKey(harness)
    var apps: [TestApp] = []
    for (number, left) in [[1], [1, 2], [1, 2, 3], [1, 3, 4], [3, 4, 5]].enumerated() {
      let app = TestApp(harness)
      try app.connect(at: number % 2, fields: key.fields())
      // The first one plays all the time, the second one goes away.
      if number == 1 { app.vanish() }
      harness.settle()
      apps.append(app)
      #expect(harness.loops.flatMap { $0.sessionDescriptions.map { Int($0.number) } }.sorted() == left)
    }
    apps[0].hear()
    #expect(apps[0].eventTypes() == ["session", "ended", "closing"])
  }

  /// Who waits when a reload makes the time shorter, or takes sessions away altogether, is forgotten like any other.
  @Test(arguments: ["0s", "20s", "1h"])
  func aReloadLeavesNobodyBehind(_ time: String) throws {
    let harness = try LoopHarness([("SESSION_RESUME_FOR", "60s")], hasGame: true)
    let (app, other) = (TestApp(harness), TestApp(harness))
    try app.connect()
    try other.connect()
    app.vanish()
    harness.settle()
    try harness.reload([("SESSION_RESUME_FOR", time)])
    try app.connect()
    #expect(app.wasResumed)
    app.vanish()
    other.vanish()
    harness.settle()
    #expect(harness.shared.away.value == (time == "0s" ? 0 : 2))
    for _ in 0..<(time == "1h" ? 130 : 3) { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// A time that a reload makes shorter is also that of those who wait already; one that it makes longer as well.
  @Test(arguments: [("30s", 0), ("2m", 1)])
  func aReloadIsForThoseWhoWait(_ time: String, left: Int) throws {
    let harness = try LoopHarness([("SESSION_RESUME_FOR", "60s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    app.vanish()
    harness.settle()
    harness.pass(.seconds(31))
    #expect(harness.shared.away.value == 1)
    try harness.reload([("SESSION_RESUME_FOR", time)])
    harness.pass(.seconds(1))
    if time == "2m" { harness.pass(.seconds(40)) }
    #expect(harness.shared.away.value == left)
    for _ in 0..<5 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// An app may end as many stays as it likes, and acknowledge the end of none: that costs nobody else theirs.
  @Test func staysThatAreOverTakeNobodysPlace() throws {
    let harness = try LoopHarness(TestKey.settings + [("MAX_DETACHED", "4")], loops: 2, hasGame: true)
    let (key, other) = (try TestKey(harness), try TestKey(harness))
    for number in 0..<3 {
      let app = TestApp(harness)
      try app.connect(at: number % 2, fields: key.fields())
      app.vanish()
      harness.settle()
    }
    for number in 0..<6 {
      let app = TestApp(harness)
      try app.connect(at: number % 2, fields: other.fields())
      harness.game?.accept()
      harness.game?.callers.last?.close()
      harness.settle()
      app.vanish()
      harness.settle()
    }
    #expect(harness.shared.away.value == 4)
    #expect(harness.loops.flatMap { $0.sessionDescriptions.map(\.number) }.sorted() == [1, 2, 3])
    for _ in 0..<40 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }
}

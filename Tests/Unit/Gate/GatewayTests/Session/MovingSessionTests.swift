import KeyStore
import Kit
import Stores
import System
import Testing

@testable import Admission
@testable import Gateway
@testable import Scheduling

/// Sessions on their way from one loop to another, with something else that happens to them on the way. Two loops are turned
/// by hand, in each order.
@Suite struct MovingSessionTests {
  static let turns = (0..<16).map { bits in (0..<4).map { bits >> $0 & 1 } }

  /// A session of loop 0 is asked for by a connection of loop 1, which has not turned since.
  private func moving(_ harness: LoopHarness, _ fields: () throws -> [String] = { [] }) throws -> TestApp {
    let app = TestApp(harness)
    try app.connect(fields: fields())
    app.vanish()
    harness.settle()
    try app.call(at: 1, fields: fields())
    return app
  }

  private func turn(_ harness: LoopHarness, _ order: [Int]) {
    for loop in order { harness.loops[loop].turn(waiting: 0) }
  }

  @Test(arguments: turns)
  func theOperatorClosesWhatMoves(_ order: [Int]) throws {
    for before in 0...4 {
      let harness = try LoopHarness(loops: 2, hasGame: true)
      let app = try moving(harness)
      turn(harness, Array(order.prefix(before)))
      let close = ClosingOrder(loops: 2) { $0.number == 1 }
      harness.shared.closing.begin(close)
      harness.shared.postToAll(.close(close))
      turn(harness, Array(order.dropFirst(before)) + [0, 1])
      try #require(close.unasked.count == 0)
      let passed = CountDownLatch(count: 2)
      harness.shared.postToAll(.pass(passed))
      turn(harness, order + [1, 0])
      #expect(passed.count == 0)
      #expect(close.result == (1, 0))
      harness.shared.closing.finish(close)
      // Who came for it may still be told.
      #expect(harness.loops.allSatisfy { $0.sessionDescriptions.isEmpty })
      for _ in 0..<4 { harness.turn() }
      app.hear()
      #expect(app.eventTypes().suffix(2) == ["ended", "closing"])
      app.vanish()
      for _ in 0..<40 { harness.pass(.seconds(31)) }
      harness.expectNothingLeft()
    }
  }

  /// When `keys revoke` returns, nobody plays with the key.
  @Test(arguments: turns)
  func aRevokedKeyEndsWhatMoves(_ order: [Int]) throws {
    for before in 0...4 {
      let harness = try LoopHarness(TestKey.settings, loops: 2, hasGame: true)
      let key = try TestKey(harness)
      let app = try moving(harness) { try key.fields() }
      turn(harness, Array(order.prefix(before)))
      let revocation = harness.shared.revocations.begin()
      harness.shared.revocations.revoke(key.identifier)
      harness.shared.revocations.giveUp(revocation)
      revocation.complete()
      turn(harness, Array(order.dropFirst(before)) + [1, 0])
      for _ in 0..<2 { turn(harness, [0, 1]) }
      let outcome = try #require(revocation.outcome)
      #expect(!outcome.isSilent && outcome.sessionsLeft == 0 && outcome.unwritten.isEmpty)
      // Who came for it may still be told.
      #expect(harness.loops.allSatisfy { $0.sessionDescriptions.isEmpty })
      harness.game?.accept()
      for caller in harness.game?.callers ?? [] {
        caller.hear()
        #expect(caller.hasEnded)
      }
      #expect(harness.shared.away.value == 0)
      #expect(harness.shared.register.keyCount == 0)
      app.vanish()
      harness.settle()
      harness.expectNothingLeft()
    }
  }

  /// Two connections ask for one session: the later one has it in the end, or nobody was later.
  @Test(arguments: turns)
  func oneOfTwoHasIt(_ order: [Int]) throws {
    let harness = try LoopHarness(loops: 2, hasGame: true)
    let app = try moving(harness)
    let old = app.player
    turn(harness, order)
    try app.call(at: 0)
    turn(harness, order)
    for _ in 0..<8 { harness.turn() }
    app.hear()
    #expect(app.wasResumed)
    #expect(harness.shared.sessions.value == 1)
    old?.vanish()
    app.vanish()
    for _ in 0..<40 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// An upgrade that was long on its way, and whose counter is the lower one, takes the session from nobody.
  @Test func theLaterUpgradeWinsHoweverTheyAsk() throws {
    let harness = try LoopHarness(TestKey.settings, loops: 3, hasGame: true)
    let key = try TestKey(harness)
    let app = TestApp(harness)
    try app.connect(fields: key.fields())
    app.vanish()
    harness.settle()
    let early = TestApp(harness, as: app)
    let late = TestApp(harness, as: app)
    try early.prepare(at: 1)
    try late.prepare(at: 2)
    try early.call(fields: key.fields())
    // Its counter is taken, and it has not asked yet.
    harness.loops[1].turn(waiting: 0)
    try late.call(fields: key.fields())
    for _ in 0..<6 { turn(harness, [2, 0]) }
    late.hear()
    #expect(late.wasResumed)
    for _ in 0..<6 { turn(harness, [1, 0, 2]) }
    early.hear()
    late.hear()
    #expect(early.head.hasPrefix("HTTP/1.1 409"))
    #expect(!late.hasEnded && late.closeCode == nil)
    late.vanish()
    harness.settle()
    try late.connect(fields: key.fields())
    #expect(late.wasResumed)
    late.vanish()
    early.vanish()
    for _ in 0..<40 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// While the gate drains nobody can come back to a session that was closed: the upgrade that has asked for it is refused.
  @Test func whatIsClosedOnItsWayWhileTheGateDrains() throws {
    let harness = try LoopHarness(loops: 2, hasGame: true)
    let app = try moving(harness)
    // Asked for, and handed over.
    turn(harness, [1, 0])
    harness.loops[1].isDraining = true
    let close = ClosingOrder(loops: 2) { $0.number == 1 }
    harness.shared.closing.begin(close)
    for _ in 0..<4 { turn(harness, [1, 0]) }
    app.hear()
    #expect(app.head.hasPrefix("HTTP/1.1 503"))
    harness.shared.closing.finish(close)
    app.vanish()
    for _ in 0..<40 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// The old connection is still there, and its app has acknowledged nothing yet of what it was sent, which is more than is
  /// kept of those who are away. Nobody was ever away: nothing is missing.
  @Test(arguments: [0, 1])
  func aTakeoverLosesNothing(at loop: Int) throws {
    let harness = try LoopHarness(
      [("SESSION_BUFFER", "4KiB"), ("SESSION_BUFFERS_TOTAL", "64KiB")], loops: 2, hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    caller.say([255, 251, 201])
    harness.turn()
    app.hear()
    app.acknowledge()
    harness.turn()
    let other = TestApp(harness, as: app)
    // Text of more than it may keep, and an event that alone is.
    caller.say(String(repeating: "y", count: 3000) + "\r\n")
    let event = "Char.Long \"\(String(repeating: "x", count: 9000))\""
    caller.say([255, 250, 201] + Array(event.utf8) + [255, 240])
    for _ in 0..<4 { harness.turn() }
    try other.call(at: loop)
    for _ in 0..<8 {
      harness.turn()
      caller.say("more\r\n")
    }
    other.hear()
    other.acknowledge()
    for _ in 0..<8 { harness.turn() }
    other.hear()
    #expect(other.wasResumed)
    #expect(!other.eventTypes().contains("gap"))
    #expect(other.eventTypes().contains("gmcp"))
    #expect(other.text.utf8.count == 3002 + 8 * 6)
  }

  /// The connection that asked is gone before the session comes: now somebody is away, and has the room of those who are.
  @Test func aTakeoverThatNobodyTakesUp() throws {
    let harness = try LoopHarness(
      [("SESSION_BUFFER", "4KiB"), ("MAX_DETACHED", "1")], loops: 2, hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    harness.game?.accept()
    let caller = try #require(harness.game?.callers.first)
    app.hear()
    let other = TestApp(harness, as: app)
    caller.say(String(repeating: "y", count: 12_000) + "\r\n")
    for _ in 0..<4 { harness.turn() }
    try other.call(at: 1)
    harness.loops[1].turn(waiting: 0)
    other.vanish()
    harness.loops[1].turn(waiting: 0)
    harness.settle()
    #expect(harness.shared.away.value == 1 && harness.shared.detachedByAddress.count == 1)
    let found = harness.loops[1].sessionDescriptions
    #expect(found.map(\.state) == [.detached] && found.allSatisfy { $0.bufferedBytes <= 4096 })
    try app.connect(at: 0)
    harness.turn()
    app.hear()
    #expect(app.wasResumed && app.eventTypes().contains("gap"))
    #expect(!harness.events.contains("session_let_go"))
    app.vanish()
    for _ in 0..<40 { harness.pass(.seconds(31)) }
    harness.expectNothingLeft()
  }

  /// At exactly as many as may be away: who is taken over is not one more for a moment, for which somebody would have to go.
  @Test(arguments: [0, 1])
  func aTakeoverIsNobodyMoreAway(at loop: Int) throws {
    let harness = try LoopHarness([("MAX_DETACHED", "1")], loops: 2, hasGame: true)
    let stranger = TestApp(harness)
    try stranger.connect(at: 1)
    stranger.vanish()
    harness.settle()
    let app = TestApp(harness)
    try app.connect(at: 0)
    app.hear()
    let old = app.player
    try app.call(at: loop)
    for _ in 0..<6 {
      for index in 0..<2 {
        harness.loops[index].turn(waiting: 0)
        // What is on its way, and goes on its way.
        for mailbox in harness.shared.mailboxes {
          let messages = mailbox.takeAll(woken: false)
          for message in messages {
            if case .letGoLongest = message { Issue.record("somebody is let go") }
            mailbox.post(message)
          }
        }
      }
    }
    app.hear()
    #expect(app.wasResumed)
    #expect(harness.shared.away.value == 1)
    try stranger.connect(at: 0)
    #expect(stranger.wasResumed)
    old?.vanish()
  }
}

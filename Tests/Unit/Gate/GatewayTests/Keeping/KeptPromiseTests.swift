import KeyStore
import Kit
import Stores
import Synchronization
import System
import Testing

@testable import Admission
@testable import Gateway
@testable import Keeping
@testable import Scheduling
@testable import Upstream

/// `"kept":true` is said when the store has confirmed the leg. So a kill between any two instructions after it ends nobody's
/// session. The tests decide when the store's thread works: `carryOutWaiting`.
@Suite struct KeptPromiseTests {
  private func start(_ more: [(String, String)] = []) throws -> (
    harness: LoopHarness, store: MemoryDescriptors
  ) {
    let store = MemoryDescriptors()
    let settings = KeptSessionTests.settings + more
    return (try LoopHarness(settings, hasGame: true, keeping: store), store)
  }

  private func again(_ estate: Estate, _ store: MemoryDescriptors) throws -> LoopHarness {
    try LoopHarness(KeptSessionTests.settings, keeping: store, after: estate)
  }

  /// The loop alone.
  private func turn(_ harness: LoopHarness, _ app: TestApp, _ count: Int = 6) {
    for _ in 0..<count {
      harness.loop.turn(waiting: 0)
      app.hear()
    }
  }

  private func carryOut(_ harness: LoopHarness) { harness.shared.storeClient?.carryOutWaiting() }

  private func kept(_ app: TestApp) -> String? {
    app.events.first.flatMap { TestApp.member("kept", of: $0) }
  }

  private func game(_ harness: LoopHarness) throws -> TestGame.Caller {
    let game = try #require(harness.game)
    game.accept()
    return try #require(game.callers.first)
  }

  @Test func theUpgradeWaitsForTheStore() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.call()
    turn(harness, app)
    #expect(app.head.isEmpty && store.said == ["+slot"])
    carryOut(harness)
    #expect(store.said == ["+slot", "+s000"])
    turn(harness, app)
    #expect(kept(app) == "true")
  }

  /// The store's thread comes early or late; the kill comes with the first message.
  @Test(arguments: 0..<8) func whoWasPromisedOutlivesAKill(delay: Int) throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.call()
    for number in 0..<20 where app.events.isEmpty {
      if number >= delay { carryOut(harness) }
      turn(harness, app, 1)
    }
    #expect(kept(app) == "true")
    let next = try again(try harness.kill(), store)
    let back = TestApp(next, as: app)
    try back.connect()
    #expect(back.wasResumed && kept(back) == "true")
  }

  @Test func beforeThePromiseAKillLeavesNothing() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.call()
    turn(harness, app)
    carryOut(harness)
    let caller = try game(harness)
    let estate = try harness.kill()
    #expect(store.names == ["s000", "slot"])
    let next = try again(estate, store)
    next.turn()
    #expect(next.loop.sessionDescriptions.isEmpty && next.shared.storeClient?.used == 0)
    #expect(store.names == ["slot"])
    caller.hear()
    #expect(caller.hasEnded)
  }

  /// It has the leg, and has not said so: nobody is promised anything, nobody waits again, and nobody is lost either.
  @Test func aStoreThatDoesNotConfirm() throws {
    let (harness, store) = try start()
    store.setDeaf(true)
    let (first, second) = (TestApp(harness), TestApp(harness))
    try first.connect()
    #expect(kept(first) == "false")
    try second.call()
    turn(harness, second)
    #expect(kept(second) == "false")
    carryOut(harness)
    #expect(harness.loop.sessionDescriptions.map(\.isKept) == [false, false])
    #expect(harness.events.filter { $0 == "keeping_failed" }.count == 1)
    #expect(store.names == ["s000", "s001", "slot"])
    let next = try again(try harness.kill(), store)
    for app in [first, second] {
      let back = TestApp(next, as: app)
      try back.connect()
      #expect(back.wasResumed)
    }
  }

  @Test func noUpgradeWaitsLongerThanASecond() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.call()
    turn(harness, app)
    harness.clock.advance(.milliseconds(990))
    turn(harness, app)
    #expect(app.head.isEmpty)
    harness.clock.advance(.milliseconds(20))
    turn(harness, app)
    #expect(kept(app) == "false")
    #expect(harness.loop.sessionDescriptions.map(\.isKept) == [false])
    // The thread's late word changes nothing of this connection, and the next one is promised it.
    carryOut(harness)
    turn(harness, app)
    #expect(app.events.count == 1 && store.names == ["s000", "slot"])
    #expect(harness.loop.sessionDescriptions.map(\.isKept) == [true])
    let back = TestApp(harness, as: app)
    try back.connect()
    #expect(back.wasResumed && kept(back) == "true")
  }

  @Test func whoLeavesMeanwhileLeavesNoLegBehind() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.call()
    turn(harness, app)
    let caller = try game(harness)
    app.vanish()
    harness.settle()
    #expect(store.said == ["+slot", "+s000", "-s000"])
    #expect(harness.shared.storeClient?.used == 0)
    caller.hear()
    #expect(caller.hasEnded)
    // And the slot is another one's.
    let other = TestApp(harness)
    try other.connect()
    #expect(kept(other) == "true" && store.names == ["s000", "slot"])
  }

  @Test func aDrainMeanwhileLetsNobodyBegin() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.call()
    turn(harness, app)
    harness.shared.isDraining.store(true, ordering: .sequentiallyConsistent)
    carryOut(harness)
    turn(harness, app)
    #expect(app.head.hasPrefix("HTTP/1.1 503"))
    harness.settle()
    #expect(store.names == ["slot"])
  }

  /// Both ways by which it comes: what is in force is looked at when the 101 is due, and the loop is told.
  @Test(arguments: [false, true]) func aKeyThatIsRevokedMeanwhile(isTold: Bool) throws {
    let (harness, store) = try start(TestKey.settings)
    let key = try TestKey(harness)
    let app = TestApp(harness)
    try app.call(fields: key.fields())
    turn(harness, app)
    try #require(app.head.isEmpty && store.said == ["+slot"])
    let caller = try game(harness)
    _ = harness.store.revoke(key.identifier, now: harness.clock.wall()) { _ in }
    if isTold {
      harness.loop.connections.forEach { connection in
        harness.loop.turn(of: connection) { $0.endFromOutside(.keyRevoked) }
      }
    }
    carryOut(harness)
    turn(harness, app)
    #expect(app.head.contains("Portcullis-Error: key_revoked"))
    harness.settle()
    #expect(store.names == ["slot"] && harness.shared.storeClient?.used == 0)
    caller.hear()
    #expect(caller.hasEnded)
  }

  @Test func aGameThatLeavesMeanwhile() throws {
    let (harness, store) = try start()
    let app = TestApp(harness)
    try app.call()
    turn(harness, app)
    let caller = try game(harness)
    caller.say("closed today\r\n")
    caller.close()
    turn(harness, app)
    #expect(app.head.isEmpty)
    carryOut(harness)
    turn(harness, app)
    #expect(app.head.hasPrefix("HTTP/1.1 101") && app.text == "closed today\r\n" && app.closeCode != nil)
    harness.settle()
    #expect(store.names == ["slot"] && harness.shared.storeClient?.used == 0)
  }

  @Test func withoutAStoreNothingIsWaitedFor() throws {
    let harness = try LoopHarness(KeptSessionTests.settings, hasGame: true)
    let app = TestApp(harness)
    try app.call()
    turn(harness, app)
    #expect(kept(app) == "false")
  }
}

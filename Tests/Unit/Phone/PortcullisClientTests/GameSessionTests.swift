/// A session over connections that break: nothing is lost, doubled or out of order, whoever types and however slowly
/// somebody reads.
import Foundation
import Kit
import PortcullisProtocol
import Testing
import PortcullisTesting

@testable import PortcullisClient

@Suite(.timeLimit(.minutes(3))) struct GameSessionTests {
  /// Everything typed is heard and everything said is shown.
  private func settle(_ gate: ScriptedGate, _ player: Player, typed: Int) async throws {
    try await eventually("everything arrives") {
      guard let session = gate.session else { return false }
      gate.acknowledge()
      return session.heard.count >= typed && player.shown.count >= session.expected.count
    }
  }

  private func type(_ line: String, into session: GameSession) async throws {
    while true {
      do throws(GameInputError) {
        return try session.send(line)
      } catch {
        try #require(error == .full)
        await Task.yield()
      }
    }
  }

  // MARK: Losses

  @Test(arguments: 0..<24) func anyLosses(seed: UInt64) async throws {
    let gate = ScriptedGate(seed: seed, losses: 12)
    var random = SplitMix(seed: seed)
    let player = Player(try Player.session(gate))
    try await eventually("a session begins") { gate.session != nil && player.session.isAttached }
    // From here on a session is known that can be resumed.
    let sessions = gate.look { $0.gate.sessions.count }
    for turn in 0..<120 {
      try await type("line \(turn)", into: player.session)
      if random.next().isMultiple(of: 2) { gate.say(.binary("text \(turn)")) }
      if random.next().isMultiple(of: 4) {
        gate.say(.text(#"{"type":"gmcp","package":"Room.Info","data":\#(turn)}"#))
      }
      if random.next().isMultiple(of: 8) { gate.say(.text(#"{"type":"later"}"#)) }
      if random.next().isMultiple(of: 16) { player.session.pathChanged() }
      if random.next().isMultiple(of: 32) { gate.cut() }
      await Task.yield()
    }
    try await settle(gate, player, typed: 120)
    let session = try #require(gate.session)
    #expect(session.heard == (0..<120).map { "line \($0)\n" })
    #expect(player.shown == session.expected)
    #expect(gate.look { $0.mostAttempts } == 1)
    #expect(gate.look { $0.connections } > 3 && gate.look { $0.gate.sessions.count } == sessions)
  }

  /// From many threads at once: each one's lines stay in their order.
  @Test(arguments: [0, 8]) func sendFromManyThreads(losses: Int) async throws {
    let gate = ScriptedGate(seed: 5, losses: losses)
    let player = Player(try Player.session(gate))
    try await eventually("a session begins") { player.session.isAttached }
    let acknowledging = Task {
      while !Task.isCancelled {
        gate.acknowledge()
        try? await Task.sleep(nanoseconds: 1_000_000)
      }
    }
    for thread in 0..<8 {
      // Not one of those that Swift's tasks run on, as it waits.
      Thread.detachNewThread { [session = player.session] in
        for number in 0..<50 {
          while (try? session.send("\(thread) \(number)")) == nil { Thread.sleep(forTimeInterval: 0.001) }
        }
      }
    }
    try await settle(gate, player, typed: 400)
    acknowledging.cancel()
    let heard = try #require(gate.session).heard
    #expect(heard.count == 400)
    for thread in 0..<8 {
      #expect(heard.filter { $0.hasPrefix("\(thread) ") } == (0..<50).map { "\(thread) \($0)\n" })
    }
  }

  // MARK: Back-pressure

  /// Who does not look has 64 events waiting, and nothing more is read; only what was looked at is acknowledged.
  @Test func nothingIsReadBeyondSixtyFourEvents() async throws {
    let gate = ScriptedGate()
    // Connecting, attached, echo: the third is in its hands.
    let player = Player(try Player.session(gate), appetite: 3)
    try await eventually("three events") { player.events.count == 3 }
    let connection = try #require(gate.connection)
    for number in 0..<200 { gate.say(.binary("text \(number)")) }
    try await eventually("64 wait") { player.session.owner.waitingEvents == 64 }
    // The greeting, and the 64.
    #expect(connection.read == 65)
    player.feed(11)
    try await eventually("ten more were asked for") { player.events.count == 14 }
    try await eventually("64 wait again") { player.session.owner.waitingEvents == 64 }
    #expect(connection.read == 76)
    #expect(try #require(gate.session).acknowledged <= 11)
    player.feed(nil)
    try await eventually("all of it") { player.shown.count == 200 }
    #expect(player.shown == (0..<200).map { "text \($0)" })
    try await eventually("all is acknowledged") { gate.session?.acknowledged == 200 }
  }

  /// A connection that is lost meanwhile loses nothing that has come.
  @Test func aLossBehindABacklog() async throws {
    let gate = ScriptedGate()
    let player = Player(try Player.session(gate), appetite: 3)
    try await eventually("three events") { player.events.count == 3 }
    for number in 0..<100 { gate.say(.binary("text \(number)")) }
    try await eventually("64 wait") { player.session.owner.waitingEvents == 64 }
    for _ in 0..<3 {
      let connections = gate.look { $0.connections }
      gate.cut()
      // Nobody reads, and so the loss shows only when something is to be sent.
      player.session.pathChanged()
      try await eventually("another connection") { gate.look { $0.connections } > connections }
      try await eventually("attached again") { player.session.isAttached }
    }
    player.feed(nil)
    try await eventually("all of it") { player.shown.count == 100 }
    #expect(player.shown == (0..<100).map { "text \($0)" })
  }

  /// What came before the end is told before the end.
  @Test func theEndIsToldLast() async throws {
    let gate = ScriptedGate()
    let player = Player(try Player.session(gate), appetite: 3)
    try await eventually("three events") { player.events.count == 3 }
    for number in 0..<40 { gate.say(.binary("text \(number)")) }
    gate.say(.text(#"{"type":"ended","reason":"game_closed"}"#))
    gate.tell(.close(1000))
    try await eventually("the end is known") { player.session.owner.look { $0.end != nil } }
    player.feed(nil)
    try await eventually("the end") { player.end == .byGate(.known(.gameClosed)) }
    #expect(player.shown.count == 40)
    #expect(throws: GameInputError.ended) { try player.session.send("too late") }
  }

  // MARK: The terminal

  /// A function kept in a generic place would be wrapped once more for each event, and each call would go through all of it.
  @Test func whoObservesIsCalledTheSameWayEachTime() throws {
    let gate = ScriptedGate()
    let session = try Player.session(gate, attestor: ScriptedAppAttest(), storage: MemoryStorage())
    let depths = Locked([Int]())
    session.observe { depths.withLock { $0.append(Thread.callStackReturnAddresses.count) } }
    for _ in 0..<1000 { session.owner.change { _, _ in } }
    let calls = depths.withLock { $0 }
    #expect(calls.count >= 1000)
    let first = try #require(calls.first)
    let last = try #require(calls.last)
    #expect(last - first < 10, "the 1,000th call has \(last) frames below it, the first \(first)")
  }
}

import System
import TLSPeers
import Testing

@testable import Conversation
@testable import Gateway
@testable import Scheduling
@testable import Upstream

/// A side that takes nothing of what waits for it is gone after `WRITE_STALL_TIMEOUT` (docs/protocol.md, "Sessions"), whatever
/// it does otherwise.
@Suite struct StallTests {
  private let harness: LoopHarness
  private let player: Player
  private let caller: TestGame.Caller

  /// A raw session, in which the player has taken nothing of what the game says, and more waits for it than its socket holds.
  init() throws {
    harness = try LoopHarness([("WRITE_STALL_TIMEOUT", "30s")], hasGame: true)
    player = try harness.arrive()
    try player.handshake()
    #expect(player.say(Player.upgrade).hasPrefix("HTTP/1.1 101 "))
    let game = try #require(harness.game)
    game.accept()
    caller = try #require(game.callers.first)
    fillThePlayer()
    try #require(waiting.forPlayer > 0)
  }

  /// What waits for either side.
  private var waiting: (forPlayer: Int, forGame: Int) {
    var found = (0, 0)
    harness.loop.connections.forEach { found = ($0.client.unsent.count, $0.session?.game.queued ?? 0) }
    return found
  }

  /// The game says so much that some of it waits for the player.
  private func fillThePlayer() {
    for _ in 0..<200 where waiting.forPlayer < 32 * 1024 {
      caller.say([UInt8](repeating: 0x61, count: 4096))
      harness.turn()
    }
  }

  /// The player says so much that some of it waits for the game, which takes nothing just now.
  private func fillTheGame() {
    let frame: [UInt8] = [0x82, 0x80 | 126, 0x40, 0, 0, 0, 0, 0] + [UInt8](repeating: 0x62, count: 0x4000)
    for _ in 0..<100 where waiting.forGame == 0 {
      player.client.write(frame)
      player.sendOutput()
      harness.turn()
    }
    #expect(waiting.forGame > 0)
  }

  /// Whoever talks to a game that takes it slowly has to read all the same.
  @Test func aPlayerWhoTakesNothingAndSaysMuch() throws {
    for second in stride(from: 0, to: 30, by: 10) {
      #expect(harness.shared.sessions.value == 1, "after \(second) s")
      fillTheGame()
      caller.hear()
      harness.turn()
      harness.pass(.seconds(10))
    }
    harness.pass(.seconds(1))
    #expect(harness.shared.sessions.value == 0)
    #expect(harness.metric("stalls_total{side=\"player\"}") == 1)
  }

  /// Nor does a game live on what its player takes.
  @Test func aGameThatTakesNothingAndSaysMuch() throws {
    fillTheGame()
    for second in stride(from: 0, to: 30, by: 10) {
      #expect(harness.shared.sessions.value == 1, "after \(second) s")
      fillThePlayer()
      _ = player.hear()
      harness.turn()
      harness.pass(.seconds(10))
    }
    harness.pass(.seconds(1))
    #expect(harness.shared.sessions.value == 0)
    #expect(harness.metric("stalls_total{side=\"game\"}") == 1)
  }

  /// Whoever reads slowly is not gone.
  @Test func aPlayerWhoReadsSlowly() throws {
    for _ in 0..<10 {
      fillThePlayer()
      #expect(waiting.forPlayer > 0)
      // More than half of what its socket holds: before that, the kernel says nothing.
      #expect(player.hearSome(200_000) > 0)
      harness.turn()
      harness.pass(.seconds(20))
    }
    #expect(harness.shared.sessions.value == 1)
  }
}

/// An app that acknowledges nothing is given up, however much it says.
@Suite struct AcknowledgingStallTests {
  @Test(arguments: [true, false]) func anAppThatTypesAndAcknowledgesNothing(_ typesTooFast: Bool) throws {
    let harness = try LoopHarness(
      [("WRITE_STALL_TIMEOUT", "30s"), ("INPUT_RATE", "1/s"), ("SESSION_BUFFER", "64KiB")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    let game = try #require(harness.game)
    game.accept()
    let caller = try #require(game.callers.first)
    func isFull() -> Bool {
      var isFull = false
      harness.loop.sessions.forEach { isFull = !($0.game.conversation?.state.mayHear ?? true) }
      return isFull
    }
    for _ in 0..<100 where !isFull() {
      caller.say([UInt8](repeating: 0x61, count: 4096))
      harness.turn()
      app.hear()
    }
    try #require(isFull())
    // Ten seconds' worth at once, and then always more than it may.
    if typesTooFast { for _ in 0..<20 { app.type("look\n") } }
    var seconds = 0
    while harness.shared.detached == 0, seconds < 400 {
      if typesTooFast { for _ in 0..<2 { app.type("look\n") } }
      harness.pass(.seconds(1))
      caller.hear()
      app.hear()
      seconds += 1
    }
    // While nothing is read of it, what it acknowledges may be behind that; but not for ever.
    #expect((typesTooFast ? 290...302 : 29...32).contains(seconds))
  }
}

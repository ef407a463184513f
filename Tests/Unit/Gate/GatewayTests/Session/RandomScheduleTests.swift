import System
import Testing

@testable import Gateway

/// Apps, a game and an operator that do what a generator says, over two loops that turn when it says: against a model of what
/// each has said, and then nothing may be left.
@Suite struct RandomScheduleTests {
  private static let settings = [
    ("SESSION_RESUME_FOR", "60s"), ("SESSION_BUFFER", "4KiB"), ("SESSION_BUFFERS_TOTAL", "64KiB"),
    ("INPUT_RATE", "50/s"), ("HANDSHAKE_RATE", "100000/s"), ("MAX_CONNECTIONS_PER_ADDRESS", "1000"),
  ]

  @Test(arguments: (1...8).map { UInt64($0) })
  func nothingIsLostDoubledOrLeft(_ seed: UInt64) throws {
    // Without keys an address may have few sessions away, also of those that no app ever heard of.
    let harness = try LoopHarness(
      Self.settings + TestKey.settings + [("MAX_SESSIONS_PER_KEY", "1000")], loops: 2, hasGame: true)
    var world = World(harness, seed, players: 3)
    world.keys = [try TestKey(harness), try TestKey(harness), try TestKey(harness)]
    for _ in 0..<400 { try world.step() }
    try world.expectAllSaid()
    world.goHome()
  }

  /// More of them than an address may have away, and than may be away at all.
  @Test(arguments: (1...6).map { UInt64($0) })
  func nothingIsLeftBeyondTheLimits(_ seed: UInt64) throws {
    let harness = try LoopHarness(Self.settings + [("MAX_DETACHED", "4")], loops: 2, hasGame: true)
    var world = World(harness, seed, players: 9, losesSessions: true)
    for _ in 0..<500 { try world.step() }
    world.goHome()
  }

  /// The same with keys, which an operator may revoke.
  @Test(arguments: (1...6).map { UInt64($0) })
  func nothingIsLeftOfKeys(_ seed: UInt64) throws {
    let harness = try LoopHarness(
      Self.settings + TestKey.settings + [("MAX_SESSIONS_PER_KEY", "2"), ("MAX_DETACHED", "3")], loops: 2,
      hasGame: true)
    var world = World(harness, seed, players: 6, losesSessions: true)
    world.keys = [try TestKey(harness), try TestKey(harness)]
    for _ in 0..<300 { try world.step() }
    world.goHome()
  }
}

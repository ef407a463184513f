import System
import Testing

@testable import Gateway

/// `SESSION_BUFFERS_TOTAL` over sessions of two loops.
@Suite struct SessionBufferTests {
  private let harness: LoopHarness
  private let key: TestKey

  init() throws {
    harness = try LoopHarness(
      TestKey.settings + [
        ("MAX_SESSIONS_PER_KEY", "100"), ("SESSION_BUFFER", "32KiB"), ("SESSION_BUFFERS_TOTAL", "64KiB"),
      ], loops: 2, hasGame: true)
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
    #expect(kept.allSatisfy { $0 > 4096 })
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
}

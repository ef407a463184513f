import System
import Testing

@testable import Gateway

/// Sessions of `portcullis.v1` on loops that are turned by hand: what they leave behind, and who still serves them.
@Suite struct DetachedSessionTests {
  /// All counts of a gate that nobody uses.
  static func expectNothingLeft(
    _ harness: LoopHarness, _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let shared = harness.shared
    let numbers = [
      "sessions": shared.sessions.value, "away": shared.away.value, "buffers": shared.buffers.value,
      "occupancy": shared.occupancy.value, "pending": shared.pending.value, "lingering": shared.lingering.value,
      "parting": shared.parting.value, "keys": shared.register.keyCount, "ids": shared.directory.count,
      "addresses": shared.addressCounts.count, "unattested": shared.unattestedAway.count,
      "sessions in tables": harness.loops.reduce(0) { $0 + $1.sessions.count },
      "connections in tables": harness.loops.reduce(0) { $0 + $1.connections.count },
    ]
    #expect(numbers.filter { $0.value != 0 } == [:], comment, sourceLocation: sourceLocation)
  }

  /// Until those who went without a word are forgotten.
  static func settle(_ harness: LoopHarness) {
    for _ in 0..<6 { harness.pass(.seconds(1)) }
  }

  @Test func aSilentAppCountsOnceForItsAddress() throws {
    let harness = try LoopHarness([("PONG_TIMEOUT", "90s"), ("SESSION_RESUME_FOR", "300s")], hasGame: true)
    let app = TestApp(harness)
    try app.connect()
    for _ in 0..<4 { harness.pass(.seconds(31)) }
    #expect(harness.shared.away.value == 1)
    app.vanish()
    for _ in 0..<20 { harness.pass(.seconds(31)) }
    Self.expectNothingLeft(harness)
  }
}

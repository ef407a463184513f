import System
import Testing

@testable import Gateway

extension LoopHarness {
  /// All counts are those of a gate that nobody uses.
  func expectNothingLeft(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    let numbers = [
      "sessions": shared.sessions.value, "away": shared.away.value, "buffers": shared.buffers.value,
      "occupancy": shared.occupancy.value, "pending": shared.pending.value,
      "lingering": shared.lingering.value,
      "parting": shared.parting.value, "keys": shared.register.keyCount, "ids": shared.directory.count,
      "addresses": shared.addressCounts.count, "away by address": shared.awayByAddress.count,
      "sessions in tables": loops.reduce(0) { $0 + $1.sessions.count },
      "connections in tables": loops.reduce(0) { $0 + $1.connections.count },
    ]
    #expect(numbers.filter { $0.value != 0 } == [:], comment, sourceLocation: sourceLocation)
  }

  /// Until connections that are over are forgotten.
  func settle() {
    for _ in 0..<6 { pass(.seconds(1)) }
  }
}

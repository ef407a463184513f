import Testing

@testable import Admission

/// A revocation among admissions, resumptions, drains and restarts, with what its parts say to each other late, twice or never
/// said: thousands of schedules, each the same on every run.
@Suite struct RevocationModelTests {
  private static let seeds: ClosedRange<UInt64> = 1...2000

  /// After each step of each schedule what was answered is true (`RevocationWorld.judge`).
  @Test func whatIsAnsweredIsTrue() throws {
    var (clean, ended, arrivals, unwritten, silent) = (0, 0, 0, 0, 0)
    for seed in Self.seeds {
      var world = RevocationWorld(seed: seed)
      for _ in 0..<260 {
        world.step()
        if let wrong = world.judge() {
          Issue.record("seed \(seed): \(wrong)")
          return
        }
      }
      let finished = world.finish()
      let outcome = try #require(finished, "seed \(seed): nobody is answered")
      if let wrong = world.judge() {
        Issue.record("seed \(seed), at the end: \(wrong)")
        return
      }
      ended += outcome.sessionsEnded
      arrivals += world.arrivalsUnderWay
      unwritten += outcome.unwritten.isEmpty ? 0 : 1
      silent += outcome.isSilent ? 1 : 0
      clean += outcome.isSilent || !outcome.unwritten.isEmpty ? 0 : 1
    }
    // The schedules reach what they are for.
    #expect(ended > 5000)
    #expect(arrivals > 200)
    #expect(unwritten > 200)
    #expect(silent > 200)
    #expect(clean > 400)
  }

  /// Where nothing is lost and the disk is well, all has come true without any time that is over.
  @Test func whereNothingIsLostNothingIsMissing() throws {
    for seed in Self.seeds {
      var world = RevocationWorld(seed: seed, losesNothing: true)
      for _ in 0..<120 { world.step() }
      let finished = world.finish()
      let outcome = try #require(finished, "seed \(seed): nobody is answered")
      #expect(!outcome.isSilent && outcome.unwritten.isEmpty && outcome.sessionsLeft == 0, "seed \(seed)")
      #expect(world.judge() == nil, "seed \(seed)")
    }
  }
}

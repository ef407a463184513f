import Testing

@testable import Time

@Suite struct ClockTests {
  private static func at(_ nanoseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds) }

  @Test func addsAndSubtracts() {
    #expect(Self.at(5) + .nanoseconds(7) == Self.at(12))
    #expect(Self.at(12) - Self.at(5) == .nanoseconds(7))
    #expect(Self.at(0) + .seconds(60) == Self.at(60_000_000_000))
    #expect(Self.at(3_500_000_000) - Self.at(0) == .milliseconds(3500))
  }

  @Test func aDifferenceIsNeverNegative() {
    #expect(Self.at(5) - Self.at(12) == .zero)
    #expect(Self.at(5) - Self.at(5) == .zero)
    #expect(Self.at(0) - Self.at(.max) == .zero)
  }

  /// A deadline that is too far to be told must not come round to the past.
  @Test func aSumStopsAtTheEndOfTime() {
    #expect(Self.at(1000) + .seconds(Int64.max) == Self.at(.max))
    #expect(Self.at(.max) + .nanoseconds(1) == Self.at(.max))
    #expect(Self.at(.max - 1) + .nanoseconds(1) == Self.at(.max))
    #expect(Self.at(5).adding(7) == Self.at(12) && Self.at(.max - 1).adding(2) == Self.at(.max))
  }

  @Test func comparisons() {
    let pairs: [(UInt64, UInt64)] = [(0, 0), (4, 5), (5, 4), (.max, 0), (0, .max), (.max, .max)]
    for (left, right) in pairs {
      let (one, other) = (Self.at(left), Self.at(right))
      #expect((one == other) == (left == right) && (one != other) == (left != right))
      #expect((one < other) == (left < right) && (one <= other) == (left <= right))
      #expect((one > other) == (left > right) && (one >= other) == (left >= right))
    }
  }

  @Test func durationsInWholeNumbers() {
    #expect(Duration.seconds(60).wholeNanoseconds == 60_000_000_000)
    #expect(Duration.milliseconds(1).wholeNanoseconds == 1_000_000)
    #expect((Duration.nanoseconds(3) / 2).wholeNanoseconds == 1)
    #expect(Duration.zero.wholeNanoseconds == 0)
    #expect(Duration.seconds(-1).wholeNanoseconds == 0)
    #expect(Duration.nanoseconds(-1).wholeNanoseconds == 0)
    #expect(Duration.seconds(Int64.max).wholeNanoseconds == .max)
    #expect((Duration.seconds(18_446_744_073) + .nanoseconds(709_551_615)).wholeNanoseconds == .max)
    #expect((Duration.seconds(18_446_744_073) + .nanoseconds(709_551_616)).wholeNanoseconds == .max)
    #expect(Duration.microseconds(1999).wholeMilliseconds == 1)
    #expect(Duration.seconds(-1).wholeMilliseconds == 0)
  }

  @Test(arguments: [(0, 0), (999, 0), (1000, 1), (-1, -1), (-1000, -1), (-1001, -2)] as [(Int64, Int64)])
  func secondsAreRoundedDown(milliseconds: Int64, seconds: Int64) {
    #expect(UnixTime(milliseconds: milliseconds).seconds == seconds)
  }

  @Test func theSystemsClocksRun() {
    let clock = SystemClock()
    let first = clock.monotonic()
    let second = clock.monotonic()
    #expect(second >= first)
    // After 2026 and before 2100, in milliseconds.
    #expect(clock.wall().milliseconds > 1_767_225_600_000)
    #expect(clock.wall().milliseconds < 4_102_444_800_000)
  }
}

@Suite struct EntropyTests {
  @Test func fillsAllAndNeverTheSame() {
    var seen = Set<[UInt8]>()
    for _ in 0..<1000 { seen.insert(KernelEntropy().bytes(16)) }
    #expect(seen.count == 1000)
    #expect(KernelEntropy().bytes(0) == [])
    // The kernel gives at most 256 bytes without a chance of a short answer; each part of a long one is filled.
    let long = KernelEntropy().bytes(100_000)
    #expect(long.count == 100_000)
    for start in stride(from: 0, to: 100_000, by: 1000) {
      #expect(Set(long[start..<start + 1000]).count > 200, "from \(start)")
    }
  }
}

import Time
import Testing

@testable import Gateway

/// A session's loop is woken for what can happen then, and for nothing else.
@Suite struct SessionDeadlinesTests {
  private static func time(_ seconds: UInt64) -> MonotonicTime {
    MonotonicTime(nanoseconds: seconds * 1_000_000_000)
  }

  /// All in seconds, with the defaults of docs/settings.md.
  private static func earliest(
    lastPing: UInt64?, lastHeard: UInt64, blockedSince: UInt64? = nil, close: UInt64? = nil
  ) -> UInt64 {
    let deadlines = SessionDeadlines(
      lastPing: lastPing.map(time), lastHeard: time(lastHeard), blockedSince: blockedSince.map(time),
      close: close.map(time))
    let earliest = deadlines.earliest(
      pingInterval: .seconds(30), pongTimeout: .seconds(90), stallTimeout: .seconds(30))
    return earliest.nanoseconds / 1_000_000_000
  }

  @Test func anOpenSessionIsPinged() {
    #expect(Self.earliest(lastPing: 100, lastHeard: 100) == 130)
  }

  @Test func aSilentPlayerIsNotWaitedForLonger() {
    #expect(Self.earliest(lastPing: 125, lastHeard: 50) == 140)
  }

  /// Its last ping is long ago, and the next one has to wait: that is no reason to wake.
  @Test func whoIsNotPingedIsNotWokenForIt() {
    #expect(Self.earliest(lastPing: nil, lastHeard: 140, blockedSince: 145) == 175)
    #expect(Self.earliest(lastPing: nil, lastHeard: 140, blockedSince: 140, close: 150) == 150)
    #expect(Self.earliest(lastPing: nil, lastHeard: 140, close: 260) == 230)
  }

  @Test func aStallBehindWhichThePlayerIsStillPinged() {
    #expect(Self.earliest(lastPing: 140, lastHeard: 140, blockedSince: 120) == 150)
  }

  // MARK: Silence

  private static func silence(lastPing: UInt64?, lastHeard: UInt64, now: UInt64) -> SessionDeadlines.Silence {
    let deadlines = SessionDeadlines(
      lastPing: lastPing.map(time), lastHeard: time(lastHeard), blockedSince: nil, close: nil)
    return deadlines.silence(at: time(now), pingInterval: .seconds(30), pongTimeout: .seconds(90))
  }

  @Test func whoWasPingedAndSaysNothingIsSilent() {
    #expect(Self.silence(lastPing: 160, lastHeard: 100, now: 189) == .isShort)
    #expect(Self.silence(lastPing: 160, lastHeard: 100, now: 190) == .isLong)
    // The ping that is due now, or somewhat late, would be the fourth.
    #expect(Self.silence(lastPing: 160, lastHeard: 100, now: 219) == .isLong)
    // Who is not pinged any more.
    #expect(Self.silence(lastPing: nil, lastHeard: 100, now: 1000) == .isLong)
  }

  /// A ping is an interval late: nobody has turned, so nobody can have been heard. Another one goes out, and has its time.
  @Test func aLoopThatStoodStillHearsNobody() {
    #expect(Self.silence(lastPing: 160, lastHeard: 100, now: 220) == .isOurs(heard: Self.time(160)))
    #expect(Self.silence(lastPing: 100, lastHeard: 101, now: 10_000) == .isOurs(heard: Self.time(9_940)))
    #expect(Self.earliest(lastPing: 10_000, lastHeard: 9_940) == 10_030)
    #expect(Self.silence(lastPing: 10_000, lastHeard: 9_940, now: 10_030) == .isLong)
  }

  /// With pings so often that each comes late by the clock's precision.
  @Test func whoIsPingedVeryOftenIsSilentInTheEnd() {
    let second: UInt64 = 1_000_000_000
    let deadlines = SessionDeadlines(
      lastPing: MonotonicTime(nanoseconds: second), lastHeard: MonotonicTime(nanoseconds: second),
      blockedSince: nil, close: nil)
    for late: UInt64 in [0, 20, 49] {
      let now = MonotonicTime(nanoseconds: second + (30 + late) * 1_000_000)
      let silence = deadlines.silence(
        at: now, pingInterval: .milliseconds(10), pongTimeout: .milliseconds(30))
      #expect(silence == .isLong, "\(late) ms")
    }
  }
}

import System
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
}

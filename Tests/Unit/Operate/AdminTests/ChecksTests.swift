import System
import Testing
import Time

@testable import Admin

/// What probes are told of what was seen.
@Suite struct ChecksTests {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
  private let nobody = GameWatch.Connects(failedAt: nil, sessions: 0)
  private let players = GameWatch.Connects(failedAt: nil, sessions: 3)

  @Test func theGameIsCalledWhileNobodyPlays() {
    var watch = GameWatch()
    #expect(watch.standing(nobody) == .unknown && watch.isCallDue(nobody, isNeeded: false, now: start))
    watch.note(call: nil, at: start)
    #expect(watch.standing(nobody) == .up)
    #expect(!watch.isCallDue(nobody, isNeeded: false, now: start + .seconds(29)))
    #expect(watch.isCallDue(nobody, isNeeded: false, now: start + .seconds(30)))
    // Where readiness goes by it, it is not to be taken for up that long.
    #expect(!watch.isCallDue(nobody, isNeeded: true, now: start + .milliseconds(2499)))
    #expect(watch.isCallDue(nobody, isNeeded: true, now: start + .milliseconds(2500)))
    #expect(!watch.isCallDue(players, isNeeded: true, now: start + .seconds(3600)))
  }

  @Test func aGameThatIsAway() {
    var watch = GameWatch()
    watch.note(call: "connect: ECONNREFUSED", at: start)
    #expect(watch.standing(nobody) == .away("connect: ECONNREFUSED"))
    #expect(!watch.isCallDue(nobody, isNeeded: false, now: start + .milliseconds(2499)))
    #expect(watch.isCallDue(nobody, isNeeded: false, now: start + .milliseconds(2500)))
    // Somebody has got through since.
    #expect(watch.standing(players) == .up)
    watch.note(call: nil, at: start + .seconds(5))
    #expect(watch.standing(nobody) == .up)
  }

  /// A player's connect that fails is news, until a call behind it succeeds.
  @Test func aConnectThatFails() {
    var watch = GameWatch()
    let early = GameWatch.Connects(failedAt: start, sessions: 0)
    #expect(watch.standing(early) == .away("a player's connect failed"))
    watch.note(call: nil, at: start)
    let failed = GameWatch.Connects(failedAt: start + .seconds(10), sessions: 3)
    #expect(watch.standing(failed) == .away("a player's connect failed"))
    #expect(watch.isCallDue(failed, isNeeded: false, now: start + .seconds(11)))
    watch.note(call: nil, at: start + .seconds(11))
    #expect(watch.standing(failed) == .up)
  }

  @Test func whatAGameThatIsAwayMeans() {
    func game(_ standing: GameWatch.Standing, isNeeded: Bool, lateness: Duration? = nil) -> Readiness.Check {
      .game(standing, lateness: lateness, isNeeded: isNeeded)
    }
    #expect(game(.up, isNeeded: true).state == .ok)
    #expect(game(.away("x"), isNeeded: false).state == .degraded)
    #expect(game(.away("x"), isNeeded: true).state == .failed)
    #expect(game(.unknown, isNeeded: false).state == .ok)
    #expect(game(.unknown, isNeeded: true).state == .failed)
    #expect(game(.up, isNeeded: false, lateness: .seconds(7)).state == .degraded)
    let late = game(.up, isNeeded: true, lateness: .milliseconds(2900))
    #expect(late.state == .failed && late.detail == "nobody could call it for 2 s")
  }

  /// Whoever would call it hangs: what is known of the game is five seconds old at most.
  @Test func aCallThatIsOverdue() {
    var watch = GameWatch()
    func look(_ connects: GameWatch.Connects, after time: Duration) -> Bool {
      watch.look(connects, isNeeded: true, now: start + time)
    }
    #expect(look(nobody, after: .zero))
    #expect(watch.lateness(now: start + .milliseconds(1500)) == nil)
    #expect(watch.lateness(now: start + .seconds(2)) == .seconds(2))
    watch.note(call: nil, at: start + .seconds(2))
    #expect(watch.lateness(now: start + .seconds(4)) == nil)
    // The look that finds a call due comes a second late at most.
    #expect(look(nobody, after: .milliseconds(5500)) && look(nobody, after: .milliseconds(6500)))
    #expect(watch.lateness(now: start + .milliseconds(7000)) == nil)
    #expect(watch.lateness(now: start + .milliseconds(7001)) == .milliseconds(1501))
    // Players say how it stands.
    #expect(!look(players, after: .seconds(8)))
    #expect(watch.lateness(now: start + .seconds(60)) == nil)
    // They have left, and from that moment on somebody has to call.
    #expect(look(nobody, after: .seconds(60)))
    #expect(watch.lateness(now: start + .seconds(61)) == nil)
  }

  /// A thread that cannot look any more is no sign that all is well.
  @Test func whoLooksMayHangToo() {
    #expect(Readiness.Check.loops(silent: [], age: .seconds(5)).state == .ok)
    let hanging = Readiness.Check.loops(silent: [], age: .seconds(7))
    #expect(hanging.state == .failed && hanging.detail == "nobody could look for 7 s")
    #expect(Readiness.Check.loops(silent: [1, 3], age: .seconds(1)).detail == "no answer from 1, 3")
    #expect(Readiness.Check.isRecent(.seconds(1)) && !Readiness.Check.isRecent(.seconds(6)))
  }

  @Test func neitherCertificateNorDiskTakesTheGateOut() {
    #expect(Readiness.Check.certificate(nil).state == .ok)
    #expect(Readiness.Check.certificate("it has ended").state == .degraded)
    let plenty = DiskSpace(freeBytes: 1 << 40, bytes: 1 << 41, freeFiles: 9)
    for (space, state) in [
      ([], Readiness.State.ok), ([plenty], .ok),
      ([plenty, DiskSpace(freeBytes: 1 << 28, bytes: 1 << 33, freeFiles: nil)], .ok),
      ([plenty, DiskSpace(freeBytes: 255 << 20, bytes: 1 << 30, freeFiles: 9)], .degraded),
      ([DiskSpace(freeBytes: 1 << 30, bytes: 51 << 30, freeFiles: 9)], .degraded),
      ([DiskSpace(freeBytes: 1 << 40, bytes: 1 << 41, freeFiles: 0)], .degraded),
    ] as [([DiskSpace], Readiness.State)] {
      #expect(Readiness.Check.disk(space, age: .seconds(5)).state == state)
      #expect(Readiness.Check.disk(space, age: .seconds(6)).state == .degraded)
    }
    #expect(Readiness.Check.disk(nil, age: .zero).state == .ok)
  }
}

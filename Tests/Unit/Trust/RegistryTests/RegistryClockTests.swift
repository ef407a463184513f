/// The registry's time beside two clocks that a test sets.
import Kit
import Synchronization
import Time
import Testing

@testable import Registry

@Suite struct RegistryClockTests {
  @Test func goesWithTheWallClock() {
    let clocks = ManualClock()
    var clock = RegistryClock(clocks)
    let start = clock.now()
    #expect(start == clocks.wall())
    clocks.advance(.seconds(10))
    holds(clock.now().milliseconds == start.milliseconds + 10_000)
  }

  @Test func setBackItGoesOn() {
    let clocks = ManualClock()
    var clock = RegistryClock(clocks)
    let start = clock.now()
    clocks.setWall(by: .seconds(-3600))
    holds(clock.now() == start)
    clocks.advance(.seconds(300))
    holds(clock.now().milliseconds == start.milliseconds + 300_000)
  }

  @Test func setForwardItFollowsAndStays() {
    let clocks = ManualClock()
    var clock = RegistryClock(clocks)
    let start = clock.now()
    clocks.setWall(by: .seconds(3600))
    holds(clock.now().milliseconds == start.milliseconds + 3_600_000)
    clocks.setWall(by: .seconds(-3600))
    holds(clock.now().milliseconds == start.milliseconds + 3_600_000)
  }

  @Test func manyShortLooksLoseNoTime() {
    let clocks = ManualClock()
    var clock = RegistryClock(clocks)
    let start = clock.now()
    clocks.setWall(by: .seconds(-3600))
    for _ in 0..<10_000 {
      clocks.advance(.microseconds(300))
      _ = clock.now()
    }
    holds(clock.now().milliseconds == start.milliseconds + 3000)
  }

  @Test func neverBeforeWhatWasPromised() {
    let clocks = ManualClock()
    let floor = UnixTime(milliseconds: clocks.wall().milliseconds + 5000)
    var clock = RegistryClock(clocks, notBefore: floor)
    holds(clock.now() == floor)
  }
}

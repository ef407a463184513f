/// The registry's time beside two clocks that a test sets.
import Synchronization
import System
import Testing

@testable import Registry

@Suite struct RegistryClockTests {
  private final class Clocks: Clock {
    private let state = Mutex((monotonic: UInt64(1_000_000_000), wall: Int64(1_700_000_000_000)))

    func monotonic() -> MonotonicTime { MonotonicTime(nanoseconds: state.withLock { $0.monotonic }) }
    func wall() -> UnixTime { UnixTime(milliseconds: state.withLock { $0.wall }) }

    func pass(_ duration: Duration) {
      state.withLock {
        $0.monotonic += duration.wholeNanoseconds
        $0.wall += duration.wholeMilliseconds
      }
    }

    func setWall(by milliseconds: Int64) { state.withLock { $0.wall += milliseconds } }
  }

  @Test func goesWithTheWallClock() {
    let clocks = Clocks()
    var clock = RegistryClock(clocks)
    let start = clock.now()
    #expect(start == clocks.wall())
    clocks.pass(.seconds(10))
    holds(clock.now().milliseconds == start.milliseconds + 10_000)
  }

  @Test func setBackItGoesOn() {
    let clocks = Clocks()
    var clock = RegistryClock(clocks)
    let start = clock.now()
    clocks.setWall(by: -3_600_000)
    holds(clock.now() == start)
    clocks.pass(.seconds(300))
    holds(clock.now().milliseconds == start.milliseconds + 300_000)
  }

  @Test func setForwardItFollowsAndStays() {
    let clocks = Clocks()
    var clock = RegistryClock(clocks)
    let start = clock.now()
    clocks.setWall(by: 3_600_000)
    holds(clock.now().milliseconds == start.milliseconds + 3_600_000)
    clocks.setWall(by: -3_600_000)
    holds(clock.now().milliseconds == start.milliseconds + 3_600_000)
  }

  @Test func manyShortLooksLoseNoTime() {
    let clocks = Clocks()
    var clock = RegistryClock(clocks)
    let start = clock.now()
    clocks.setWall(by: -3_600_000)
    for _ in 0..<10_000 {
      clocks.pass(.microseconds(300))
      _ = clock.now()
    }
    holds(clock.now().milliseconds == start.milliseconds + 3000)
  }

  @Test func neverBeforeWhatWasPromised() {
    let clocks = Clocks()
    let floor = UnixTime(milliseconds: clocks.wall().milliseconds + 5000)
    var clock = RegistryClock(clocks, notBefore: floor)
    holds(clock.now() == floor)
  }
}

/// The registry's time: that of the wall clock, but it never goes back and never stands still (docs/devices-operating.md, "Time").
///
/// A deadline is over when either clock says so: with a wall clock that is set back, time goes on as the monotonic one
/// does; with one that is set forward, it is the wall clock's.
package import Time

package struct RegistryClock {
  private let clock: any Clock
  private var time: UnixTime
  private var seenAt: MonotonicTime

  /// - Parameter floor: the highest time that was promised before.
  package init(_ clock: any Clock, notBefore floor: UnixTime = UnixTime(milliseconds: 0)) {
    self.clock = clock
    seenAt = clock.monotonic()
    time = max(clock.wall(), floor)
  }

  package mutating func now() -> UnixTime {
    let moment = clock.monotonic()
    let elapsed = (moment - seenAt).wholeMilliseconds
    // Only whole milliseconds are taken off, so that many short calls lose none.
    seenAt = seenAt + .milliseconds(elapsed)
    time = max(clock.wall(), UnixTime(milliseconds: time.milliseconds + elapsed))
    return time
  }

  /// When it will be so late, by the monotonic clock, if nobody sets the other.
  package func moment(of deadline: UnixTime) -> MonotonicTime {
    seenAt + .milliseconds(max(0, deadline.milliseconds - time.milliseconds))
  }
}

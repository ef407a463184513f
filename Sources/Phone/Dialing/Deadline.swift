/// A point in time until which a blocking call may take.
internal import Glibc
package import System
internal import Time

package struct Deadline: Sendable {
  /// Nil: never.
  private let end: MonotonicTime?

  package static let never = Deadline(end: nil)

  package static func after(_ duration: Duration) -> Deadline {
    Deadline(end: SystemClock().monotonic() + duration)
  }

  /// At a moment of the system's monotonic clock, in seconds; nil: never.
  static func at(seconds: Double?) -> Deadline {
    Deadline(end: seconds.map { MonotonicTime(nanoseconds: UInt64(max(0, $0) * 1e9)) })
  }

  func earlier(_ other: Deadline) -> Deadline {
    (end ?? .never) < (other.end ?? .never) ? self : other
  }

  package var hasPassed: Bool { milliseconds == 0 }

  /// For `poll(2)`: rounded up, so that it never wakes too early; -1 without an end.
  private var milliseconds: Int32 {
    guard let end else { return -1 }
    let left = (end - SystemClock().monotonic()).wholeNanoseconds
    return Int32(clamping: (left + 999_999) / 1_000_000)
  }

  enum Readiness { case first, second, timedOut }

  /// Waits until a descriptor has one of `events` or is broken; the first one wins when both are ready.
  func wait(for descriptor: Int32, _ events: Int32, or second: Int32? = nil) throws(SystemError) -> Readiness
  {
    while true {
      // A negative descriptor is passed over by poll.
      var entries = [
        pollfd(fd: descriptor, events: Int16(events), revents: 0),
        pollfd(fd: second ?? -1, events: Int16(POLLIN), revents: 0),
      ]
      // The call reads and writes the two entries of the array.
      let ready = unsafe poll(&entries, 2, milliseconds)
      if ready == 0 { return .timedOut }
      if ready > 0 { return entries[0].revents != 0 ? .first : .second }
      guard errno == EINTR else { throw SystemError("poll") }
    }
  }
  /// Waits until one of several descriptors is readable or broken: its place among them, the first one's where more are
  /// ready. Nil when the time is over. Negative ones are passed over.
  package func waitForAny(of descriptors: [Int32]) throws(SystemError) -> Int? {
    while true {
      var entries = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      // The call reads and writes the entries of the array.
      let ready = unsafe poll(&entries, nfds_t(entries.count), milliseconds)
      if ready == 0 { return nil }
      if ready > 0 { return entries.firstIndex { $0.revents != 0 } }
      guard errno == EINTR else { throw SystemError("poll") }
    }
  }
}

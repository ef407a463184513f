/// Time, behind a seam: the monotonic clock for deadlines, the wall clock for certificates and records.
internal import CLinux

/// A reading of the monotonic clock, in nanoseconds since an arbitrary start.
public struct MonotonicTime: Comparable, Hashable, Sendable {
  public var nanoseconds: UInt64

  @inlinable
  public init(nanoseconds: UInt64) {
    self.nanoseconds = nanoseconds
  }

  /// The end of time: no deadline.
  @inlinable public static var never: Self { Self(nanoseconds: .max) }

  // Compared several times in each turn: written out, so that callers need not ask for the conformance.
  @inlinable public static func == (left: Self, right: Self) -> Bool { left.nanoseconds == right.nanoseconds }
  @inlinable public static func != (left: Self, right: Self) -> Bool { left.nanoseconds != right.nanoseconds }
  @inlinable public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
  @inlinable public static func <= (left: Self, right: Self) -> Bool { left.nanoseconds <= right.nanoseconds }
  @inlinable public static func > (left: Self, right: Self) -> Bool { left.nanoseconds > right.nanoseconds }
  @inlinable public static func >= (left: Self, right: Self) -> Bool { left.nanoseconds >= right.nanoseconds }

  /// The end of time when the sum lies beyond it; a negative `duration` counts as zero.
  @inlinable
  public static func + (time: Self, duration: Duration) -> Self { time.adding(duration.wholeNanoseconds) }

  /// The end of time when the sum lies beyond it.
  @inlinable
  public func adding(_ nanoseconds: UInt64) -> Self {
    let (sum, overflow) = self.nanoseconds.addingReportingOverflow(nanoseconds)
    return Self(nanoseconds: overflow ? .max : sum)
  }

  /// Zero when `other` is later.
  @inlinable
  public static func - (time: Self, other: Self) -> Duration {
    time.nanoseconds > other.nanoseconds
      ? .nanoseconds(Int64(clamping: time.nanoseconds - other.nanoseconds)) : .zero
  }
}

extension Duration {
  /// In whole nanoseconds; zero when negative, the largest number when too long.
  @inlinable
  public var wholeNanoseconds: UInt64 {
    let (seconds, attoseconds) = components
    guard seconds >= 0, attoseconds >= 0 else { return 0 }
    let (scaled, tooLong) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, overflow) = scaled.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
    return tooLong || overflow ? .max : sum
  }

  /// In whole milliseconds; zero when negative.
  public var wholeMilliseconds: Int64 { Int64(clamping: wholeNanoseconds / 1_000_000) }
}

/// A reading of the wall clock, in milliseconds since 1970-01-01T00:00:00Z.
package struct UnixTime: Comparable, Hashable, Sendable {
  package var milliseconds: Int64

  package init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  package var seconds: Int64 { milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000 }

  package static func < (left: Self, right: Self) -> Bool { left.milliseconds < right.milliseconds }
}

/// Where time comes from; tests put their own in its place.
package protocol Clock: Sendable {
  func monotonic() -> MonotonicTime
  func wall() -> UnixTime
}

/// `CLOCK_MONOTONIC` and `CLOCK_REALTIME`.
package struct SystemClock: Clock {
  package init() {}
  package func monotonic() -> MonotonicTime { MonotonicTime(nanoseconds: portcullis_monotonic()) }
  package func wall() -> UnixTime { UnixTime(milliseconds: portcullis_realtime() / 1_000_000) }
}

extension SystemClock {
  /// Returns at once when the moment has passed.
  package func sleep(until moment: MonotonicTime) { portcullis_sleep_until(moment.nanoseconds) }
}

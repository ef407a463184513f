/// A session's time: seconds from functions, since iOS 15 has no clocks of Swift's own.
#if canImport(Darwin)
  internal import Darwin
#else
  internal import Glibc
#endif

/// What a session measures time by. Tests put their own in its place.
public struct GameClock: Sendable {
  /// Seconds since some moment; never goes back, and counts on while the device sleeps.
  public var now: @Sendable () -> Double
  /// Returns after so many seconds; sooner, by throwing, when its task is cancelled.
  public var sleep: @Sendable (Double) async throws -> Void

  /// - Parameters:
  ///   - now: seconds since some moment.
  ///   - sleep: returns after so many seconds.
  public init(
    now: @escaping @Sendable () -> Double, sleep: @escaping @Sendable (Double) async throws -> Void
  ) {
    self.now = now
    self.sleep = sleep
  }

  /// The system's.
  public static let system = GameClock(
    now: {
      var time = timespec()
      #if canImport(Darwin)
        clock_gettime(CLOCK_MONOTONIC, &time)
      #else
        clock_gettime(CLOCK_BOOTTIME, &time)
      #endif
      return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    },
    sleep: { seconds in
      // A day at most: what is waited for longer is looked at again.
      try await Task.sleep(nanoseconds: UInt64(min(max(0, seconds), 86_400) * 1e9))
    })
}

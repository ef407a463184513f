/// A session's time: seconds from functions, since iOS 15 has no clocks of Swift's own.
#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#elseif canImport(Android)
  internal import Android
#endif

/// What a session measures time by. Tests put their own in its place.
public struct GameClock: Sendable {
  /// Seconds since some moment; never goes back, and counts on while the device sleeps.
  public var now: @Sendable () -> Double
  /// Returns after so many seconds; sooner, by throwing, when its task is cancelled.
  public var sleep: @Sendable (Double) async throws -> Void
  /// Likewise, at that moment of `now`; nil: by `sleep`. A clock that a test moves has it: what is asked for before the clock is
  /// moved, and begun after it, would else end too late.
  package var sleepUntil: (@Sendable (Double) async throws -> Void)?
  /// Unix time in seconds, as the person at the device has set it.
  public var wall: @Sendable () -> Double

  /// - Parameters:
  ///   - now: seconds since some moment.
  ///   - sleep: returns after so many seconds.
  ///   - wall: Unix time in seconds; nil: the system's.
  public init(
    now: @escaping @Sendable () -> Double, sleep: @escaping @Sendable (Double) async throws -> Void,
    wall: (@Sendable () -> Double)? = nil
  ) {
    self.now = now
    self.sleep = sleep
    self.wall = wall ?? { Self.seconds(CLOCK_REALTIME) }
  }

  /// Returns at that moment of `now`, or at once where that is past.
  func sleep(until time: Double) async throws {
    if let sleepUntil { return try await sleepUntil(time) }
    try await sleep(max(0, time - now()))
  }

  private static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The system's.
  public static let system = GameClock(
    now: {
      #if canImport(Darwin)
        seconds(CLOCK_MONOTONIC)
      #else
        seconds(CLOCK_BOOTTIME)
      #endif
    },
    sleep: { seconds in
      // A day at most: what is waited for longer is looked at again.
      try await Task.sleep(nanoseconds: UInt64(min(max(0, seconds), 86_400) * 1e9))
    })
}

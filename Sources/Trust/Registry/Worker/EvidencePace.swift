/// How much of a processor goes to phones' evidence: players have the same one, and a phone has time.
internal import Time

/// Whatever phones send, it is at most a quarter of one processor, and few syncs: while the kernel hands blocks to a disk, no
/// loop runs there for some 0.2 ms.
struct EvidencePace {
  /// So many calls are served at once: whoever asks for something else waits for no more.
  static let limit = 16
  /// What evidence has taken is at most one part in so many of the time until more is served.
  private static let parts = 4
  /// A turn that had other things to do says nothing of evidence.
  private static let longest: Duration = .milliseconds(500)

  /// From one sync to the next.
  private let interval: Duration
  /// Evidence is served from then on.
  private(set) var from = MonotonicTime(nanoseconds: 0)

  /// - Parameter interval: as it is, unless a test has its own.
  init(interval: Duration = .milliseconds(20)) {
    self.interval = interval
  }

  mutating func endRest() { from = MonotonicTime(nanoseconds: 0) }

  /// Some was served.
  /// - Parameters:
  ///   - spent: time on a processor, with that of whoever has judged evidence since it was served before.
  ///   - hasWritten: it was not questions alone.
  mutating func rest(behind began: MonotonicTime, spent: Duration, hasWritten: Bool) {
    from = began + max(min(spent * Self.parts, Self.longest), hasWritten ? interval : .zero)
  }
}

/// When a sign of life is due, and whether it may be given: only after answers since the last one.
package import Time

/// Pure: it is told the time and who answered, and says what to do next.
package struct WatchdogSchedule: Sendable {
  package enum Step: Equatable, Sendable {
    /// Have everybody answer who has to be alive.
    case ask
    /// All have answered: tell the service manager.
    case tell
    /// A question is open for a whole period; said once for each.
    case complain
    case wait(Duration)
  }

  /// Half of what the service manager allows, so that one late answer costs nobody his life.
  package let period: Duration
  private var due: MonotonicTime
  private var question: (asked: MonotonicTime, hasComplained: Bool)?

  /// The first question comes at once.
  package init(interval: Duration, now: MonotonicTime) {
    period = max(interval / 2, .milliseconds(1))
    due = now
  }

  /// - Parameter isAnswered: whether all have answered the last question; nothing when none is open.
  package mutating func next(now: MonotonicTime, isAnswered: Bool) -> Step {
    guard let open = question else {
      if now < due { return .wait(due - now) }
      question = (now, false)
      due = now + period
      return .ask
    }
    if isAnswered {
      question = nil
      return .tell
    }
    if !open.hasComplained, now >= open.asked + period {
      question = (open.asked, true)
      return .complain
    }
    // Answers take less than a millisecond, and ring no bell.
    return .wait(min(period / 8, .milliseconds(20)))
  }
}

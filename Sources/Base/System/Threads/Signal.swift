/// A doorbell for one waiting thread: rung any number of times, it wakes the waiter once.
package import Time

/// Rings are not counted and none is lost: one that comes before `wait` makes the next `wait` return at once.
package final class Signal: Sendable {
  private let isRung = Monitor(false)

  package init() {}

  package func ring() {
    isRung.withLock { isRung, wake in
      if !isRung { wake.one() }
      isRung = true
    }
  }

  /// Returns when rung, or at `deadline` of the system's monotonic clock; without one it may wait for ever.
  /// - Returns: whether it was rung.
  @discardableResult
  package func wait(until deadline: MonotonicTime? = nil) -> Bool {
    func answer(_ isRung: inout Bool) -> Waited<Bool> {
      guard isRung else { return .wait }
      isRung = false
      return .done(true)
    }
    guard let deadline else { return isRung.wait(answer) }
    return isRung.wait(until: deadline, answer) ?? false
  }
}

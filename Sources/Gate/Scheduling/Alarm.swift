/// The one deadline of whatever a token names, and its entry in the loop's wheel.
package import Time

package struct Alarm {
  package private(set) var deadline = MonotonicTime.never
  private var wheelTick: UInt64 = 0

  package init() {}

  /// Sets the deadline, and sees that it comes up.
  package mutating func set(at deadline: MonotonicTime, for token: Token, in wheel: DeadlineWheel) {
    self.deadline = deadline
    let wanted = DeadlineWheel.tick(of: deadline)
    if wheelTick == 0 || wanted < wheelTick { wheelTick = wheel.insert(token.rawValue, at: deadline) }
  }

  /// No deadline any more: its entry will be ignored.
  package mutating func clear() {
    deadline = .never
  }

  /// An entry of the wheel came up. Whether the deadline has passed; it is none any more then.
  package mutating func rings(tick: UInt64, for token: Token, in wheel: DeadlineWheel, now: MonotonicTime)
    -> Bool
  {
    guard tick == wheelTick else { return false }
    wheelTick = 0
    if deadline > now {
      if deadline != .never { set(at: deadline, for: token, in: wheel) }
      return false
    }
    deadline = .never
    return true
  }
}

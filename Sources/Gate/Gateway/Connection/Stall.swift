/// Since when a side takes nothing of what waits for it (`WRITE_STALL_TIMEOUT`). Each side has one of its own: what the
/// other one takes is no progress of this one's, or whoever sends much would not have to read.
internal import Time

struct Stall {
  private(set) var since: MonotonicTime?

  /// Something waits.
  /// - Parameter hasProgressed: some was taken, with which the time begins anew.
  /// - Returns: whether it begins now.
  mutating func waits(hasProgressed: Bool, now: MonotonicTime) -> Bool {
    guard since == nil || hasProgressed else { return false }
    since = now
    return true
  }

  mutating func ends() { since = nil }

  func isOver(_ timeout: Duration, now: MonotonicTime) -> Bool {
    since.map { now - $0 >= timeout } ?? false
  }
}

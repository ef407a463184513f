/// What an `IncomingLedger` knows of the queue to the game, for the process that goes on with that queue.

package struct IncomingSnapshot: Equatable, Sendable {
  package let handled: Int
  /// Bytes in the queue.
  package let waiting: Int
  /// Where messages end in it that were taken and are not handled, the oldest first.
  package let ends: [Int]
  /// Its first bytes are the rest of something whose beginning the game has.
  package let isTorn: Bool

  /// Nil if they do not lie in the queue one behind the other.
  package init?(checking handled: Int, waiting: Int, ends: [Int], isTorn: Bool) {
    guard handled >= 0, waiting >= 0, handled <= Self.highestCount, waiting <= Self.highestCount else {
      return nil
    }
    if isTorn, waiting == 0 { return nil }
    var before = 0
    for end in ends {
      guard end >= before, end > 0, end <= waiting else { return nil }
      before = end
    }
    self.init(handled: handled, waiting: waiting, ends: ends, isTorn: isTorn)
  }

  init(handled: Int, waiting: Int, ends: [Int], isTorn: Bool) {
    self.handled = handled
    self.waiting = waiting
    self.ends = ends
    self.isTorn = isTorn
  }

  private static let highestCount = 1 << 53
}

/// Deadlines of a loop's connections: a ring of ticks, each with the tokens that may be due then.
///
/// A connection has one entry. Moving its deadline later costs nothing: the entry comes up, is found early, and is put
/// where it belongs now. Moving it earlier adds an entry, and the old one is ignored as stale.
///
/// A class, so that a loop reads one number of it each turn without a check for exclusive access to the whole.
package import Time

package final class DeadlineWheel {
  /// The precision of all deadlines.
  package static let tick: UInt64 = 50_000_000
  private static let slots = 1024

  private var ring = [[Entry]](repeating: [], count: slots)
  /// All ticks up to this one have been handed out.
  private var current: UInt64
  /// No tick before this one holds anything; nil when none does. Kept so that a loop about to sleep does not search.
  private var earliest: UInt64?

  package struct Entry {
    package let token: UInt64
    /// The tick that the connection believes its entry to be at.
    package let tick: UInt64
  }

  package init(now: MonotonicTime) {
    current = now.nanoseconds / Self.tick
  }

  /// The first tick at which `deadline` has passed.
  package static func tick(of deadline: MonotonicTime) -> UInt64 {
    // Rounded up without a sum, which would bring the end of time round to its beginning.
    deadline.nanoseconds / tick + (deadline.nanoseconds.isMultiple(of: tick) ? 0 : 1)
  }

  /// Puts an entry at `deadline`, or as near to it as the ring reaches, and returns its tick.
  package func insert(_ token: UInt64, at deadline: MonotonicTime) -> UInt64 {
    let tick = min(max(Self.tick(of: deadline), current + 1), current + UInt64(Self.slots - 1))
    ring[Int(tick % UInt64(Self.slots))].append(Entry(token: token, tick: tick))
    earliest = min(earliest ?? tick, tick)
    return tick
  }

  /// Removes and returns the entries whose ticks have passed.
  package func expire(now: MonotonicTime) -> [Entry] {
    let last = now.nanoseconds / Self.tick
    guard last > current else { return [] }
    let first = current + 1
    current = last
    guard let earliest, earliest <= last else { return [] }
    var due: [Entry] = []
    for tick in max(first, earliest)...min(last, first + UInt64(Self.slots - 1)) {
      let slot = Int(tick % UInt64(Self.slots))
      if ring[slot].isEmpty { continue }
      due += ring[slot]
      ring[slot] = []
    }
    self.earliest = firstFilled()
    return due
  }

  /// Until when a loop may sleep: the first tick that holds anything; nil when none does.
  /// A call, since nobody but this file may be seen to touch `earliest`: so no access to it is checked.
  package var next: MonotonicTime? { earliest.map { MonotonicTime(nanoseconds: $0 * Self.tick) } }

  private func firstFilled() -> UInt64? {
    for tick in (current + 1)..<(current + UInt64(Self.slots))
    where !ring[Int(tick % UInt64(Self.slots))].isEmpty {
      return tick
    }
    return nil
  }
}

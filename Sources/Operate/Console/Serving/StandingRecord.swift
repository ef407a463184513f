/// How the gate stood in each minute of the last day, the worst of it; in memory alone.
import Time

struct StandingRecord {
  private static let minutes = 1440
  private static let nanoseconds: UInt64 = 60_000_000_000

  /// Oldest first; nil where nobody looked.
  private var standings: [Standing?] = []
  /// Which minute of the monotonic clock the last one is.
  private var last: UInt64 = 0

  mutating func note(_ standing: Standing, at now: MonotonicTime) {
    let minute = now.nanoseconds / Self.nanoseconds
    if standings.isEmpty {
      standings = [nil]
    } else if minute > last {
      standings += [Standing?](repeating: nil, count: Int(min(minute - last, UInt64(Self.minutes))))
      standings.removeFirst(max(0, standings.count - Self.minutes))
    }
    last = max(last, minute)
    standings[standings.count - 1] = Self.worse(standings.last ?? nil, standing)
  }

  private static func worse(_ one: Standing?, _ other: Standing) -> Standing {
    let order: [Standing] = [.bad, .doubtful, .neutral, .good]
    return order.first { $0 == one || $0 == other } ?? other
  }

  /// - Parameter minutes: how long ago; 0 is the running one.
  func standing(ago minutes: Int) -> Standing? {
    let index = standings.count - 1 - minutes
    return standings.indices.contains(index) ? standings[index] : nil
  }
}

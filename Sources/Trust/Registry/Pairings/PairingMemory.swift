/// How often phones have answered QR codes within a minute, by their addresses. A restart forgets it.
internal import System

/// Used by the registry's thread alone.
package final class PairingMemory {
  package static let answersAMinute = 10
  static let minute: Duration = .seconds(60)
  /// Of addresses in one minute; above that nobody gets a first try before the minute is over.
  private static let capacity = 65_536

  private var counts: [Origin: Int] = [:]
  private var minuteBegan = UnixTime(milliseconds: 0)

  package init() {}

  /// Counts this one.
  func mayAnswer(_ origin: Origin, now: UnixTime) -> Bool {
    if now.milliseconds - minuteBegan.milliseconds >= Self.minute.wholeMilliseconds {
      counts = [:]
      minuteBegan = now
    }
    let origin = origin.payer
    guard counts[origin] != nil || counts.count < Self.capacity else { return false }
    counts[origin, default: 0] += 1
    return counts[origin, default: 0] <= Self.answersAMinute
  }
}

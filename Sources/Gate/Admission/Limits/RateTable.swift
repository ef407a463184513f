/// Token buckets for addresses, or others, in a table of fixed size, which no flood can grow (docs/settings.md,
/// "More about some limits").
///
/// Each bucket is one number, the time at which it will be full again (the "theoretical arrival time" of the generic
/// cell rate algorithm, ITU-T I.371). Four buckets share a place; a fifth address takes over the fullest of them.
internal import Synchronization
package import Time

package final class RateTable: Sendable {
  /// What one address may do: `burst` at once, and one more every `interval`.
  package struct Allowance: Sendable {
    fileprivate let interval: UInt64
    fileprivate let tolerance: UInt64

    /// - Parameters:
    ///   - count: how many within `period`; must be positive.
    ///   - burst: how many at once after a pause; must be positive.
    package init(count: Int, per period: Duration, burst: Int) {
      interval = max(1, period.wholeNanoseconds / UInt64(max(1, count)))
      tolerance = interval &* UInt64(max(1, burst))
    }
  }

  private struct Bucket: Sendable {
    var owner: UInt64 = 0
    var fullAt: UInt64 = 0
  }

  /// Without memory until an address falls into it: only a gate with thousands of callers needs a table's whole
  /// megabyte.
  private final class Stripe: Sendable {
    let buckets = Mutex<[Bucket]>([])
  }

  package static let capacity = 65_536
  private static let ways = 4
  private static let stripeCount = 64
  private let stripes: [Stripe]

  package init() {
    stripes = (0..<Self.stripeCount).map { _ in Stripe() }
  }

  /// Takes one token from the owner's bucket.
  ///
  /// - Returns: nil when there was one, else the time until there will be.
  package func take(_ owner: some Hashable, _ allowance: Allowance, now: MonotonicTime) -> Duration? {
    // Hasher is keyed anew in each process, so that nobody outside can aim at a place.
    var hasher = Hasher()
    hasher.combine(owner)
    let hash = UInt64(bitPattern: Int64(hasher.finalize())) | 1
    let stripe = stripes[Int(hash >> 58)]
    let nanoseconds = now.nanoseconds
    return stripe.buckets.withLock { buckets in
      if buckets.isEmpty { buckets = [Bucket](repeating: Bucket(), count: Self.capacity / Self.stripeCount) }
      let place = Int(hash >> 32 & 0xFFFF) % (buckets.count / Self.ways) * Self.ways
      var chosen = place
      for index in place..<place + Self.ways {
        if buckets[index].owner == hash {
          chosen = index
          break
        }
        if buckets[index].fullAt < buckets[chosen].fullAt { chosen = index }
      }
      if buckets[chosen].owner != hash { buckets[chosen] = Bucket(owner: hash) }
      let start = max(buckets[chosen].fullAt, nanoseconds)
      let next = start &+ allowance.interval
      if next - nanoseconds > allowance.tolerance {
        return .nanoseconds(Int64(clamping: next - nanoseconds - allowance.tolerance))
      }
      buckets[chosen].fullAt = next
      return nil
    }
  }
}

/// App Attest keys that went with their devices, in their order, until nobody can ask any more whether that is on the disk.
package import Bytes
internal import System

package struct RevokedKeys: Sendable {
  private struct Order: Sendable {
    let keyID: KeyIdentifier
    let commit: CommitWait
  }

  /// So many are remembered; who asks about more than these is told that they are not known to be written.
  private static let capacity = 65_536

  private var orders: [Order] = []
  /// Of all that ever were.
  package private(set) var count = 0
  /// Where there are loops, which revoke what they are told.
  private var isBounded = false

  package init() {}

  package mutating func add(_ keyID: KeyIdentifier, _ commit: CommitWait) {
    orders.append(Order(keyID: keyID, commit: commit))
    count += 1
    // Seldom, as half of them go at once.
    if isBounded, orders.count > Self.capacity { orders.removeFirst(orders.count - Self.capacity / 2) }
  }

  /// Those that nobody could be told of yet; from now on they are bounded.
  package mutating func takeAll() -> [(KeyIdentifier, CommitWait)] {
    isBounded = true
    defer { orders = [] }
    return orders.map { ($0.keyID, $0.commit) }
  }

  /// Nil where some of them are remembered no more.
  package func commits(since count: Int) -> [CommitWait]? {
    let wanted = max(0, self.count - count)
    return wanted > orders.count ? nil : orders.suffix(wanted).map(\.commit)
  }
}

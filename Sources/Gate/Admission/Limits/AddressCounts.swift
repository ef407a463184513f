/// How many connections each address has open over all loops (docs/settings.md, `MAX_CONNECTIONS_PER_ADDRESS`).
package import Addresses
internal import Synchronization

package final class AddressCounts: Sendable {
  private let counts = Mutex<[IPAddress: Int]>([:])

  package init() {}

  /// Counts one more, and returns how many there are now.
  package func enter(_ address: IPAddress) -> Int {
    counts.withLock { counts in
      counts[address, default: 0] += 1
      return counts[address, default: 0]
    }
  }

  package func leave(_ address: IPAddress) {
    counts.withLock { counts in
      guard let count = counts[address] else { return }
      counts[address] = count > 1 ? count - 1 : nil
    }
  }

  /// Addresses with at least one.
  package var count: Int { counts.withLock { $0.count } }
}

/// Device tokens that the registry has found to be good lately, and whose they are, in a table of fixed size: who comes with
/// another is a stranger until then, and pays as one (docs/settings.md, "More about some limits").
///
/// An entry is found by 63 bits over the token's SHA-256, by a key that each process makes anew. Where a place is taken, the
/// newer token has it: its owner before pays as a stranger once more.
package import Bytes
package import DeviceWire
internal import Synchronization

package final class AcceptedTokens: Sendable {
  package static let capacity = 65_536

  private struct Entry: Sendable {
    /// Never 0, which an empty place has.
    var mark: UInt64 = 0
    var device: DeviceID
  }

  /// Without memory until the first device comes.
  private let entries = Mutex<[Entry]>([])

  package init() {}

  /// Nil for a token that is not known.
  package func device(of token: Bytes32) -> DeviceID? {
    let mark = Self.mark(token)
    return entries.withLock { entries in
      guard !entries.isEmpty, entries[Self.place(of: mark)].mark == mark else { return nil }
      return entries[Self.place(of: mark)].device
    }
  }

  package func insert(_ token: Bytes32, of device: DeviceID) {
    let mark = Self.mark(token)
    entries.withLock { entries in
      if entries.isEmpty { entries = [Entry](repeating: Entry(device: device), count: Self.capacity) }
      entries[Self.place(of: mark)] = Entry(mark: mark, device: device)
    }
  }

  private static func mark(_ token: Bytes32) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(token)
    return UInt64(bitPattern: Int64(hasher.finalize())) | 1
  }

  private static func place(of mark: UInt64) -> Int { Int(mark >> 32) % capacity }
}

/// Device tokens that the registry has taken lately, in a table of fixed size: who comes with another is a stranger until
/// then, and pays as one (docs/settings.md, "More about some limits").
///
/// An entry is 63 bits over the token's SHA-256, by a key that each process makes anew. Where a place is taken, the newer token has it: its
/// owner before pays as a stranger once more.
internal import Bytes
internal import Synchronization

final class AcceptedTokens: Sendable {
  static let capacity = 65_536
  /// Without memory until the first device comes.
  private let entries = Mutex<[UInt64]>([])

  func contains(_ token: Bytes32) -> Bool {
    let entry = Self.entry(token)
    return entries.withLock { !$0.isEmpty && $0[Self.place(of: entry)] == entry }
  }

  func insert(_ token: Bytes32) {
    let entry = Self.entry(token)
    entries.withLock { entries in
      if entries.isEmpty { entries = [UInt64](repeating: 0, count: Self.capacity) }
      entries[Self.place(of: entry)] = entry
    }
  }

  /// Never 0, which an empty place has.
  private static func entry(_ token: Bytes32) -> UInt64 {
    var hasher = Hasher()
    hasher.combine(token)
    return UInt64(bitPattern: Int64(hasher.finalize())) | 1
  }

  private static func place(of entry: UInt64) -> Int { Int(entry >> 32) % capacity }
}

/// Sessions without a connection by the address that each counts for (docs/settings.md, `MAX_CONNECTIONS_PER_ADDRESS`).
///
/// They give way to each other and to connections, and never the other way round: who comes back is not kept out by those
/// that wait for him.
internal import Addresses
internal import Synchronization

final class AwayByAddress: Sendable {
  private struct Entry {
    let session: SessionReference
    let isAttested: Bool
  }

  /// Longest first.
  private let entries = Mutex<[IPAddress: [Entry]]>([:])

  /// Of those that no attested key stands for: so that whoever connects and drops in a loop takes nobody else's place.
  static let unattestedLimit = 5

  /// One more.
  /// - Parameter limit: how many the address may have of all.
  /// - Returns: the one that has to go for it; it stays until it leaves.
  func enter(
    _ session: SessionReference, of address: IPAddress, isAttested: Bool, limit: Int
  ) -> SessionReference? {
    entries.withLock { entries in
      var held = entries[address] ?? []
      held.append(Entry(session: session, isAttested: isAttested))
      entries[address] = held
      if held.count > max(limit, 0) { return held[held.count - 1 - max(limit, 0)].session }
      let unattested = isAttested ? [] : held.filter { !$0.isAttested }
      guard unattested.count > Self.unattestedLimit else { return nil }
      return unattested[unattested.count - 1 - Self.unattestedLimit].session
    }
  }

  /// Of all addresses.
  var count: Int { entries.withLock { $0.reduce(0) { $0 + $1.value.count } } }

  func leave(_ session: SessionReference, of address: IPAddress) {
    entries.withLock { entries in
      guard var held = entries[address] else { return }
      held.removeAll { $0.session == session }
      entries[address] = held.isEmpty ? nil : held
    }
  }
}

/// Sessions without a connection that no attested key stands for, by the address that each counts for: but a few of one
/// address, so that whoever connects and drops in a loop takes the places of nobody else.
internal import Addresses
internal import Synchronization

final class UnattestedSessions: Sendable {
  /// Longest first.
  private let sessions = Mutex<[IPAddress: [SessionReference]]>([:])

  static let limit = 5

  /// One more.
  /// - Returns: the one that has to go for it; it stays until it leaves.
  func enter(_ session: SessionReference, of address: IPAddress) -> SessionReference? {
    sessions.withLock { sessions in
      sessions[address, default: []].append(session)
      guard let held = sessions[address], held.count > Self.limit else { return nil }
      return held[held.count - 1 - Self.limit]
    }
  }

  func leave(_ session: SessionReference, of address: IPAddress) {
    sessions.withLock { sessions in
      guard var held = sessions[address] else { return }
      held.removeAll { $0 == session }
      sessions[address] = held.isEmpty ? nil : held
    }
  }
}

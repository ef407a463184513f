/// Sessions without a connection by the address that each counts for, beside how many it has with one (docs/settings.md,
/// `MAX_CONNECTIONS_PER_ADDRESS`).
///
/// They give way to each other and to those that play, and never the other way round: who comes back is not kept out by
/// those that wait for him. A connection that is not admitted counts nowhere here: whoever has no credential and opens many
/// of them takes nobody's session.
package import Addresses
internal import Synchronization

package final class DetachedByAddress: Sendable {
  private struct Entry {
    let session: SessionReference
    let isAttested: Bool
    /// Its loop was told to let it go, and it stays until it leaves.
    var isLeaving = false
  }

  private struct Place {
    /// Sessions that have a connection; those whose stay is over ask for no room.
    var attached = 0
    /// Longest first.
    var away: [Entry] = []

    var isEmpty: Bool { attached == 0 && away.isEmpty }

    /// Those that have waited longest, as many of them as are beyond `limit`, leave.
    mutating func letGo(beyond limit: Int, where counts: (Entry) -> Bool) -> [SessionReference] {
      guard away.count > limit else { return [] }
      let staying = away.indices.filter { !away[$0].isLeaving && counts(away[$0]) }
      let leaving = staying.dropLast(max(limit, 0))
      for index in leaving { away[index].isLeaving = true }
      return leaving.map { away[$0].session }
    }
  }

  private let places = Mutex<[IPAddress: Place]>([:])

  package init() {}

  /// Of those that no attested key stands for: so that a client that connects and drops in a loop takes no other's place.
  static let unattestedLimit = 5

  /// One more has a connection.
  /// - Parameter limit: how many the address may have of all.
  /// - Returns: those that have to go for it; they stay until they leave.
  package func attach(to address: IPAddress, limit: Int) -> [SessionReference] {
    places.withLock { places in
      var place = places[address] ?? Place()
      place.attached += 1
      defer { places[address] = place }
      return place.letGo(beyond: limit - place.attached) { _ in true }
    }
  }

  /// One has its connection no longer.
  package func detach(from address: IPAddress) { change(address) { $0.attached -= 1 } }

  /// One more waits. The parameter and the result are as with `attach`.
  package func enter(
    _ session: SessionReference, of address: IPAddress, isAttested: Bool, limit: Int
  ) -> [SessionReference] {
    places.withLock { places in
      var place = places[address] ?? Place()
      place.away.append(Entry(session: session, isAttested: isAttested))
      defer { places[address] = place }
      let surplus = place.letGo(beyond: limit - place.attached) { _ in true }
      if isAttested { return surplus }
      return surplus + place.letGo(beyond: Self.unattestedLimit) { !$0.isAttested }
    }
  }

  package func leave(_ session: SessionReference, of address: IPAddress) {
    change(address) { place in place.away.removeAll { $0.session == session } }
  }

  private func change(_ address: IPAddress, _ body: (inout Place) -> Void) {
    places.withLock { places in
      guard var place = places[address] else { return }
      body(&place)
      places[address] = place.isEmpty ? nil : place
    }
  }

  /// Of all addresses, those that wait.
  package var count: Int { places.withLock { $0.reduce(0) { $0 + $1.value.away.count } } }
  /// Those that have a connection.
  package var attachedCount: Int { places.withLock { $0.reduce(0) { $0 + $1.value.attached } } }
}

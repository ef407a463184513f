/// A slot whose session is about to begin, while its leg is on its way to the store (docs/restarts.md, "What a restart keeps").
package import Keeping
package import Sockets

/// The leg's, until it is filled.
package final class ReservedSlot {
  private let index: Int
  private let storeClient: DescriptorStoreClient
  /// Whether the store's answer is worth waiting for.
  package let isAwaited: Bool

  package init(_ index: Int, isAwaited: Bool, storeClient: DescriptorStoreClient) {
    self.index = index
    self.isAwaited = isAwaited
    self.storeClient = storeClient
  }

  package func fill(
    _ description: KeptDescription, _ progress: KeptProgress, changes: UInt32
  ) -> PersistedLeg {
    PersistedLeg(
      storeClient.slots.fill(index, description, progress), description, progress, changes: changes,
      storeClient: storeClient
    )
  }

  func giveUp() { storeClient.release(index) }

  /// No session comes of it; the store's duplicate would keep the game from hearing that.
  package func end(_ socket: borrowing Socket) {
    socket.end()
    storeClient.release(index)
  }
}

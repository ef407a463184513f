/// A slot whose session is about to begin, while its leg is on its way to the store (docs/restarts.md, "What a restart keeps").
internal import Keeping
internal import Sockets

/// The leg's, until it is filled.
final class ReservedSlot {
  private let index: Int
  private let keeper: Keeper
  /// Whether the store's answer is worth waiting for.
  let isAwaited: Bool

  init(_ index: Int, isAwaited: Bool, keeper: Keeper) {
    self.index = index
    self.isAwaited = isAwaited
    self.keeper = keeper
  }

  func fill(
    _ description: KeptDescription, _ progress: KeptProgress, changes: UInt32
  ) -> KeptLeg {
    KeptLeg(
      keeper.slots.fill(index, description, progress), description, progress, changes: changes, keeper: keeper
    )
  }

  func giveUp() { keeper.release(index) }

  /// No session comes of it; the store's duplicate would keep the game from hearing that.
  func end(_ socket: borrowing Socket) {
    socket.end()
    keeper.release(index)
  }
}

/// The app's side of a conversation: its counted messages both ways, how fast it may speak, and by what it comes back.
package import Admission
package import SessionWire
package import Time

package struct AppLedger: ~Copyable {
  package var outgoing: OutgoingLedger
  package var incoming: IncomingLedger
  package var allowance: InputAllowance
  /// Of messages that `INPUT_RATE` does not count; beyond it they count.
  var freeAllowance: InputAllowance
  /// By what it is resumed: the present id, and the one that the last upgrade named until that is confirmed.
  package var ids: [SessionIDHash] = []
  /// The order of the upgrade that has attached it last.
  package var upgradeOrder: UInt64 = 0
  /// Messages that may not have reached the game, as the process before was killed while it sent them; until the app has
  /// been heard, as what told it may be lost.
  package var doubt = 0
  /// After a restart: until when nothing is read of the game while the messages for the app fill their buffer, as if its
  /// connection were still there, so that none of them has to go.
  package var keepsAllUntil = MonotonicTime(nanoseconds: 0)
  /// What of its messages is counted in the sum of all sessions.
  var accountedBytes = 0

  init(
    _ outgoing: consuming OutgoingLedger, _ incoming: IncomingLedger, allowance: InputAllowance,
    freeAllowance: InputAllowance
  ) {
    self.outgoing = outgoing
    self.incoming = incoming
    self.allowance = allowance
    self.freeAllowance = freeAllowance
  }

  package var hasUnacknowledged: Bool { outgoing.acknowledged < outgoing.last }
}

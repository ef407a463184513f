/// Since when an app that has messages to acknowledge acknowledges none of them, and nothing is read of the game for it.
///
/// Its time stands still while nothing is read of the app. What has come too fast can keep it from being read for as long as
/// it likes, so another time, ten times as long, goes on by the clock.
internal import SessionWire
internal import Time

package struct Fullness {
  /// All sessions together keep more than they may, as of this turn.
  package var isShortOfRoom = false
  private(set) var since: MonotonicTime?
  /// The same by the clock.
  private var from: MonotonicTime?
  /// When it began, its own buffer was not full, but that of all.
  private var lacksRoomOfAll = false

  /// Nothing is read of the game while the app's messages fill their buffer, nor while there is no room for more of them
  /// and some are not acknowledged.
  func mayHear(_ ledger: borrowing AppLedger) -> Bool {
    !(ledger.outgoing.isAttached && (ledger.outgoing.isFull || isShortOfRoom && ledger.hasUnacknowledged))
  }

  /// Once the app's time runs, it is what the app acknowledges that stops it, and not the room that others make: else
  /// those who acknowledge nothing would have it all in the end.
  mutating func note(_ ledger: borrowing AppLedger, now: MonotonicTime) {
    if !ledger.outgoing.isAttached || !ledger.hasUnacknowledged {
      ends()
    } else if !mayHear(ledger), since == nil || lacksRoomOfAll && ledger.outgoing.isFull {
      if from == nil { from = now }
      since = now
      lacksRoomOfAll = !ledger.outgoing.isFull
    }
  }

  /// Some was acknowledged, or there is nobody who could.
  mutating func ends() { (since, from) = (nil, nil) }

  /// Nothing is read of the app at present, its acknowledgements neither: its time stands still.
  mutating func noteUnheard(now: MonotonicTime) {
    if since != nil { since = now }
  }

  /// The app has acknowledged nothing for so long that it is given up.
  func isStalled(_ ledger: borrowing AppLedger, now: MonotonicTime, after time: Duration) -> Bool {
    guard let since, let from else { return false }
    let limit = stallTime(ledger, time)
    return now - since >= limit || now - from >= limit * Self.unheardTimes
  }

  /// Who has not got so much that an acknowledgement is due at once may be about to send one, and that takes its time: of a
  /// message where there is room of its own, or of a buffer that is smaller than what it may wait for.
  func stallTime(_ ledger: borrowing AppLedger, _ time: Duration) -> Duration {
    ledger.outgoing.isFull && ledger.outgoing.isAcknowledgementDue ? time : max(time, AckSchedule.delay * 2)
  }

  /// So many times as long as an app that is read may one acknowledge nothing that is not, because it says too much.
  private static let unheardTimes = 10
}

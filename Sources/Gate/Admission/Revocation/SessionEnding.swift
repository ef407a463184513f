/// Who waits for a session's end, told once by its loop.

package final class SessionEnding: Sendable {
  private let session: SessionReference
  private let orders: [RevocationOrder]

  package init(_ session: SessionReference, _ orders: [RevocationOrder]) {
    self.session = session
    self.orders = orders
  }

  package func note() {
    for order in orders { order.ended(session) }
  }
}

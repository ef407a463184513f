/// The operator's orders to close sessions, while they are carried out.
///
/// A session may be on its way from one loop to another, and then stands in no table. So an order stands here before any loop
/// looks at its own sessions for it, and each loop looks here at whatever arrives. What left one loop before it looked has
/// been posted by then: it has arrived when all loops have done what they were asked up to that moment.
internal import Admission
internal import Scheduling
internal import Synchronization

/// Which sessions are to be closed, and how many were.
final class ClosingOrder: Sendable {
  let isMeant: @Sendable (SessionDescription) -> Bool
  /// Loops that have not looked at their sessions yet.
  let unasked: CountDownLatch
  private let counts = Mutex((ended: 0, left: 0))

  init(loops: Int, where isMeant: @escaping @Sendable (SessionDescription) -> Bool) {
    self.isMeant = isMeant
    unasked = CountDownLatch(count: loops)
  }

  func note(hasEnded: Bool) {
    counts.withLock { counts in
      if hasEnded { counts.ended += 1 } else { counts.left += 1 }
    }
  }

  var result: (ended: Int, left: Int) { counts.withLock { $0 } }
}

final class ClosingOrders: Sendable {
  private let orders = Mutex<[ClosingOrder]>([])
  /// So that a session which arrives takes no lock, as long as there are none.
  private let count = Atomic(0)

  func begin(_ order: ClosingOrder) {
    orders.withLock { $0.append(order) }
    count.wrappingAdd(1, ordering: .sequentiallyConsistent)
  }

  func finish(_ order: ClosingOrder) {
    orders.withLock { orders in orders.removeAll { $0 === order } }
    count.wrappingSubtract(1, ordering: .sequentiallyConsistent)
  }

  var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) == 0 }

  var current: [ClosingOrder] { orders.withLock { $0 } }
}

extension Loop {
  /// Closes those of its sessions that the operator means.
  func carryOut(_ order: ClosingOrder) {
    var found: [GameSession] = []
    sessions.forEach { found.append($0) }
    for session in found { carryOut(order, on: session) }
    order.unasked.countDown()
  }

  /// One that arrives from another loop.
  func carryOutOrders(on session: GameSession) {
    if shared.closing.isEmpty { return }
    for order in shared.closing.current { carryOut(order, on: session) }
  }

  private func carryOut(_ order: ClosingOrder, on session: GameSession) {
    guard let description = session.description(on: self), order.isMeant(description) else { return }
    end(session, fromOutside: .closedByOperator)
    order.note(hasEnded: session.isOver)
  }

  /// Another thread, or another session of the key, ends it.
  func end(_ session: GameSession, fromOutside end: SessionEnd) {
    if let connection = session.connection {
      turn(of: connection) { $0.endFromOutside(end) }
    } else {
      endDetached(session, end)
    }
  }
}

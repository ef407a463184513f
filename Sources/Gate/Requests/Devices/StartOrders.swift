/// What is ordered of the registry before it begins: revocations that came while nobody served, carried out before
/// anybody is.
internal import System
package import Time

package final class StartOrders: Sendable {
  private let open = Monitor(0)

  package init() {}

  /// - Returns: to be called once, when the order has been carried out or refused.
  package func add() -> @Sendable () -> Void {
    open.withLock { open, _ in open += 1 }
    return { [open] in
      open.withLock { open, wake in
        open -= 1
        if open == 0 { wake.all() }
      }
    }
  }

  /// Waits until the registry, which has begun, is through with them.
  /// - Returns: false when it is not by then: its disk may hang.
  package func wait(until deadline: MonotonicTime) -> Bool {
    open.wait(until: deadline) { $0 == 0 ? .done(true) : .wait } ?? false
  }
}

/// Orders to a store from all threads but the loops': revocations, searches, numbers (docs/architecture-threads.md, "Locks").
///
/// A thread of less priority than the loops may not take the store's lock. One thread of their priority takes it for
/// them. It never waits for the disk, so an order is carried out at once also while the disk hangs.
internal import Synchronization
package import System
internal import Time

package final class StoreOrders: Sendable {
  private struct Queue {
    var orders: [@Sendable () -> Void] = []
    var isServed = false
    var isStopping = false
  }

  private let queue = Monitor(Queue())
  private let thread = Mutex<JoinHandle?>(nil)

  package init() {}

  /// Its thread serves from then on; to be called once. Before that, and after `stop`, the caller's own thread carries an
  /// order out.
  /// - Parameter look: done once a second beside the orders.
  package func begin(name: String = "store-orders", _ look: @escaping @Sendable () -> Void = {})
    throws(SystemError)
  {
    queue.withLock { queue, _ in queue.isServed = true }
    do throws(SystemError) {
      let handle = JoinHandle(try Thread(name: name) { [self] in serve(look) })
      thread.withLock { $0 = handle }
    } catch {
      queue.withLock { queue, _ in queue.isServed = false }
      throw error
    }
  }

  /// Orders that were given are carried out when this returns.
  package func stop() {
    queue.withLock { queue, wake in
      queue.isStopping = true
      wake.all()
    }
    thread.withLock { $0.take() }?.join()
  }

  /// Does not wait for it. Orders are carried out in the order in which they came.
  package func give(_ order: @escaping @Sendable () -> Void) {
    let isTaken = queue.withLock { queue, wake in
      guard queue.isServed, !queue.isStopping else { return false }
      queue.orders.append(order)
      wake.one()
      return true
    }
    if !isTaken { order() }
  }

  /// Waits for what comes of it: not for loops.
  package func ask<Result: Sendable>(_ order: @escaping @Sendable () -> Result) -> Result {
    let made = Monitor<Result?>(nil)
    give {
      let result = order()
      made.withLock { made, wake in
        made = result
        wake.all()
      }
    }
    return made.wait { made in
      guard let made else { return .wait }
      return .done(made)
    }
  }

  private func serve(_ look: () -> Void) {
    var nextLook = SystemClock().monotonic() + Self.lookInterval
    while true {
      let next = queue.wait(until: nextLook) { queue -> Waited<(@Sendable () -> Void)?> in
        if !queue.orders.isEmpty { return .done(queue.orders.removeFirst()) }
        return queue.isStopping ? .done(nil) : .wait
      }
      switch next {
      case .some(.some(let order)): order()
      case .some(.none): return
      case .none: break
      }
      let now = SystemClock().monotonic()
      guard now >= nextLook else { continue }
      look()
      nextLook = now + Self.lookInterval
    }
  }

  private static let lookInterval: Duration = .seconds(1)
}

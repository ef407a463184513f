/// A thread that does what another may not wait for, one thing after the other.
import Synchronization
import System

final class Errands: Sendable {
  private struct Queue {
    var errands: [@Sendable () -> Void] = []
    var isStopping = false
  }

  private let queue = Monitor(Queue())
  private let thread = Mutex<JoinHandle?>(nil)
  private let name: String

  init(name: String) {
    self.name = name
  }

  /// To be called once.
  func begin() throws(SystemError) {
    let handle = JoinHandle(try Thread(name: name) { [self] in serve() })
    thread.withLock { $0 = handle }
  }

  /// Errands that wait are done; to be called when nobody brings more.
  func stop() {
    queue.withLock { queue, wake in
      queue.isStopping = true
      wake.all()
    }
    thread.withLock { $0.take() }?.join()
  }

  /// Does not wait for it.
  func send(_ errand: @escaping @Sendable () -> Void) {
    queue.withLock { queue, wake in
      queue.errands.append(errand)
      wake.one()
    }
  }

  private func serve() {
    while let errand = next() { errand() }
  }

  private func next() -> (@Sendable () -> Void)? {
    queue.wait { queue in
      if !queue.errands.isEmpty { return .done(queue.errands.removeFirst()) }
      return queue.isStopping ? .done(nil) : .wait
    }
  }
}

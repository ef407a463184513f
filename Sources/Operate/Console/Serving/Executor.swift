/// A thread that does what another may not wait for, one thing after the other.
import Synchronization
import System

final class Executor: Sendable {
  private struct Queue {
    var work: [@Sendable () -> Void] = []
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

  /// Work that waits is done when this returns; to be called when no more is sent.
  func stop() {
    queue.withLock { queue, wake in
      queue.isStopping = true
      wake.all()
    }
    thread.withLock { $0.take() }?.join()
  }

  /// Does not wait for it.
  func send(_ work: @escaping @Sendable () -> Void) {
    queue.withLock { queue, wake in
      queue.work.append(work)
      wake.one()
    }
  }

  private func serve() {
    while let work = next() { work() }
  }

  private func next() -> (@Sendable () -> Void)? {
    queue.wait { queue in
      if !queue.work.isEmpty { return .done(queue.work.removeFirst()) }
      return queue.isStopping ? .done(nil) : .wait
    }
  }
}

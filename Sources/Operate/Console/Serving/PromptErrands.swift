/// A thread that does what those of the admin listener may not: they are behind the loops, and would hold up a loop that
/// waits for a lock which they have (`KeyStore`, and whatever loops are told by).
import Synchronization
import System

/// What is asked of the loops or of the key store goes through here: ending sessions, listing them, revoking keys.
final class PromptErrands: Sendable {
  private struct Queue {
    var errands: [@Sendable () -> Void] = []
    var isStopping = false
  }

  private let queue = Monitor(Queue())
  private let thread = Mutex<JoinHandle?>(nil)
  private let name: String

  init(name: String = "admin-errands") {
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

  /// Waits until `errand` is done, behind those that came before.
  func run<Result: Sendable>(_ errand: @escaping @Sendable () -> Result) -> Result {
    let made = Monitor<Result?>(nil)
    send {
      let result = errand()
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

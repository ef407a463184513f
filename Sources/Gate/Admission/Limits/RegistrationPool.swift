/// Threads at low priority that verify attestations beside the loops (docs/architecture-threads.md, "Threads": over a
/// millisecond each).
package import Addresses
internal import Crypto
internal import Scheduling
internal import Synchronization
package import System

package final class RegistrationPool: Sendable {
  package typealias Work = @Sendable () -> Void

  private struct State: Sendable {
    var queue: FairQueue<IPAddress, Work>
    var isStopping = false
  }

  private let state: Monitor<State>
  private let threads = Mutex<[JoinHandle]>([])

  package init(threads count: Int) throws(SystemError) {
    state = Monitor(
      State(queue: FairQueue(runningPerAddress: 2, waitingPerAddress: 8, waitingLimit: 1024)))
    do throws(SystemError) {
      for index in 0..<count {
        let thread = JoinHandle(
          try Thread(name: "register-\(index)", niceness: Thread.behindLoops) { [self] in run() })
        threads.withLock { $0.append(thread) }
      }
    } catch {
      stop()
      throw error
    }
  }

  /// False when the address, or the pool, has as much waiting as it may.
  package func submit(from address: IPAddress, _ work: @escaping Work) -> Bool {
    state.withLock { state, signal in
      guard !state.isStopping, state.queue.enqueue(work, from: address) else { return false }
      signal.one()
      return true
    }
  }

  package var waitingCount: Int { state.withLock { state, _ in state.queue.waitingCount } }

  /// Finishes what is queued, and returns when all threads have ended.
  package func stop() {
    state.withLock { state, signal in
      state.isStopping = true
      signal.all()
    }
    let ended = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    for thread in ended { thread.join() }
  }

  private func run() {
    LibraryContext.background.adoptByThread()
    while let (address, work) = next() {
      work()
      Thread.preemptionPoint()
      state.withLock { state, signal in
        state.queue.finish(address)
        signal.one()
      }
    }
  }

  private func next() -> (IPAddress, Work)? {
    state.wait { state in
      if let found = state.queue.dequeue() { return .done(found) }
      return state.isStopping ? .done(nil) : .wait
    }
  }
}

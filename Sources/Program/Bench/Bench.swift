/// A load test of one gate: many devices on a bounded number of threads, each over blocking connections.
package import Device
internal import Synchronization
package import System
internal import Time

package enum Bench {
  /// Runs the whole test; blocks until it is over.
  /// - Parameter watch: called every quarter of a second on the calling thread.
  /// - Throws: what the system did not give; what the gate does is part of the result.
  package static func run(
    _ plan: BenchPlan, by authority: TestAttestationAuthority, watch: ((BenchProgress) -> Void)? = nil
  ) throws(SystemError) -> BenchResult {
    let progress = BenchProgress()
    let common = BenchWorker.Common(
      plan: plan, authority: authority, barrier: Barrier(parties: plan.workers, progress), progress: progress)
    let found = Findings()
    var threads: [JoinHandle] = []
    for number in 0..<plan.workers {
      // A thread that cannot be had ends the test; those that wait for it end with the process.
      let thread = try Thread(name: "bench-\(number)") {
        var worker = BenchWorker(number, common)
        worker.run()
        found.add(worker.result)
        progress.end()
      }
      threads.append(JoinHandle(thread))
    }
    if let watch {
      let clock = SystemClock()
      while progress.endedThreads < threads.count {
        clock.sleep(until: clock.monotonic() + .milliseconds(250))
        watch(progress)
      }
    }
    for thread in threads { thread.join() }
    return found.all
  }
}

/// The threads' results, put together as they end.
private final class Findings: Sendable {
  private let result = Mutex(BenchResult())

  func add(_ part: BenchResult) { result.withLock { $0.add(part) } }
  var all: BenchResult { result.withLock { $0 } }
}

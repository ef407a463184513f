/// Resolves the game's name at the start and again and again (docs/protocol-connections.md, "The game's side"), on a thread of its
/// own: the system's resolver may take half a minute to give up, and nothing else has to wait for it, neither the start
/// of the gate nor its end.
internal import Synchronization
package import System
package import Telemetry
internal import Time

package final class BackendResolver: Sendable {
  private let backends: BackendDirectory
  private let log: GateLogger
  private let wake = Signal()
  private let answered = Signal()
  private let ended = Signal()
  private let isStopping = Atomic<Bool>(false)
  private let thread = Mutex<JoinHandle?>(nil)

  /// Nil when the game's address is no name. Returns with the first answer, or without it when that takes long.
  package static func start(_ backends: BackendDirectory, _ log: GateLogger) throws(SystemError)
    -> BackendResolver?
  {
    guard backends.name != nil else { return nil }
    let resolver = BackendResolver(backends, log)
    let handle = JoinHandle(try Thread(name: "resolver") { resolver.run() })
    resolver.thread.withLock { $0 = handle }
    if !resolver.answered.wait(until: SystemClock().monotonic() + firstAnswerTime) {
      log.backendUnresolved(reason: "no answer yet")
    }
    return resolver
  }

  private init(_ backends: BackendDirectory, _ log: GateLogger) {
    self.backends = backends
    self.log = log
  }

  /// A thread that waits for a name server is left to itself: it keeps what it uses, and ends with its answer.
  package func stop() {
    isStopping.store(true, ordering: .relaxed)
    wake.ring()
    let handle = thread.withLock { $0.take() }
    if ended.wait(until: SystemClock().monotonic() + Self.endingTime) { handle?.join() }
  }

  private static let firstAnswerTime: Duration = .seconds(3)
  private static let endingTime: Duration = .milliseconds(200)

  private func run() {
    var wasFailing = false
    while !isStopping.load(ordering: .relaxed) {
      let problem = backends.resolve()
      if let problem, !wasFailing { log.backendUnresolved(reason: problem) }
      wasFailing = problem != nil
      answered.ring()
      wake.wait(until: SystemClock().monotonic() + BackendDirectory.resolutionInterval)
    }
    ended.ring()
  }
}

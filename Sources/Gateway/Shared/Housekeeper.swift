/// What has to be done from time to time, on a thread of its own: the game's name resolved, ticket keys rotated,
/// left-out log lines told, and certificates that end soon.
internal import Logging
internal import Synchronization
internal import System
internal import TLS

final class Housekeeper: Sendable {
  /// A ticket can be used for one to two hours: until the key after the next.
  static let ticketRotation: Duration = .seconds(3600)

  private let shared: Shared
  private let tickets: TicketKeys
  private let wake = Signal()
  private let isStopping = Atomic<Bool>(false)
  private let thread = Mutex<JoinHandle?>(nil)

  init(shared: Shared, tickets: TicketKeys) throws(SystemError) {
    self.shared = shared
    self.tickets = tickets
    let started = try Thread(name: "housekeeper") { [self] in run() }
    let handle = JoinHandle(started)
    thread.withLock { $0 = handle }
  }

  func stop() {
    isStopping.store(true, ordering: .relaxed)
    wake.ring()
    thread.withLock { $0.take() }?.join()
  }

  private func run() {
    var nextResolution = SystemClock().monotonic() + BackendDirectory.resolutionInterval
    var nextRotation = SystemClock().monotonic() + Self.ticketRotation
    var wasFailing = false
    while !isStopping.load(ordering: .relaxed) {
      wake.wait(until: SystemClock().monotonic() + .seconds(1))
      let now = SystemClock().monotonic()
      shared.log.tellLeftOut()
      shared.tellOfCertificates()
      if now >= nextRotation {
        tickets.rotate()
        nextRotation = now + Self.ticketRotation
      }
      if now >= nextResolution, shared.backends.name != nil {
        let problem = shared.backends.resolve()
        if let problem, !wasFailing { shared.log.backendUnresolved(reason: problem) }
        wasFailing = problem != nil
        nextResolution = now + BackendDirectory.resolutionInterval
      }
    }
  }
}

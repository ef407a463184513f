/// What has to be done from time to time, on a thread of its own: ticket keys rotated, left-out log lines told,
/// certificates that end soon warned of, and a list of revoked ones that has changed read again.
internal import Keeping
internal import KeyStore
internal import Logging
internal import Synchronization
internal import System
internal import Telemetry
internal import Time
internal import TLS
internal import Upstream

final class Housekeeper: Sendable {
  /// A ticket can be used for one to two hours: until the key after the next.
  static let ticketRotation: Duration = .seconds(3600)

  /// Imported keys that are over go so often.
  static let tidying: Duration = .seconds(3600)

  /// A process that has served for so long does not die of a session that it has taken up.
  private static let goodStart: Duration = .seconds(30)

  private let shared: Shared
  private let tickets: TicketKeys
  private let wake = Signal()
  private let isStopping = Atomic<Bool>(false)
  private let thread = Mutex<JoinHandle?>(nil)

  init(shared: Shared, tickets: TicketKeys) throws(SystemError) {
    self.shared = shared
    self.tickets = tickets
    let handle = JoinHandle(try Thread(name: "housekeeper") { [self] in run() })
    thread.withLock { $0 = handle }
  }

  func stop() {
    isStopping.store(true, ordering: .relaxed)
    wake.ring()
    thread.withLock { $0.take() }?.join()
  }

  private func run() {
    let goodFrom = SystemClock().monotonic() + Self.goodStart
    var isGoodStart = false
    var nextRotation = SystemClock().monotonic() + Self.ticketRotation
    var nextTidying = goodFrom
    while !isStopping.load(ordering: .relaxed) {
      wake.wait(until: SystemClock().monotonic() + .seconds(1))
      let now = SystemClock().monotonic()
      shared.log.tellLeftOut()
      shared.tellOfCertificates()
      shared.history.note(shared.historyTotals, at: now)
      shared.devices?.attendRevocations(now: shared.clock.wall())
      if now >= goodFrom, !isGoodStart {
        isGoodStart = true
        shared.storeClient?.slots.endStart()
      }
      if now >= nextTidying {
        shared.removeImports()
        nextTidying = now + Self.tidying
      }
      if now >= nextRotation {
        tickets.rotate()
        nextRotation = now + Self.ticketRotation
      }
    }
    // What came since, for the history that outlives the process.
    shared.history.note(shared.historyTotals, at: SystemClock().monotonic())
  }
}

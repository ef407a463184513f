/// The admin listener's two threads, from start to stop (docs/console.md, "Admin listener").
internal import Synchronization
package import System
package import Time
package import TLS

/// What is shown to peers that come from now on.
final class AdminTLS: Sendable {
  private let current: Mutex<TLSServerContext>
  private let tickets = TicketKeys()

  init(_ material: TLSMaterial) throws(TLSConfigurationError) {
    current = Mutex(try Self.make(material, tickets))
  }

  var context: TLSServerContext { current.withLock { $0 } }

  func reload(_ material: TLSMaterial) throws(TLSConfigurationError) {
    let made = try Self.make(material, tickets)
    current.withLock { $0 = made }
  }

  /// Certificates of clients are for players: here tokens and cookies say who asks.
  private static func make(
    _ material: TLSMaterial, _ tickets: TicketKeys
  ) throws(TLSConfigurationError) -> TLSServerContext {
    var material = material
    material.clientCAPEM = nil
    return try TLSServerContext.make(material, tickets: tickets)
  }
}

package final class AdminServer: Sendable {
  package enum StartError: Error, CustomStringConvertible {
    case tls(TLSConfigurationError)
    case failed(SystemError)

    package var description: String {
      switch self {
      case .tls(let error): error.description
      case .failed(let error): "the admin listener cannot be served: \(error)"
      }
    }
  }

  private let door: AdminListener
  private let tls: AdminTLS?
  private let mailbox: AdminMailbox
  private let worker: AdminWorker
  private let threads = Mutex<[JoinHandle]>([])

  /// Behind the loops, who have players waiting.
  private static let niceness: Int32 = 10

  private init(door: AdminListener, tls: AdminTLS?, mailbox: AdminMailbox, worker: AdminWorker) {
    self.door = door
    self.tls = tls
    self.mailbox = mailbox
    self.worker = worker
  }

  /// Serves what is bound, which is removed if that fails.
  /// - Parameters:
  ///   - tls: for a door that others than this host reach; nil for any other.
  ///   - arrivals: what holds for an address there.
  package static func start(
    on door: AdminListener, handler: any AdminHandler, access: AdminAccess, tls: TLSMaterial?,
    arrivals: (any AdminArrivals)?, clock: any Clock
  ) throws(StartError) -> AdminServer {
    let routing = AdminRouting(
      handler: handler, judge: { access.judge($0, $1, over: $2) }, isCalled: { access.isCalled($0) },
      holds: { access.holds($0) })
    return try start(on: door, routing, tls: tls, arrivals: arrivals, clock)
  }

  static func start(
    on door: AdminListener, _ routing: AdminRouting, tls: TLSMaterial?, arrivals: (any AdminArrivals)? = nil,
    _ clock: any Clock
  ) throws(StartError) -> AdminServer {
    do throws(StartError) {
      var served: AdminTLS?
      if let tls {
        do throws(TLSConfigurationError) { served = try AdminTLS(tls) } catch { throw .tls(error) }
      }
      do throws(SystemError) {
        return try start(on: door, routing, served, arrivals, clock)
      } catch {
        throw .failed(error)
      }
    } catch {
      door.remove()
      throw error
    }
  }

  private static func start(
    on door: AdminListener, _ routing: AdminRouting, _ tls: AdminTLS?, _ arrivals: (any AdminArrivals)?,
    _ clock: any Clock
  ) throws(SystemError) -> AdminServer {
    let (mailbox, worker) = (try AdminMailbox(), AdminWorker(routing.handler, holds: routing.holds))
    let server = AdminServer(door: door, tls: tls, mailbox: mailbox, worker: worker)
    let start = LoopStart(
      try AdminLoop(door, routing, worker, mailbox, tls: tls, arrivals: arrivals, clock: clock))
    do throws(SystemError) {
      try server.run("admin") { start.loop.run() }
      try server.run("admin-work") { worker.run(mailbox.post) }
    } catch {
      server.stop()
      throw error
    }
    return server
  }

  private func run(_ name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
    let handle = JoinHandle(try Thread(name: name, niceness: Self.niceness, body))
    threads.withLock { $0.append(handle) }
  }

  /// Peers that come from now on see another certificate. Nothing where no TLS is spoken.
  package func reload(_ material: TLSMaterial) throws(TLSConfigurationError) {
    try tls?.reload(material)
  }

  /// Cuts everybody off, and waits for what the slow thread is doing.
  package func stop() {
    worker.stop()
    mailbox.stop()
    let running = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    for thread in running { thread.join() }
    door.remove()
  }
}

/// Carries the loop into its thread, which alone uses it from then on.
private struct LoopStart: @unchecked Sendable {
  let loop: AdminLoop

  init(_ loop: AdminLoop) {
    self.loop = loop
  }
}

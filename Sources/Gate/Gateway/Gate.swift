/// The gate as a whole: loops and pool put together, started, reloaded, drained and stopped.
package import Addresses
internal import Admission
package import AppAttest
internal import Bytes
package import Charsets
package import Configuration
internal import Crypto
package import Identity
package import KeyStore
package import Logs
internal import Registry
package import Scheduling
internal import Synchronization
package import System
internal import Telemetry
package import Time
package import TLS
internal import Upstream

/// Why the gate cannot start.
package enum GateError: Error, Equatable, CustomStringConvertible {
  /// The address cannot be bound.
  case listen(Endpoint, SystemError)
  case failed(SystemError)

  package var description: String {
    switch self {
    case .listen(let endpoint, let error):
      "cannot listen on \(endpoint): \(error); free the address, or set LISTEN to another"
    case .failed(let error): "cannot start: \(error)"
    }
  }
}

package final class Gate: Sendable {
  /// What a gate is made of, beside its configuration.
  package struct Parts {
    package var clock: any Clock
    package var entropy: any Entropy
    package var store: any AttestedKeyStore
    package var root: AttestationRoot
    package var tls: TLSMaterial
    package var log: GateLog
    /// Nil for a game that is not told of devices.
    package var pseudonyms: PseudonymKey?
    /// Those that games may speak; what needs a module of the C library has to be open before the sandbox is raised.
    package var charsets: CharsetLibrary
    /// Nil in a gate without them. The registry is the caller's to stop, after the gate.
    package var devices: Devices?

    package init(
      clock: any Clock, entropy: any Entropy, store: any AttestedKeyStore, root: AttestationRoot,
      tls: TLSMaterial,
      log: GateLog, pseudonyms: PseudonymKey? = nil, charsets: CharsetLibrary = CharsetLibrary(opening: []),
      devices: Devices? = nil
    ) {
      self.clock = clock
      self.entropy = entropy
      self.store = store
      self.root = root
      self.tls = tls
      self.log = log
      self.pseudonyms = pseudonyms
      self.charsets = charsets
      self.devices = devices
    }
  }

  /// Where it listens: with the port that the kernel chose where the configuration said 0.
  package let endpoints: [Endpoint]
  /// What the store calls its listeners.
  let listeners: [StoredName]
  let shared: Shared
  private let tickets: TicketKeys
  private let threads: Mutex<[JoinHandle]>
  private let housekeeper: Housekeeper
  private let resolver: BackendResolver?

  private init(
    shared: Shared, listeners: Listeners, tickets: TicketKeys, threads: [JoinHandle],
    housekeeper: Housekeeper,
    resolver: BackendResolver?
  ) {
    self.shared = shared
    endpoints = listeners.endpoints
    self.listeners = listeners.names
    self.tickets = tickets
    self.threads = Mutex(threads)
    self.housekeeper = housekeeper
    self.resolver = resolver
  }

  // MARK: Life

  /// Binds, starts the threads, and serves from then on.
  package static func start(
    _ configuration: GateConfiguration, _ parts: Parts
  ) throws(StartError) -> Gate {
    let prepared = try prepare(configuration, parts)
    do throws(GateError) {
      return try prepared.start()
    } catch {
      throw .gate(error)
    }
  }

  private static func prepare(
    _ configuration: GateConfiguration, _ parts: Parts
  ) throws(StartError) -> PreparedGate {
    var nothing = StoredDescriptors()
    return try prepare(configuration, parts, stored: &nothing, store: nil)
  }

  /// Binds, which may take privileges, and makes what certificates and keys are needed for. Nobody is accepted yet,
  /// and there are no threads: they start with `PreparedGate.start`.
  /// - Parameters:
  ///   - stored: what was kept for this process, of which the listeners are taken, and the legs of sessions that go on.
  ///   - store: who keeps such things for the next one.
  package static func prepare(
    _ configuration: GateConfiguration, _ parts: Parts, stored: inout StoredDescriptors,
    store: DescriptorStore?
  ) throws(StartError) -> PreparedGate {
    let tickets = TicketKeys()
    let settings = try settings(configuration, parts.tls, tickets)
    do throws(GateError) {
      let listeners = try Listeners(configuration, &stored, store)
      var kept: KeptStart?
      if let store {
        kept = KeptStart.make(
          configuration, &stored, store, room: store.capacity - listeners.names.count,
          log: GateLogger(parts.log))
      }
      return PreparedGate(configuration, parts, settings, tickets, listeners, kept)
    } catch {
      throw .gate(error)
    }
  }

  package enum StartError: Error, CustomStringConvertible {
    case tls(TLSConfigurationError)
    case gate(GateError)

    package var description: String {
      switch self {
      case .tls(let error): error.description
      case .gate(let error): error.description
      }
    }
  }

  private static func settings(
    _ configuration: GateConfiguration, _ material: TLSMaterial, _ tickets: TicketKeys
  ) throws(StartError) -> LoopSettings {
    do throws(TLSConfigurationError) {
      let tls = try TLSServerContext.make(material, tickets: tickets)
      return LoopSettings(configuration, policy: configuration.attestationPolicy, tls: tls)
    } catch {
      throw .tls(error)
    }
  }

  static func assemble(_ prepared: PreparedGate) throws(GateError) -> Gate {
    let (configuration, parts, rows) = (prepared.configuration, prepared.parts, prepared.listeners.rows)
    do throws(SystemError) {
      var mailboxes: [Mailbox] = []
      for _ in rows { mailboxes.append(try Mailbox()) }
      let shared = Shared(
        clock: parts.clock, entropy: parts.entropy, store: parts.store,
        attestations: AttestationVerifier(root: parts.root),
        pool: try RegistrationPool(threads: max(1, configuration.workers - 1)),
        backends: prepared.backends,
        receipts: configuration.attest.receiptsPath.map { ReceiptFolder(path: $0) },
        pseudonyms: parts.pseudonyms, charsets: parts.charsets, devices: parts.devices,
        storeClient: prepared.kept?.storeClient, log: GateLogger(parts.log),
        mailboxes: mailboxes)
      shared.certificates.watch(parts.tls.watched)
      shared.tellOfCertificates()
      var threads: [JoinHandle] = []
      var resolver: BackendResolver?
      do throws(SystemError) {
        var loops: [LoopStart] = []
        for (index, listeners) in rows.enumerated() {
          loops.append(
            LoopStart(
              try Loop(
                index: index, shared: shared, settings: prepared.settings, mailbox: mailboxes[index],
                acceptor: Acceptor(listeners))))
        }
        // A player who is served finds the session that he comes back to.
        prepared.kept?.takeUp(shared, prepared.settings, loops.map(\.loop))
        try prepared.kept?.begin()
        // Before the loops, so that nobody is refused for a name that has just not been asked for.
        resolver = try BackendResolver.start(shared.backends, shared.log)
        for (index, start) in loops.enumerated() {
          threads.append(JoinHandle(try Thread(name: "loop-\(index)", isPrompt: true) { start.loop.run() }))
        }
        let housekeeper = try Housekeeper(shared: shared, tickets: prepared.tickets)
        return Gate(
          shared: shared, listeners: prepared.listeners, tickets: prepared.tickets, threads: threads,
          housekeeper: housekeeper, resolver: resolver)
      } catch {
        // Without all of its threads the gate does not start: those that run already end, with the connections that
        // they have accepted meanwhile.
        shared.abandonStart()
        for thread in threads { thread.join() }
        shared.storeClient?.stop()
        shared.pool.stop()
        resolver?.stop()
        throw error
      }
    } catch {
      throw .failed(error)
    }
  }

  /// New certificates, keys, client CA and limits for connections and requests from now on; sessions go on.
  /// - Returns: whether all loops work by them when this returns; false when one has not taken them in time.
  package func reload(_ configuration: GateConfiguration, tls: TLSMaterial) throws(StartError) -> Bool {
    let settings = try Self.settings(configuration, tls, tickets)
    shared.certificates.watch(tls.watched)
    shared.tellOfCertificates()
    let taken = LoopAcknowledgement(loops: shared.mailboxes.count)
    shared.postToAll(.reload(settings, taken))
    return taken.wait(within: Self.reloadTime)
  }

  /// A turn takes milliseconds. The main thread waits here, so a service manager's watchdog has to outlast it.
  private static let reloadTime: Duration = .seconds(2)

  /// No new sessions or registrations from now on; those that are get 1001, spread over a while (docs/running.md,
  /// "Stopping").
  package func beginDrain(timeout: Duration) {
    shared.isStopping.store(true, ordering: .sequentiallyConsistent)
    shared.postToAll(.drain(spread: min(.seconds(2), timeout / 3)))
    shared.devices?.registry.drain()
  }

  /// Whether a drain is over: no session is left, and none has bytes left to send. Connections that were only answered
  /// 503 do not count, else players who come back at once would hold the gate until the drain's time is over.
  package var isDrained: Bool {
    let isRestarting = shared.isRestarting.load(ordering: .relaxed)
    return shared.sessions.value == 0 && (isRestarting || shared.away.value == 0)
      && shared.parting.value == 0
  }

  /// Closes what is left, and returns when all threads have ended. The store is the caller's to close.
  package func stop() {
    if keepsSessions { beginRestart(timeout: .zero) }
    if shared.isRestarting.load(ordering: .relaxed) { shared.storeClient?.handOver() }
    shared.postToAll(.abandon)
    let ended = threads.withLock { threads in
      defer { threads = [] }
      return threads
    }
    for thread in ended { thread.join() }
    shared.storeClient?.finish()
    shared.pool.stop()
    housekeeper.stop()
    resolver?.stop()
  }
}

extension TLSMaterial {
  /// The certificates whose dates are watched. All of it was read by OpenSSL before; what has no dates is not watched.
  fileprivate var watched: [WatchedCertificate] {
    Self.watched(certificateChainPEM, .server) + Self.watched(clientCAPEM ?? [], .clientCA)
  }

  private static func watched(_ pem: [UInt8], _ role: WatchedCertificate.Role) -> [WatchedCertificate] {
    do {
      return try CertificateSummary.all(inPEM: pem.span).map {
        WatchedCertificate(
          role: role, subject: $0.subject, notBefore: $0.notBefore, notAfter: $0.notAfter)
      }
    } catch {
      return []
    }
  }
}

/// Carries a loop into its thread, which alone uses it from then on.
private struct LoopStart: @unchecked Sendable {
  let loop: Loop

  init(_ loop: Loop) {
    self.loop = loop
  }
}

extension Gate {
  /// Goes the way that all orders to loops go, through their mailboxes; a loop that has ended does not acknowledge.
  package func askLoops() -> LoopAcknowledgement {
    let acknowledgement = LoopAcknowledgement(loops: shared.mailboxes.count)
    shared.postToAll(.acknowledge(acknowledgement))
    return acknowledgement
  }
}

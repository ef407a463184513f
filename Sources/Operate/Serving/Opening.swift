/// From a configuration to a gate that serves, in the order that least privilege asks for.
///
/// 1. Keys and certificates are read as the user who started the program. 2. The user of `RUN_AS`, on trial. 3. The store
/// and its lock, the key of pseudonyms, and the registry of devices. 4. The control socket, so that nobody is served while
/// it is missing, and those for approvals and for the operator. 5. The ports, as root once more. 6. That user for good. 7. The sandbox.
/// 8. The threads, which inherit all of this: the first connection is accepted.
internal import Addresses
internal import Admin
internal import AppAttest
package import Assembly
internal import Charsets
package import Configuration
internal import Confinement
internal import Console
internal import Control
internal import Crypto
internal import Gateway
internal import Glibc
internal import KeyStore
internal import Logging
package import Logs
internal import Prompt
internal import Registry
internal import Requests
internal import Sockets
package import System
import Time
internal import TLS

package struct Opening {
  let configuration: GateConfiguration
  let file: String?
  let writer: LogWriter
  let log: GateLog
  let settings: SettingsInForce

  /// - Parameters:
  ///   - file: of `--config`.
  ///   - writer: prepared; its thread begins with the others.
  package init(
    configuration: GateConfiguration, file: String?, writer: LogWriter, log: GateLog,
    settings: SettingsInForce
  ) {
    self.configuration = configuration
    self.file = file
    self.writer = writer
    self.log = log
    self.settings = settings
  }

  private var logger: Logger { log.logger(label: "portcullis") }

  /// - Parameter stored: what was kept for this process; what is taken of it belongs to the gate.
  package func open(_ stored: inout StoredDescriptors, _ keeper: DescriptorStore?) throws -> OpenGate {
    let files = configuration.files
    let folders = FileNeeds.folders(files)
    let passed = try StartInspection(files: files, file: file, logger: logger).pass { contents in
      try Startup.tlsMaterial(contents, logger: logger)
    }
    let store = try Startup.store(configuration, logger: logger)
    do {
      // Again, under the store's lock: before it somebody may have revoked one by hand.
      let tokens = try AdminTokensByHand.read(configuration.admin)
      let pseudonyms = try PseudonymKeyFile(files).map { file in
        try Startup.pseudonymKey(passed.pseudonymKey, file, store, logger: logger)
      }
      var registry = RegistryOpening(
        configuration: configuration, files: passed.devices, users: passed.approvalUsers, log: log)
      let assembly = GateAssembly(
        configuration, store: store, root: passed.root, tls: passed.material, log: log,
        pseudonyms: pseudonyms, devices: try registry.open(passed.material, store))
      do {
        return try open(assembly, passed, tokens, registry, folders, &stored, keeper)
      } catch {
        assembly.devices?.registry.stop()
        throw error
      }
    } catch {
      store.close()
      throw error
    }
  }

  private func open(
    _ assembly: GateAssembly, _ passed: consuming StartInspection.Passed,
    _ tokens: AdminTokens, _ registry: RegistryOpening, _ folders: [String],
    _ stored: inout StoredDescriptors, _ keeper: DescriptorStore?
  ) throws -> OpenGate {
    let listener = try controlListener(passed.adminUsers.controlGroup)
    let admin = AdminOpening(configuration, passed.adminUsers, tokens, logger)
    var approvals: UnixListener?
    var door: AdminListener?
    do {
      approvals = try registry.approvalsListener()
      door = try admin.socket()
      let filter: SystemCallFilter?
      do throws(SystemError) { filter = try systemCallFilter() } catch { throw Startup.refusal(error) }
      // Once the ports are open, the log says what came before.
      writer.writeWaiting()
      let prepared = try passed.credentials.asStarted {
        if door == nil { door = try admin.port() }
        return try prepare(assembly, &stored, keeper)
      }
      let decision = passed.decision
      do throws(SystemError) { try passed.drop() } catch { throw Startup.refusal(error) }
      try confine(decision, folders, filter)
      try writer.begin()
      try assembly.store.begin()
      try begin(assembly.devices, publishing: registry.unpublished)
      let gate = try prepared.start()
      do {
        return try serve(gate, assembly, (listener, approvals), (admin, door), registry.users)
      } catch {
        gate.stop()
        throw error
      }
    } catch {
      listener.remove()
      approvals?.remove()
      door?.remove()
      if error is ExitStatus { throw error }
      // A thread, or what it works with, that the system does not give.
      complain("cannot start: \(error)")
      throw ExitStatus.osError
    }
  }

  /// Revocations that were ordered while no gate served hold before anybody is let in. A disk that hangs does not keep the gate from
  /// its players: what it was ordered to end is judged by the registry as soon as it can.
  /// - Parameter settings: with pins that are to be kept first.
  private func begin(_ devices: Gateway.Devices?, publishing settings: RegistrySettings?) throws {
    guard let devices else { return }
    try devices.registry.begin()
    let orders = devices.startOrders
    if !orders.wait(until: SystemClock().monotonic() + .seconds(5)) {
      logger.warning(
        "start_orders_late", metadata: ["reason": "the registry is not through with revocations"])
    }
    if let settings { try PinRule.publish(settings, devices.registry) }
  }

  /// The sockets of those who give orders.
  private func serve(
    _ gate: Gate, _ assembly: GateAssembly,
    _ listeners: (control: UnixListener, approvals: UnixListener?),
    _ admin: (opening: AdminOpening, door: AdminListener?),
    _ users: ApprovalUsers
  ) throws -> OpenGate {
    let actions = OperatorActions(logger: logger)
    let registry = assembly.devices.map { RegistryControl($0.registry, actions) }
    let control = GateControl(
      gate: gate, registry: registry, actions: actions, clock: SystemClock(), process: Int(getpid()))
    // Before anybody can give orders about it.
    let openAdmin = try admin.door.map {
      try admin.opening.serve(
        $0, console(gate, control, assembly), assembly.devices, assembly.tls, GateArrivals(configuration, log)
      )
    }
    var server: ControlServer?
    do {
      let started = try controlServer(control, on: listeners.control, admin.opening)
      server = started
      let approvals = try approvalsServer(registry, on: listeners.approvals)
      return OpenGate(
        gate: gate, control: control, servers: (started, approvals), admin: openAdmin,
        made: configuration.tls == nil ? assembly.tls : nil, devices: assembly.devices,
        approvalUsers: users,
        store: assembly.store, settings: settings)
    } catch {
      server?.stop()
      openAdmin?.stop()
      throw error
    }
  }

  /// Nil where there is none to be.
  private func approvalsServer(
    _ registry: RegistryControl?, on listener: UnixListener?
  ) throws -> ControlServer? {
    guard let registry, let listener else { return nil }
    let hidden = HostUsers.hiddenUser()
    return try ControlServer.start(
      on: listener, handler: ApprovalsControl(registry), limits: ApprovalsControl.limits, name: "approvals"
    ) { user in user.map { $0 != hidden } ?? false }
  }

  /// What the operator's pages are made of.
  private func console(
    _ gate: Gate, _ control: GateControl, _ assembly: GateAssembly
  ) -> ConsolePages.Sources {
    ConsolePages.Sources(
      gate: gate, control: control, store: assembly.store, pseudonyms: assembly.pseudonyms,
      settings: settings,
      hasDevices: assembly.devices != nil, log: logger, name: ShownHostName.text)
  }

  /// With operators others than the gate's own user and root are heard, who get no more than links.
  private func controlServer(
    _ control: GateControl, on listener: UnixListener, _ admin: AdminOpening
  ) throws -> ControlServer {
    guard admin.users.people.areStated else { return try ControlServer.start(on: listener, handler: control) }
    let operators = admin.operators
    return try ControlServer.start(
      on: listener, handler: OperatorControl(control, operators), limits: OperatorControl.limits
    ) { operators.mayAsk($0) }
  }

  // MARK: Steps

  /// While the store is ours, whose lock makes a socket that nobody answers a stale one.
  /// - Parameter group: whose members may connect as well.
  private func controlListener(_ group: UInt32?) throws -> UnixListener {
    do {
      return try ControlServer.bind(configuration.controlSocketPath, group: group)
    } catch {
      complain(error.description)
      if case .listen(_, _, .failed(let failure)) = error, failure.call.hasPrefix("lchown") {
        let setting = configuration.admin.groupSetting
        complain("only a member of \(setting) may give it the socket: add the gate's user to the group")
      }
      throw ExitStatus.unavailable
    }
  }

  private func prepare(
    _ assembly: GateAssembly, _ stored: inout StoredDescriptors, _ keeper: DescriptorStore?
  ) throws -> PreparedGate {
    do {
      return try assembly.prepare(&stored, keeper)
    } catch {
      complain(error.description)
      if case .tls = error { throw ExitStatus.configuration }
      throw ExitStatus.unavailable
    }
  }

  private func confine(
    _ decision: ServingDecision, _ folders: [String], _ filter: borrowing SystemCallFilter?
  ) throws {
    var metadata: Logger.Metadata = [:]
    switch decision {
    case .asStarted: metadata["user"] = "\(geteuid())"
    case .becomes(let user): metadata["user"] = "\(user)"
    case .staysRoot(let isStated):
      metadata["user"] = "root"
      let reason =
        isStated
        ? "RUN_AS=root" : "running as root: set RUN_AS=USER; production refuses to start like this"
      logger.warning("running_as_root", metadata: ["reason": "\(reason)"])
    }
    do throws(SystemError) {
      metadata["landlock"] = try landlock(folders)
      let isFiltered = try filter?.install() != nil
      metadata["seccomp"] = isFiltered ? "on" : configuration.isSandboxed ? "unavailable" : "off"
    } catch {
      throw Startup.refusal(error)
    }
    logger.notice("confined", metadata: metadata)
  }

  private func landlock(_ folders: [String]) throws(SystemError) -> Logger.MetadataValue {
    guard configuration.isSandboxed else { return "off" }
    let manager = ProcessContext.environment().first { $0.0 == "NOTIFY_SOCKET" }?.1 ?? ""
    let outcome = try WriteFence.raise(
      writableFolders: folders, tcpPorts: configuration.backend.target.calledPorts,
      usesAbstractSockets: manager.utf8.first == UInt8(ascii: "@"))
    switch outcome {
    case .raised(let version): return "\(version)"
    case .unavailable: return "unavailable"
    }
  }

  /// Made before the ports are open, as it takes longer than all else; nil where there is none to be.
  private func systemCallFilter() throws(SystemError) -> SystemCallFilter? {
    guard configuration.isSandboxed, SystemCallFilter.isAvailable else { return nil }
    if case .tcp(let host, _) = configuration.backend.target, IPAddress(host) == nil { NameServices.load() }
    return try SystemCallFilter.prepare()
  }
}

/// `portcullis serve`: the gate in the foreground until a signal ends it (docs/operating.md, "Commands" and "Signals").
internal import Addresses
import ArgumentParser
import Assembly
import Configuration
import Confinement
import Console
import Control
import Gateway
import Glibc
import Identity
import KeyStore
import Logging
import Logs
import Prompt
import Registry
internal import Requests
import System
import TLS

struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Run the gate in the foreground.")

  @Option(
    name: [.customShort("c"), .long],
    help:
      "A file of NAME=value lines; the environment wins over it. Without it the environment alone is read.",
    completion: .file())
  var config: String?

  func run() throws {
    // Before anything is opened: what was kept is known by its numbers.
    var stored = StoredDescriptors.take(from: ProcessContext.environment(), process: getpid())
    let store = DescriptorStore.offered(in: ProcessContext.environment())
    // Before a key is read.
    try Self.given { () throws(SystemError) in try Credentials.hideMemory() }
    let loaded = try Startup.configuration(
      file: config, rest: { files in try StartInspection(files: files, file: config).tellTheRest() })
    // Before any thread starts, so that all of them leave signals to this one.
    let signals = try Self.given { () throws(SystemError) in try ProcessSignals() }
    let writer = LogWriter.prepared(
      clock: SystemClock(), format: loaded.configuration.log.writtenFormat)
    let log = GateLog(
      sink: writer, clock: SystemClock(), level: loaded.configuration.log.loggerLevel,
      format: loaded.configuration.log.writtenFormat)
    defer {
      log.tellLeftOut(all: true)
      _ = writer.close(within: .seconds(2))
    }
    for warning in loaded.warnings {
      log.logger(label: "portcullis").warning(
        "configuration", metadata: ["code": "\(warning.code)", "reason": "\(warning)"])
    }
    warnOfUnreadFile(log.logger(label: "portcullis"))
    warnOfOpenWays(loaded.configuration, log.logger(label: "portcullis"))
    let settings = SettingsInForce(loaded, file: config, ring: signals.hangUp)
    let opening = Opening(
      configuration: loaded.configuration, file: config, writer: writer, log: log, settings: settings)
    let open = try opening.open(&stored, store)
    for name in stored.end(in: store) {
      log.logger(label: "portcullis").warning("stored_descriptor_unknown", metadata: ["name": "\(name)"])
    }
    serve(loaded.configuration, open, signals, log)
    // Whoever stops the gate learns that somebody who was sent away may be let in by the next.
    guard open.close() else { throw ExitStatus.ioError }
  }

  /// What the system gives, or the word that it does not.
  private static func given<Part: ~Copyable>(_ make: () throws(SystemError) -> Part) throws -> Part {
    do throws(SystemError) {
      return try make()
    } catch {
      complain("cannot start: \(error)")
      throw ExitStatus.osError
    }
  }

  private func serve(
    _ configuration: GateConfiguration, _ open: OpenGate, _ signals: borrowing ProcessSignals, _ log: GateLog
  ) {
    let (gate, logger) = (open.gate, log.logger(label: "portcullis"))
    logger.notice(
      "listening",
      metadata: [
        "address": "\(gate.endpoints.map(\.description).joined(separator: ","))",
        "version": "\(Version.text)",
      ])
    if let admin = open.admin { logger.notice("admin_listening", metadata: ["address": "\(admin.address)"]) }
    var reports = ServiceReports(
      environment: ProcessContext.environment(), process: getpid(), clock: SystemClock(), logger: logger)
    reports.ready(gate)
    var current = configuration
    while true {
      switch signals.next(milliseconds: reports.attend(gate)) {
      case .hangup?:
        reports.reloading()
        current = reload(open, current, log)
        reports.ready(gate)
      case .terminate?, .interrupt?:
        open.control.beginDrain()
        open.settings.stop()
        // From here on the manager's time for a stop counts, and its watchdog does not.
        reports.draining(gate)
        return drain(open, signals, current.limits.drainTimeout, logger)
      case nil: break
      }
    }
  }

  /// Commands read a file that stands in its usual place, and the gate only one that is named: a gate that was started by
  /// its environment does not get other settings by a file that somebody leaves there.
  private func warnOfUnreadFile(_ logger: Logger) {
    guard config == nil, let file = SettingsPlaces.system.file else { return }
    logger.warning(
      "configuration",
      metadata: [
        "code": "settings_file_unread",
        "reason": "\(file) is there and was not read: serve reads the file of --config alone",
      ])
  }

  /// Whatever lets in somebody else than the genuine app is said at every start.
  private func warnOfOpenWays(_ configuration: GateConfiguration, _ logger: Logger) {
    if !configuration.requiresAppAuth {
      logger.warning(
        "app_auth_off",
        metadata: ["reason": "REQUIRE_APP_AUTH=false: everybody whose origin is permitted comes in"])
    }
    if configuration.mtls.fallback {
      logger.warning(
        "mtls_fallback_on",
        metadata: [
          "reason":
            "ALLOW_MTLS_FALLBACK=true: a client certificate of MTLS_CLIENT_CA_PATH comes in without App Attest",
          "clientCA": "\(configuration.mtls.clientCAPath ?? "")",
        ])
    }
    if configuration.attest.environments.contains(.development) {
      logger.warning(
        "development_attestations",
        metadata: ["reason": "APPATTEST_ENVIRONMENT lets in keys of development builds"])
    }
  }

  /// Reads file, certificates and client CA anew (docs/operating.md, "Reloading"). Whatever is wrong with them, the
  /// gate goes on as it was.
  private func reload(_ open: OpenGate, _ current: GateConfiguration, _ log: GateLog) -> GateConfiguration {
    let logger = log.logger(label: "portcullis")
    var problems: [String] = []
    open.settings.begin()
    do {
      let tell: Teller = { reason in
        problems.append(reason)
        logger.error("reload_problem", metadata: ["reason": "\(reason)"])
      }
      let read = try Startup.configuration(
        file: config, tell: tell,
        rest: { files in
          _ = try? Startup.tlsContents(files, tell: tell)
          _ = try? DeviceFiles.read(files, tell: { tell($1) })
        })
      let loaded = read.configuration
      let differences = current.reloadDifferences(to: loaded)
      let next = current.reloading(from: loaded)
      let contents = try Startup.tlsContents(next.files, tell: tell)
      let material = try Startup.tlsMaterial(contents, keeping: open.made, logger: logger)
      let devices = try DeviceFiles.read(next.files, tell: { tell($1) })
      let adminUsers = try AdminUsers.find(next.files, tell: tell)
      let settings = RegistrySettings(
        next, devices, open.approvalUsers, pin: try RegistryOpening.pin(of: material, tell: tell))
      // Not where nothing has changed: a disk that is full is no reason to keep an old certificate.
      if let settings, let registry = open.registry, settings.pins != open.pins {
        try PinRule.take(settings, registry, tell: tell)
        open.pins = settings.pins
      }
      let isTaken = try open.gate.reload(next, tls: material)
      if let settings { open.registry?.reload(settings) }
      try open.admin?.reload(next, adminUsers, tls: material)
      open.devices?.android.reload(AndroidEvidence.Settings(next.devices.android, devices.android))
      open.devices?.attendRevocations(now: SystemClock().wall())
      // What was read from files is not kept: the key's text goes with it.
      if next.tls == nil { open.made = material }
      // The line is written under the level that shows more, so that a change of the level itself is confirmed.
      log.level = min(log.level, next.log.loggerLevel)
      let metadata: Logger.Metadata = [
        "changed": "\(differences.applicable.joined(separator: ","))",
        "needRestart": "\(differences.needRestart.joined(separator: ","))",
      ]
      if isTaken {
        logger.notice("reloaded", metadata: metadata)
      } else {
        let reason: Logger.MetadataValue = "an event loop does not turn, and goes on as before until it does"
        logger.error("reload_late", metadata: metadata.merging(["reason": reason]) { $1 })
      }
      log.level = next.log.loggerLevel
      open.settings.take(
        read, next,
        isTaken ? .taken(changed: differences.applicable, waiting: differences.needRestart) : .late)
      return next
    } catch {
      let told = problems.isEmpty ? [Self.text(error)] : problems
      let others = told.count > 1 ? " (\(told.count - 1) more in the lines reload_problem)" : ""
      logger.error(
        "reload_failed", metadata: ["reason": "\(told[0])\(others)", "result": "unchanged"])
      open.settings.refuse(told)
      return current
    }
  }

  /// What a log line can say of an error. The number of an exit status says nothing.
  private static func text(_ error: any Error) -> String {
    error is ExitStatus ? "the files of the settings cannot be used: run portcullis check" : "\(error)"
  }

  /// Until nobody is left, the time is over, or a second signal comes.
  private func drain(
    _ open: OpenGate, _ signals: borrowing ProcessSignals, _ timeout: Duration, _ logger: Logger
  ) {
    let gate = open.gate
    // Where sessions go on in a next process this is a restart: whoever wants them to end says so before.
    logger.notice(
      gate.keepsSessions ? "restarting" : "draining", metadata: ["timeout": "\(timeout.wholeMilliseconds)ms"])
    let clock = SystemClock()
    let deadline = clock.monotonic() + timeout
    if gate.keepsSessions { gate.beginRestart(timeout: timeout) } else { gate.beginDrain(timeout: timeout) }
    while clock.monotonic() < deadline {
      if let signal = signals.next(milliseconds: 20), signal != .hangup { break }
      if gate.isDrained { break }
    }
    // What is still being answered on the control socket waits for sessions, and those end with the gate.
    open.beginStop()
    gate.stop()
    logger.notice("stopped")
  }
}

extension GateConfiguration.Log {
  var loggerLevel: Logger.Level { Logger.Level(rawValue: level.rawValue) ?? .info }
  var writtenFormat: LogFormat { LogFormat(rawValue: format.rawValue) ?? .text }
}

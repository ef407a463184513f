/// `portcullis serve`: the gate in the foreground until a signal ends it (SPEC §8, §10).
internal import Addresses
import ArgumentParser
import Addresses
import Configuration
import Control
import Gateway
import Glibc
import KeyStore
import Logging
import Logs
import System
import TLS

struct Serve: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Run the gate in the foreground.")

  @Option(help: "A file of NAME=value lines; the environment wins over it.", completion: .file())
  var config: String?

  func run() throws {
    let loaded = try Startup.configuration(file: config)
    // Before any thread starts, so that all of them leave signals to this one.
    let signals = try Self.given { () throws(SystemError) in try ProcessSignals() }
    let writer = try Self.given { () throws(SystemError) in
      try LogWriter.start(clock: SystemClock(), format: loaded.configuration.log.writtenFormat)
    }
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
    try serve(loaded.configuration, signals, log)
  }

  /// What the system gives, or the word that it does not.
  private static func given<Part: ~Copyable>(_ make: () throws(SystemError) -> Part) throws -> Part {
    do throws(SystemError) {
      return try make()
    } catch {
      complain("cannot start: \(error)")
      throw ExitStatus.osError.code
    }
  }

  private func serve(
    _ configuration: GateConfiguration, _ signals: borrowing ProcessSignals, _ log: GateLog
  ) throws {
    let logger = log.logger(label: "portcullis")
    warnOfOpenWays(configuration, logger)
    let root = try Startup.attestationRoot(configuration)
    let material = try Startup.tlsMaterial(configuration, logger: logger)
    let store = try Startup.store(configuration, logger: logger)
    defer { store.close() }
    let gate: Gate
    do {
      gate = try Gate.start(
        configuration,
        Gate.Parts(
          clock: SystemClock(), entropy: KernelEntropy(), store: store, root: root, tls: material, log: log))
    } catch {
      complain(error.description)
      switch error {
      case .tls: throw ExitStatus.configuration.code
      case .gate(.listen): throw ExitStatus.unavailable.code
      case .gate(.failed): throw ExitStatus.osError.code
      }
    }
    let control = GateControl(gate: gate, clock: SystemClock(), process: Int(getpid()))
    let controlServer = try controlServer(configuration, control, gate)
    defer { controlServer.stop() }
    logger.notice(
      "listening",
      metadata: [
        "address": "\(gate.endpoints.map(\.description).joined(separator: ","))",
        "version": "\(Version.text)",
      ])
    var reports = ServiceReports(
      environment: ProcessContext.environment(), process: getpid(), clock: SystemClock(), logger: logger)
    reports.ready(gate)
    var current = (configuration, material)
    while true {
      switch signals.next(milliseconds: reports.attend(gate)) {
      case .hangup?:
        reports.reloading()
        current = reload(gate, current, log)
        reports.ready(gate)
      case .terminate?, .interrupt?:
        control.beginDrain()
        // From here on the manager's time for a stop counts, and its watchdog does not.
        reports.draining(gate)
        return drain(gate, controlServer, signals, current.0.limits.drainTimeout, logger)
      case nil: break
      }
    }
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

  /// Reads file, certificates and client CA anew (SPEC §10). Whatever is wrong with them, the gate goes on as it was.
  private func reload(
    _ gate: Gate, _ current: (GateConfiguration, TLSMaterial), _ log: GateLog
  ) -> (GateConfiguration, TLSMaterial) {
    let logger = log.logger(label: "portcullis")
    do {
      let tell: Startup.Teller = { logger.error("reload_problem", metadata: ["reason": "\($0)"]) }
      let loaded = try Startup.configuration(file: config, tell: tell).configuration
      let differences = current.0.reloadDifferences(to: loaded)
      let next = current.0.reloading(from: loaded)
      let material = try Startup.tlsMaterial(next, keeping: current.1, logger: logger, tell: tell)
      let isTaken = try gate.reload(next, tls: material)
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
      return (next, material)
    } catch {
      logger.error("reload_failed", metadata: ["reason": "\(error)", "result": "unchanged"])
      return current
    }
  }

  /// Only while the store is ours, whose lock makes a socket that nobody answers a stale one.
  private func controlServer(
    _ configuration: GateConfiguration, _ control: GateControl, _ gate: Gate
  ) throws -> ControlServer {
    do {
      return try ControlServer.start(path: configuration.controlSocketPath, handler: control)
    } catch {
      complain(error.description)
      gate.stop()
      throw ExitStatus.unavailable.code
    }
  }

  /// Until nobody is left, the time is over, or a second signal comes.
  private func drain(
    _ gate: Gate, _ controlServer: ControlServer, _ signals: borrowing ProcessSignals, _ timeout: Duration,
    _ logger: Logger
  ) {
    logger.notice("draining", metadata: ["timeout": "\(timeout.wholeMilliseconds)ms"])
    let clock = SystemClock()
    let deadline = clock.monotonic() + timeout
    gate.beginDrain(timeout: timeout)
    while clock.monotonic() < deadline {
      if let signal = signals.next(milliseconds: 20), signal != .hangup { break }
      if gate.isDrained { break }
    }
    // What is still being answered on the control socket waits for sessions, and those end with the gate.
    controlServer.beginStop()
    gate.stop()
    logger.notice("stopped")
  }
}

extension GateConfiguration.Log {
  var loggerLevel: Logger.Level { Logger.Level(rawValue: level.rawValue) ?? .info }
  var writtenFormat: LogFormat { LogFormat(rawValue: format.rawValue) ?? .text }
}

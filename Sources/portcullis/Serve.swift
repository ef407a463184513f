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

  @Option(help: "A file of NAME=value lines; the environment wins over it.")
  var config: String?

  func run() throws {
    let loaded = try Startup.configuration(file: config)
    // Before any thread starts, so that all of them leave signals to this one.
    let signals = try ProcessSignals()
    let writer = try LogWriter.start(clock: SystemClock(), format: loaded.configuration.log.writtenFormat)
    let log = GateLog(
      sink: writer, clock: SystemClock(), level: loaded.configuration.log.loggerLevel,
      format: loaded.configuration.log.writtenFormat)
    defer {
      log.tellLeftOut(all: true)
      _ = writer.close(within: .seconds(2))
    }
    for warning in loaded.warnings {
      log.logger(label: "portcullis").warning("configuration", metadata: ["code": "\(warning.code)", "reason": "\(warning)"])
    }
    try serve(loaded.configuration, signals, log)
  }

  private func serve(
    _ configuration: GateConfiguration, _ signals: borrowing ProcessSignals, _ log: GateLog
  ) throws {
    let logger = log.logger(label: "portcullis")
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
      if case .tls = error { throw ExitStatus.configuration.code }
      throw ExitStatus.unavailable.code
    }
    let control = GateControl(gate: gate, clock: SystemClock(), process: Int(getpid()))
    let controlServer = try controlServer(configuration, control, gate)
    defer { controlServer.stop() }
    logger.notice(
      "listening",
      metadata: ["address": "\(gate.endpoints.map(\.description).joined(separator: ","))", "version": "\(Version.text)"])
    while true {
      switch signals.next(milliseconds: -1) {
      case .hangup?: break
      case .terminate?, .interrupt?:
        control.beginDrain()
        drain(gate, signals, configuration.limits.drainTimeout, logger)
        return
      case nil: break
      }
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
    _ gate: Gate, _ signals: borrowing ProcessSignals, _ timeout: Duration, _ logger: Logger
  ) {
    logger.notice("draining", metadata: ["timeout": "\(timeout.wholeMilliseconds)ms"])
    let clock = SystemClock()
    let deadline = clock.monotonic() + timeout
    gate.beginDrain(timeout: timeout)
    while clock.monotonic() < deadline {
      if let signal = signals.next(milliseconds: 20), signal != .hangup { break }
      if gate.isDrained { break }
    }
    gate.stop()
    logger.notice("stopped")
  }
}

extension GateConfiguration.Log {
  var loggerLevel: Logger.Level { Logger.Level(rawValue: level.rawValue) ?? .info }
  var writtenFormat: LogFormat { LogFormat(rawValue: format.rawValue) ?? .text }
}

/// `portcullis serve`: the gate in the foreground until a signal ends it (docs/running.md, "Commands" and "Signals").
import ArgumentParser
import Assembly
import Configuration
import Confinement
import Glibc
import Identity
import Logging
import Logs
import Prompt
import Serving
import System
import Time
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
    GateRun(open, loaded.configuration, file: config, log: log).run(signals)
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
}

/// What SIGHUP asks for: file, certificates and lists are read anew, and taken whole or not at all (docs/running.md,
/// "Reloading").
internal import Assembly
internal import Configuration
internal import Console
internal import Gateway
internal import Logging
internal import Logs
internal import Prompt
internal import Requests
internal import Registry
internal import System
internal import Time
internal import TLS

struct GateReload {
  let open: OpenGate
  /// Of `--config`.
  let file: String?
  let log: GateLog

  /// Reads file, certificates and client CA anew (docs/running.md, "Reloading"). Whatever is wrong with them, the
  /// gate goes on as it was.
  func run(_ current: GateConfiguration) -> GateConfiguration {
    let logger = log.logger(label: "portcullis")
    var problems: [String] = []
    open.settings.begin()
    do {
      let tell: Teller = { reason in
        problems.append(reason)
        logger.error("reload_problem", metadata: ["reason": "\(reason)"])
      }
      let read = try Startup.configuration(
        file: file, tell: tell,
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
}

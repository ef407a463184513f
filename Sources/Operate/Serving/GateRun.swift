/// A gate in the foreground: readiness, signals, reloads, and the time that a stop leaves (docs/running.md, "Signals").
internal import Addresses
internal import Assembly
package import Configuration
internal import Console
internal import Control
internal import Gateway
internal import Glibc
internal import Logging
package import Logs
internal import Prompt
internal import Supervision
package import System
internal import Time

package struct GateRun {
  let open: OpenGate
  let configuration: GateConfiguration
  /// Of `--config`.
  let file: String?
  let log: GateLog

  package init(_ open: OpenGate, _ configuration: GateConfiguration, file: String?, log: GateLog) {
    self.open = open
    self.configuration = configuration
    self.file = file
    self.log = log
  }

  /// Until a signal ends it, and those who play have had their time.
  package func run(_ signals: borrowing ProcessSignals) {
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
        current = GateReload(open: open, file: file, log: log).run(current)
        reports.ready(gate)
      case .terminate?, .interrupt?:
        open.control.beginDrain()
        open.settings.stop()
        // From here on the manager's time for a stop counts, and its watchdog does not.
        reports.draining(gate)
        return drain(signals, current.limits.drainTimeout, logger)
      case nil: break
      }
    }
  }

  /// Until nobody is left, the time is over, or a second signal comes.
  private func drain(
    _ signals: borrowing ProcessSignals, _ timeout: Duration, _ logger: Logger
  ) {
    let gate = open.gate
    // Where sessions go on in a next process this is a restart: an operator who wants them to end orders that before.
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

/// Answers the admin listener for the running gate (docs/console.md, "Admin listener").
import Admin
import Bytes
import Gateway
import Prompt
import System
internal import Telemetry

final class GateAdmin: AdminHandler {
  private let gate: Gate
  private let checks: GateChecks
  private let numbers: GateMetrics
  private let pages: ConsolePages

  init(gate: Gate, checks: GateChecks, pages: ConsolePages) {
    self.gate = gate
    self.checks = checks
    numbers = GateMetrics(gate, version: Version.text)
    self.pages = pages
  }

  var isAlive: Bool { checks.isAlive }
  var readiness: Readiness { checks.current }

  func metrics() -> [UInt8] {
    let checks = readiness.checks.map { GateMetrics.Check(name: $0.name, isOK: $0.state == .ok) }
    return numbers.text(checks: checks)
  }

  func asset(_ path: String) -> AdminAnswer? { ConsolePages.asset(path) }

  func answerAtOnce(_ request: AdminRequest) -> AdminAnswer? { pages.answerAtOnce(request) }

  func work(_ request: AdminRequest) -> AdminAnswer { pages.work(request) }
}

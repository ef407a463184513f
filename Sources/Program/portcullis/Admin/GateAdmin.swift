/// Answers the admin listener for the running gate (docs/operating.md, "Admin listener").
import Admin
import Bytes
import Gateway
import System

final class GateAdmin: AdminHandler {
  private let gate: Gate
  private let checks: GateChecks
  private let numbers: GateMetrics
  /// Of the slow thread, for what it may not do itself.
  private let errands: PromptErrands

  init(gate: Gate, checks: GateChecks, errands: PromptErrands) {
    self.gate = gate
    self.checks = checks
    numbers = GateMetrics(gate, version: Version.text)
    self.errands = errands
  }

  var isAlive: Bool { checks.isAlive }
  var readiness: Readiness { checks.current }

  func metrics() -> [UInt8] {
    let checks = readiness.checks.map { GateMetrics.Check(name: $0.name, isOK: $0.state == .ok) }
    return numbers.text(checks: checks)
  }

  func asset(_ path: String) -> AdminAnswer? { nil }

  func answerAtOnce(_ request: AdminRequest) -> AdminAnswer? {
    .page(.notFound, Array("<!doctype html><title>Portcullis</title><p>There is no such page.\n".utf8))
  }

  func work(_ request: AdminRequest) -> AdminAnswer {
    .page(.notFound, [])
  }
}

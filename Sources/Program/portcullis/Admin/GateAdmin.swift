/// Answers the admin listener for the running gate (docs/operating.md, "Admin listener").
import Admin
import Bytes
import Gateway
import System

final class GateAdmin: AdminHandler {
  private let gate: Gate
  private let checks: GateChecks
  /// Of the slow thread, for what it may not do itself.
  private let errands: PromptErrands

  init(gate: Gate, checks: GateChecks, errands: PromptErrands) {
    self.gate = gate
    self.checks = checks
    self.errands = errands
  }

  var isAlive: Bool { checks.isAlive }
  var readiness: Readiness { checks.current }

  func metrics() -> [UInt8] {
    let lines = """
      # HELP portcullis_build_info The version that runs; the value is always 1.
      # TYPE portcullis_build_info gauge
      portcullis_build_info{version="\(Version.text)"} 1

      """
    return Array(lines.utf8)
  }

  func asset(_ path: String) -> AdminAnswer? { nil }

  func answerAtOnce(_ request: AdminRequest) -> AdminAnswer? {
    .page(.notFound, Array("<!doctype html><title>Portcullis</title><p>There is no such page.\n".utf8))
  }

  func work(_ request: AdminRequest) -> AdminAnswer {
    .page(.notFound, [])
  }
}

/// The part of `portcullis check` that looks at what devices need: policies, the next key, users, and who may read the
/// store.
import ApprovalPolicy
import Bytes
import Configuration
import System

struct DeviceChecks {
  let files: GateFiles

  func check(_ report: inout CheckReport) {
    var problems: [String] = []
    if let read = try? DeviceFiles.read(files, tell: { problems.append($0) }), files.devicesPath != nil {
      if files.approvalPolicyPath == nil {
        report.warning("policy", "APPROVAL_POLICY is not set: no operation may be asked for")
      } else {
        report.ok(
          "policy", "\(read.approvals.rules.count) rules, \(read.approvals.hasDefault ? "and" : "no") DEFAULT"
        )
      }
      if let pin = read.nextPin { report.ok("pins", "the next key has the pin \(pin)") }
    }
    for problem in problems { report.problem("policy", problem, .configuration) }
    problems = []
    if let users = try? ApprovalUsers.find(files.approvalsSocket, tell: { problems.append($0) }),
      files.approvalsSocket?.path != nil
    {
      let group = users.group.map { "group \($0)" } ?? "the group of the gate's user"
      report.ok("approvals", "open to \(group); \(users.operators.count) operators may confirm")
    }
    for problem in problems { report.problem("approvals", problem, .configuration) }
    checkStore(&report)
  }

  /// The gate sets the mode right when it starts; until then, or behind its back, others could read tokens' hashes.
  private func checkStore(_ report: inout CheckReport) {
    guard let path = files.devicesPath else { return }
    let shown = PrintableText.field(path)
    guard let status = try? FileStatus.of(path) else {
      return report.ok("devices", "none yet: the first start makes \(shown)")
    }
    let mode = "0" + String(status.mode, radix: 8)
    if status.isOthersToRead || status.isOthersToWrite {
      report.warning("devices", "\(shown) is open to other users (mode \(mode)): chmod 600 \(shown)")
    } else {
      report.ok("devices", "\(shown) is its owner's alone (mode \(mode))")
    }
  }
}

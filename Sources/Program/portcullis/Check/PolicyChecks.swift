/// `portcullis check --policy` and `--risk`: whether a file of a policy is good, without a gate (docs/policies.md,
/// docs/risk.md).
import ApprovalPolicy
import Bytes
import Inspection
import Prompt
import Risk

enum PolicyChecks {
  static func approvals(_ file: String) throws {
    let policy = try PolicyText.approvals(file)
    if let warning = PolicyText.warning(policy) {
      complain("warning: \(PrintableText.field(file)): \(warning)")
    }
    try tell(file, "\(policy.rules.count) rules, \(policy.hasDefault ? "and" : "no") DEFAULT")
  }

  static func assurance(_ file: String) throws {
    try tell(file, "\(try PolicyText.assurance(file).classes.count) classes")
  }

  static func risk(_ file: String) throws {
    let policy = try PolicyText.risk(file)
    let bands = [("presence", policy.presenceBand), ("denied", policy.denyBand)].compactMap { word, band in
      band.map { "\(word) from \($0) on" }
    }
    let shown = bands.isEmpty ? "no bands" : bands.joined(separator: ", ")
    try tell(file, "\(shown), \(policy.isEnforced ? "enforced" : "only logged")")
  }

  private static func tell(_ file: String, _ found: String) throws {
    var output = Output()
    try output.line("ok  \(PrintableText.field(file))  \(found)")
    try output.flush()
  }
}

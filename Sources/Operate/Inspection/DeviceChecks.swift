/// The part of `portcullis check` that looks at what devices need: policies, the next key, users, and who may read the
/// store.
import AndroidKey
import ApprovalPolicy
import Assembly
import Bytes
package import Configuration
import Gateway
import GeoDatabase
import Prompt
internal import Requests
import Risk
import System
import Time

package struct DeviceChecks {
  package let files: GateFiles
  /// In a running gate, that of its own user.
  package var exposure = FileExposure(gate: .ofProcess)

  package init(files: GateFiles, exposure: FileExposure = FileExposure(gate: .ofProcess)) {
    self.files = files
    self.exposure = exposure
  }

  package func check(_ report: inout CheckReport) {
    var wrong: [(part: DeviceFiles.Part, problem: String)] = []
    if let read = try? DeviceFiles.read(files, tell: { wrong.append(($0, $1)) }), files.devicesPath != nil {
      checkRisk(read, &report)
      if files.approvalPolicyPath == nil {
        report.warning("policy", "APPROVAL_POLICY is not set: no operation may be asked for")
      } else {
        report.ok(
          "policy", "\(read.approvals.rules.count) rules, \(read.approvals.hasDefault ? "and" : "no") DEFAULT"
        )
        if let warning = PolicyText.warning(read.approvals) { report.warning("policy", warning) }
      }
      if let pin = read.nextPin { report.ok("pins", "the next key has the pin \(pin)") }
    }
    for (part, problem) in wrong { report.problem(part.rawValue, problem, .configuration) }
    var problems: [String] = []
    if let users = try? ApprovalUsers.find(files.approvalsSocket, tell: { problems.append($0) }),
      files.approvalsSocket?.path != nil
    {
      let group = users.group.map { "group \($0)" } ?? "the group of the gate's user"
      report.ok("approvals", "open to \(group); \(users.operators.count) operators may confirm")
    }
    for problem in problems { report.problem("approvals", problem, .configuration) }
    checkAndroid(&report)
    checkStore(&report)
  }

  private func checkAndroid(_ report: inout CheckReport) {
    let android = files.android
    guard !android.apps.isEmpty else { return }
    if android.revocationPath == nil, android.playKeysPath == nil {
      report.warning(
        "android",
        "ANDROID_APPS is set, but neither ANDROID_REVOCATION_PATH nor PLAY_INTEGRITY_KEYS_PATH: no Android phone "
          + "can attest")
    }
    guard let path = android.revocationPath else { return }
    let (certificates, age): (Int, Int64)
    do {
      guard let reading = try RevocationReading.of(path) else { return }
      (certificates, age) = (try reading.contents.get().count, reading.age(at: SystemClock().wall()))
    } catch {
      return report.warning(
        "android",
        "ANDROID_REVOCATION_PATH=\(PrintableText.field(path)) is no list of revoked certificates (\(error)): no key "
          + "attestation is taken; fetch it again")
    }
    let text = "\(certificates) revoked certificates, fetched \(age) s ago"
    if !RevocationList.isCurrent(age: age, maximum: android.revocationMaximumAge.components.seconds) {
      report.warning(
        "android", "\(text): no key attestation is taken (ANDROID_REVOCATION_MAX_AGE); fetch them again")
    } else {
      report.ok("android", text)
    }
  }

  private func checkRisk(_ read: DeviceFiles, _ report: inout CheckReport) {
    if files.riskPolicyPath != nil {
      report.ok("risk", read.risk.isEnforced ? "the policy decides" : "what the policy says is only logged")
    }
    for (name, file) in [
      (files.countriesSetting, read.countries), (files.networksSetting, read.networks),
    ] {
      guard let file else { continue }
      // A file may say anything of itself.
      let seconds = Int64(clamping: min(file.builtAt, 253_402_300_799))
      let day = UnixTime(milliseconds: seconds * 1000).timestamp.prefix(10)
      report.ok(
        "geo",
        "\(name)\(files.geoPath == nil ? " is" : ":") \(PrintableText.field(file.type, limit: 64)) of \(day)")
    }
  }

  /// The gate sets the mode right when it starts; until then, or behind its back, others could read tokens' hashes.
  private func checkStore(_ report: inout CheckReport) {
    guard let path = files.devicesPath else { return }
    if let loss = DevicesStoreFile(path: path).loss {
      return report.problem("devices", loss, .configuration)
    }
    guard WholeFile.exists(path) else {
      return report.ok("devices", "none yet: the first start makes \(PrintableText.field(path))")
    }
    exposure.check(path, as: "devices", &report)
  }
}

/// What speaks against giving a phone a code, and what follows (docs/risk.md).
internal import Addresses
package import DeviceWire
internal import PortcullisProtocol
internal import Risk

/// Why a phone was doubted, for the log and the audit: no positions, and nothing that the phone has said beside.
package struct RiskReport: Equatable, Sendable {
  package let device: DeviceID
  /// Their words, with commas.
  package let reasons: String
  package let score: Int
  package let band: String
  /// Whether the band decides.
  package let isEnforced: Bool

  init(device: DeviceID, _ findings: RiskFindings, _ verdict: RiskVerdict) {
    self.device = device
    reasons = findings.reasons.map(\.rawValue).joined(separator: ",")
    score = verdict.score
    band = verdict.band.rawValue
    isEnforced = verdict.isEnforced
  }

  /// Whether there is anything to tell.
  var hasSubstance: Bool { !reasons.isEmpty || score > 0 }

  var audited: [AuditEntry.Member] {
    guard hasSubstance else { return [] }
    return [.word("reasons", reasons), .number("score", Int64(score)), .word("band", band)]
  }
}

extension Transaction {
  /// Looks at what the device says of itself, and tells what it finds; changes nothing yet.
  mutating func doubts(about device: DeviceRecord, _ signals: Signals) throws(CallFailure) -> Doubts {
    let id = device.id
    let previous = try store.riskRecord(of: id)
    let question = RiskQuestion(
      signals: signals, at: UnixSeconds(now), place: place, previous: previous,
      minimumPatch: settings.risk.minimumPatch,
      attestFailedAt: device.attestationFailedAt.map { UnixSeconds($0) }, platform: device.platform)
    let findings = RiskJudge.findings(question)
    let verdict = settings.risk.judge(findings, at: now)
    let report = RiskReport(device: device.id, findings, verdict)
    if report.hasSubstance { announce(.doubted(report)) }
    return Doubts(report: report, record: question.record, refusal: refusal(verdict, device))
  }

  private var place: Place {
    guard case .address(let address) = origin else { return .unknown }
    return settings.places?.place(of: address) ?? .unknown
  }

  private func refusal(_ verdict: RiskVerdict, _ device: DeviceRecord) -> RegistryRefusal? {
    guard verdict.isEnforced else { return nil }
    return switch verdict.band {
    case .allow: nil
    case .presence: isNear(device) ? nil : RegistryRefusal(.presenceRequired, "code_risk")
    case .deny: RegistryRefusal(.riskDenied, "code_risk")
    }
  }

  /// With a code, and not with a refusal: else whoever was refused for coming from afar would only have to ask again.
  func remember(_ doubts: Doubts) throws(CallFailure) {
    try store.setRiskRecord(doubts.record, of: doubts.report.device)
  }
}

struct Doubts {
  let report: RiskReport
  let record: RiskRecord
  /// Nil where the policy lets the phone have its code, or does not decide.
  let refusal: RegistryRefusal?
}

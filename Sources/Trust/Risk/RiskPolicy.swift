/// What a gate makes of reasons (docs/risk.md): what each counts, and from which sum on a code takes more.
package import Time

package struct RiskPolicy: Equatable, Sendable {
  /// What a reason counts that holds.
  var weights: [RiskReason: Int] = [:]
  /// What one counts of which nobody can say whether it holds.
  var unknown: [RiskReason: Int] = [:]
  var hours: [RiskHours] = []
  /// From which sum on; nil: from none.
  package internal(set) var presenceBand: Int?
  package internal(set) var denyBand: Int?
  /// As year and month, such as 202501; nil where phones may be as old as they like.
  package internal(set) var minimumPatch: Int?
  /// Whether it decides; otherwise it is only logged what it would say.
  package internal(set) var isEnforced = false

  /// Reasons are logged and count nothing: what a gate without a policy has.
  package static let `default` = RiskPolicy()

  package func judge(_ findings: RiskFindings, at time: UnixTime) -> RiskVerdict {
    let score = parts(findings, at: time).reduce(0) { $0 + $1.weight }
    return RiskVerdict(score: score, band: band(of: score), isEnforced: isEnforced)
  }

  /// All that counts, in the order of `RiskReason`, and the hours last.
  package func parts(_ findings: RiskFindings, at time: UnixTime) -> [RiskPart] {
    let hour = Int(time.seconds % 86_400 + 86_400) % 86_400 / 3600
    return findings.reasons.map { RiskPart(source: .reason($0), weight: weights[$0] ?? 0) }
      + findings.unknown.map { RiskPart(source: .unknown($0), weight: unknown[$0] ?? 0) }
      + hours.filter { $0.contains(hour) }.map { RiskPart(source: .hours($0), weight: $0.weight) }
  }

  private func band(of score: Int) -> RiskBand {
    if let denyBand, score >= denyBand { return .deny }
    if let presenceBand, score >= presenceBand { return .presence }
    return .allow
  }
}

/// What a code takes.
package enum RiskBand: String, CaseIterable, Sendable {
  case allow
  /// The phone has to be near.
  case presence
  case deny
}

package struct RiskVerdict: Equatable, Sendable {
  package let score: Int
  package let band: RiskBand
  /// Whether the band decides; otherwise it is to be logged.
  package let isEnforced: Bool

  package init(score: Int, band: RiskBand, isEnforced: Bool) {
    self.score = score
    self.band = band
    self.isEnforced = isEnforced
  }
}

/// One summand of a score.
package struct RiskPart: Equatable, Sendable {
  package enum Source: Equatable, Sendable {
    case reason(RiskReason)
    case unknown(RiskReason)
    case hours(RiskHours)
  }

  package let source: Source
  package let weight: Int
}

/// Hours of the day, in UTC, at which a request counts more.
package struct RiskHours: Equatable, Sendable {
  /// 0…23.
  let start: Int
  /// The first hour that is none of them: 1…24, and less than `start` where midnight is between.
  let end: Int
  let weight: Int

  func contains(_ hour: Int) -> Bool {
    start < end ? (start..<end).contains(hour) : hour >= start || hour < end
  }
}

extension RiskHours: CustomStringConvertible {
  /// As a policy names them.
  package var description: String { "\(start)-\(end)" }
}

package enum RiskBounds {
  static let weight = 0...1000
  static let band = 1...100_000
  static let hours = 24
}

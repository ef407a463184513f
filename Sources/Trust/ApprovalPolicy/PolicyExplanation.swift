/// Why a policy demands of a request what it does: each rule, and which of them each part of the result comes from
/// (docs/policies.md).
internal import Bytes
internal import DeviceWire

package struct PolicyExplanation: Sendable {
  /// A rule, or DEFAULT.
  package struct Finding: Sendable {
    package let place: String
    /// Why it does not hold; nil where it does.
    package let difference: String?
    /// Target members that it names and the request lacks.
    package let absent: [String]
    /// What it says, a line each.
    package let demands: [String]
  }

  /// A part of the result.
  package struct Part: Sendable {
    package let member: String
    package let value: String
    /// Where it comes from; empty for what holds without a word of any rule.
    package let places: [String]
  }

  package let findings: [Finding]
  /// Empty where the policy refuses.
  package let parts: [Part]

  package var isRefused: Bool { parts.isEmpty }

  /// For an operator to read.
  package var lines: [String] {
    var lines: [String] = []
    for finding in findings {
      if let difference = finding.difference {
        lines.append("\(finding.place)  does not hold: \(difference)")
        continue
      }
      let absent = finding.absent.map { "; the request has no target \($0)" }.joined()
      lines.append("\(finding.place)  holds\(absent)")
      lines += finding.demands.map { "  \($0)" }
    }
    if isRefused { return lines + ["result  policy_refused: no rule matches, and there is no DEFAULT"] }
    lines.append("result")
    for part in parts {
      let origin = part.places.isEmpty ? "by default" : part.places.joined(separator: ", ")
      lines.append("  \(part.member) \(part.value)  (\(origin))")
    }
    return lines
  }
}

extension ApprovalPolicy {
  package func explain(_ request: ApprovalQuestion) -> PolicyExplanation {
    var holding: [(place: String, demands: ApprovalDemands)] = []
    var matching: [ApprovalRule] = []
    var findings: [PolicyExplanation.Finding] = []
    for (index, rule) in rules.enumerated() {
      let place = "rule \(index + 1)"
      let difference = rule.match.difference(from: request)
      if difference == nil {
        matching.append(rule)
        holding.append((place, rule.demands))
      }
      findings.append(
        PolicyExplanation.Finding(
          place: place, difference: difference.map { Self.text(of: $0, rule.match, request) },
          absent: rule.match.absent(in: request).map(Self.shown), demands: rule.demands.lines))
    }
    if let fallback {
      let isUsed = Self.defaultHolds(beside: matching, request)
      if isUsed { holding.append(("DEFAULT", fallback)) }
      findings.append(
        PolicyExplanation.Finding(
          place: "DEFAULT", difference: isUsed ? nil : "a rule matches", absent: [], demands: fallback.lines))
    }
    return PolicyExplanation(findings: findings, parts: Self.parts(holding))
  }

  private static func text(
    of difference: ApprovalMatch.Difference, _ match: ApprovalMatch, _ request: ApprovalQuestion
  ) -> String {
    switch difference {
    case .operation:
      return "operation is not \(shown(match.operation?.text ?? []))"
    case .target(let name):
      let pattern = match.target.first { $0.name == name }?.pattern.text ?? []
      return "target \(shown(name)) is \(shown(request.target[name] ?? [])), not \(shown(pattern))"
    }
  }

  private static func shown(_ text: [UInt8]) -> String { PrintableText.field(text.span, limit: 128) }

  /// The terms, with and without a lease, and for each part the rules that decide it: those that would give it alone.
  private static func parts(
    _ holding: [(place: String, demands: ApprovalDemands)]
  ) -> [PolicyExplanation.Part] {
    if holding.isEmpty { return [] }
    let demands = holding.map(\.demands)
    let lease = lease(demands)
    let terms = together(demands, lease: nil)
    func part(
      _ member: String, _ value: String, from decides: (ApprovalDemands) -> Bool
    ) -> PolicyExplanation.Part {
      PolicyExplanation.Part(
        member: member, value: value, places: holding.filter { decides($0.demands) }.map(\.place))
    }
    var parts = [
      // Each rule adds to them, also one that says nothing of them.
      PolicyExplanation.Part(
        member: "factors", value: terms.factors.words.joined(separator: ", "),
        places: holding.map { $0.demands.factors == nil ? "\($0.place) by default" : $0.place }),
      part("level", terms.level.rawValue) { $0.level == terms.level },
      part("uv", terms.userVerification.rawValue) { $0.userVerification == terms.userVerification },
      part("quorum", "\(terms.quorum)") { $0.quorum == terms.quorum },
      part("distinct_subjects", "\(terms.needsDistinctSubjects)") {
        $0.distinctSubjects == terms.needsDistinctSubjects
      },
      part("bar_requester", "\(terms.barsRequester)") { $0.barsRequester == terms.barsRequester },
      part("match_digits", digits(demands, lease: lease)) { $0.matchDigits != nil },
      part("presence", "\(terms.needsPresence)") { $0.presence == terms.needsPresence },
      part("ttl_s", "\(terms.seconds)") { $0.seconds == terms.seconds },
    ]
    if let lease {
      parts.append(part("lease", "at most \(lease.words)") { $0.lease != nil })
    } else {
      parts.append(part("lease", "none", from: { _ in false }))
    }
    let approvers = terms.approvers.lists.map { list in list.map { shown($0.text) }.joined(separator: ", ") }
    parts.append(
      part(
        "approvers",
        approvers.isEmpty ? "the request's subject" : approvers.joined(separator: "; and of these ")
      ) { $0.approvers != nil })
    return parts
  }

  private static func digits(_ demands: [ApprovalDemands], lease: LeaseTerms?) -> String {
    let plain = together(demands, lease: nil)
    guard plain.factors.contains(.device) else { return "0, as no phone is asked" }
    let leased = together(demands, lease: lease).matchDigits
    return leased == plain.matchDigits ? "\(leased)" : "\(plain.matchDigits), with a lease \(leased)"
  }
}

extension LeaseTerms {
  fileprivate var words: String { "ttl_s \(seconds), uses \(uses)" }
}

extension ApprovalDemands {
  /// What it says, in the words of the file.
  fileprivate var lines: [String] {
    var lines: [String] = []
    func say(_ member: String, _ value: (some CustomStringConvertible)?) {
      if let value { lines.append("\(member) \(value)") }
    }
    say("factors", factors?.words.joined(separator: ", "))
    say("level", level?.rawValue)
    say("uv", userVerification?.rawValue)
    say("quorum", quorum)
    say("distinct_subjects", distinctSubjects)
    say("bar_requester", barsRequester)
    say("match_digits", matchDigits)
    say("presence", presence)
    say("ttl_s", seconds)
    say("lease", lease?.words)
    say("approvers", approvers?.map { PrintableText.field($0.text.span, limit: 128) }.joined(separator: ", "))
    return lines
  }
}

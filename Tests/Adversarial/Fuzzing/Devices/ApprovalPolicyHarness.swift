/// Files of policies (docs/policies.md): every problem is told in a line, what is asked for is what is explained, and no
/// request gets more by leaving a member out.
@testable internal import ApprovalPolicy
internal import Bytes
internal import DeviceWire

enum ApprovalPolicyHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    do throws(PolicyFailure) {
      _ = try AssurancePolicy(parsing: bytes.span)
    } catch {
      try check(error)
    }
    let policy: ApprovalPolicy
    do throws(PolicyFailure) {
      policy = try ApprovalPolicy(parsing: bytes.span)
    } catch {
      try check(error)
      return .refused
    }
    // Requests of the words that the file itself has.
    let operations = policy.rules.prefix(4).compactMap { $0.match.operation?.text } + [[]]
    let members = policy.rules.prefix(4).flatMap { $0.match.target.prefix(2) }
    for operation in operations {
      for target in [[:], Self.target(members), Self.target(members.reversed())] {
        try check(policy, operation, target)
      }
    }
    return .accepted
  }

  private static func target(_ members: [(name: [UInt8], pattern: Glob)]) -> [[UInt8]: [UInt8]] {
    Dictionary(members.map { ($0.name, $0.pattern.text) }, uniquingKeysWith: { first, _ in first })
  }

  private static func check(
    _ policy: ApprovalPolicy, _ operation: [UInt8], _ target: [[UInt8]: [UInt8]]
  ) throws(BrokenProperty) {
    let request = ApprovalQuestion(operation: operation, target: target)
    let terms = try? policy.terms(for: request)
    let explanation = policy.explain(request)
    try require(explanation.isRefused == (terms == nil), "explained otherwise than decided")
    for line in explanation.lines { try requireOneLine(line) }
    guard let terms else { return }
    try require(!terms.factors.isEmpty && (1...300).contains(terms.seconds), "terms that nobody can meet")
    for name in target.keys {
      var less = target
      less[name] = nil
      let shorter = try? policy.terms(for: ApprovalQuestion(operation: operation, target: less))
      guard let shorter else { throw BrokenProperty("refused for what it lacks") }
      try require(shorter.isAtLeast(terms), "less is asked of a request that lacks a member")
    }
  }

  private static func check(_ failure: PolicyFailure) throws(BrokenProperty) {
    try require(!failure.problems.isEmpty, "a failure without a problem")
    for problem in failure.problems {
      try require(!problem.reason.isEmpty && !problem.remedy.isEmpty, "no reason or no remedy")
      try requireOneLine(problem.description)
    }
  }

  private static func requireOneLine(_ text: String) throws(BrokenProperty) {
    try require(
      text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) },
      "a control character: \(PrintableText.field(text))")
  }
}

extension ApprovalTerms {
  fileprivate func isAtLeast(_ other: ApprovalTerms) -> Bool {
    factors.isSuperset(of: other.factors) && level >= other.level
      && userVerification >= other.userVerification
      && quorum >= other.quorum && matchDigits >= other.matchDigits && seconds <= other.seconds
      && (needsDistinctSubjects || !other.needsDistinctSubjects) && (needsPresence || !other.needsPresence)
      && (barsRequester || !other.barsRequester) && approvers.lists.count >= other.approvers.lists.count
  }
}

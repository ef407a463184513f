/// The file of `APPROVAL_POLICY` (docs/policies.md): strict, and every problem of it told at once.
internal import DeviceWire
internal import JSON

extension ApprovalPolicy {
  package init(parsing bytes: Span<UInt8>) throws(PolicyFailure) {
    var problems: [PolicyProblem] = []
    var file = try PolicyFile.object(bytes)
    var rules: [ApprovalRule] = []
    for (index, value) in PolicyFile.list("rules", in: &file, required: false).enumerated() {
      guard var rule = PolicyFile.element(value, "rule \(index + 1)", &file) else { continue }
      let match = ApprovalMatch(reading: &rule)
      let demands = ApprovalDemands(reading: &rule)
      rule.finish(&problems)
      if let match { rules.append(ApprovalRule(match: match, demands: demands)) }
    }
    var fallback: ApprovalDemands?
    if let value = file.value("DEFAULT"), var object = PolicyFile.element(value, "DEFAULT", &file) {
      fallback = ApprovalDemands(reading: &object)
      object.finish(&problems)
    }
    file.finish(&problems)
    guard problems.isEmpty else { throw PolicyFailure(problems: problems) }
    self.init(rules: rules, fallback: fallback)
  }
}

extension ApprovalMatch {
  /// Nil with a problem noted.
  fileprivate init?(reading rule: inout PolicyObject) {
    let form = #"write "match":{"operation":"…","target":{"name":"…"}}, with * for any run of characters"#
    guard rule.has("match") else {
      rule.complain("match", nil, "is missing", remedy: form)
      return nil
    }
    let match: ApprovalMatch? = rule.object("match") { match in
      let operation = match.text("operation")
      let target = match.object("target") { $0.allTexts() } ?? []
      if target.count > ApprovalBounds.target {
        match.complain(
          "target", nil, "names \(target.count) members",
          remedy: "name at most \(ApprovalBounds.target), or write several rules")
      }
      return ApprovalMatch(
        operation: operation.map { Glob($0) },
        target: target.map { (name: Array($0.name.utf8), pattern: Glob($0.text)) })
    }
    guard let match else { return nil }
    self = match
  }
}

extension ApprovalDemands {
  fileprivate init(reading rule: inout PolicyObject) {
    approvers = rule.texts("approvers")?.map { Glob($0) }
    factors = Self.factors(&rule)
    level = rule.choice("level")
    userVerification = rule.choice("uv")
    quorum = rule.integer("quorum", ApprovalBounds.quorum)
    distinctSubjects = rule.boolean("distinct_subjects")
    barsRequester = rule.boolean("bar_requester")
    matchDigits = rule.integer("match_digits", ApprovalBounds.matchDigits, or: 0)
    presence = rule.boolean("presence")
    seconds = rule.integer("ttl_s", ApprovalBounds.seconds)
    lease = rule.object("lease") { lease in
      let seconds = lease.required("ttl_s", ApprovalBounds.leaseSeconds)
      let uses = lease.required("uses", ApprovalBounds.leaseUses)
      guard let seconds, let uses else { return nil }
      return LeaseTerms(seconds: seconds, uses: uses)
    }
    if let factors, !factors.contains(.device), let quorum, quorum > 1 {
      rule.complain(
        "quorum", JSONValue.number(JSONNumber(Int64(quorum))), "counts devices, and factors names none",
        remedy: "add \"device\" to factors, or leave quorum out")
    }
  }

  private static func factors(_ rule: inout PolicyObject) -> ApprovalFactors? {
    guard let words = rule.texts("factors", atMost: ApprovalFactors.all.count) else { return nil }
    guard let factors = ApprovalFactors(words: words), factors.words.count == words.count else {
      rule.complain(
        "factors", .array(words.map { .string($0) }), "has a word that is unknown or comes twice",
        remedy: "write [\"device\"], [\"operator\"] or both")
      return nil
    }
    return factors
  }
}

/// Random rules against a slow, obvious model that takes each member of the contract by itself.
@testable import ApprovalPolicy
import DeviceWire
import Kit
import Testing

@Suite struct RandomTermsTests {
  private typealias Rule = [String: String]

  @Test func agrees() throws {
    var random = SplitMix(seed: 13)
    var refusals = 0
    for round in 0..<3000 {
      let rules = (0..<Int.random(in: 0...4, using: &random)).map { _ in Self.rule(using: &random) }
      let hasDefault = Bool.random(using: &random)
      var fallback = Self.rule(using: &random)
      fallback["operation"] = nil
      fallback["realm"] = nil
      let policy = try policy(text(rules, fallback: hasDefault ? fallback : nil))
      let operation = ["a", "ab", "b"].randomElement(using: &random) ?? ""
      let realm = [nil, "a", "ab", ""].randomElement(using: &random) ?? nil
      let asked: LeaseTerms? = Bool.random(using: &random) ? LeaseTerms(seconds: 50, uses: 5) : nil

      var holding = rules.filter { Self.holds($0, operation, realm) }
      let isPlain = holding.contains { $0["realm"] == nil || realm != nil }
      if !isPlain, hasDefault { holding.append(fallback) }
      let expected = Self.model(holding, asked)
      let terms = try? policy.terms(
        for: request(operation, realm.map { [("realm", $0)] } ?? []), asked: AskedTerms(lease: asked))
      if expected == nil { refusals += 1 }
      #expect(terms.map(Self.words) == expected, "round \(round): \(rules), \(operation), \(realm ?? "-")")
    }
    #expect((100..<2900).contains(refusals))
  }

  private static func rule(using random: inout SplitMix) -> Rule {
    let choices: [String: [String]] = [
      "operation": ["a", "*", "a*", "*b"], "realm": ["a", "a*", ""],
      "factors": ["[\"device\"]", "[\"operator\"]", "[\"operator\",\"device\"]"],
      "level": ["\"bare\"", "\"app_attested\"", "\"hardware_attested\""],
      "uv": ["\"none\"", "\"app\"", "\"hardware\""],
      "distinct_subjects": ["true", "false"], "bar_requester": ["true", "false"],
      "presence": ["true", "false"], "match_digits": ["0", "2", "3", "4", "6"], "ttl_s": ["1", "60", "300"],
      "lease": ["10", "60"],
    ]
    var rule: Rule = [:]
    for (name, values) in choices.sorted(by: { $0.key < $1.key }) where Bool.random(using: &random) {
      rule[name] = values.randomElement(using: &random)
    }
    return rule
  }

  private func text(_ rules: [Rule], fallback: Rule?) -> String {
    func members(_ rule: Rule) -> [String] {
      rule.filter { !["operation", "realm"].contains($0.key) }.map { name, value in
        name == "lease" ? #""lease":{"ttl_s":\#(value),"uses":3}"# : #""\#(name)":\#(value)"#
      }
    }
    let list = rules.map { rule in
      var match: [String] = []
      if let operation = rule["operation"] { match.append(#""operation":"\#(operation)""#) }
      if let realm = rule["realm"] { match.append(#""target":{"realm":"\#(realm)"}"#) }
      return "{" + ([#""match":{\#(match.joined(separator: ","))}"#] + members(rule)).joined(separator: ",")
        + "}"
    }
    let tail = fallback.map { ",\"DEFAULT\":{\(members($0).joined(separator: ","))}" } ?? ""
    return "{\"rules\":[\(list.joined(separator: ","))]\(tail)}"
  }

  // MARK: The model

  private static func holds(_ rule: Rule, _ operation: String, _ realm: String?) -> Bool {
    func fits(_ pattern: String, _ text: String) -> Bool {
      switch pattern {
      case "*": true
      case "a*": text.hasPrefix("a")
      case "*b": text.hasSuffix("b")
      default: text == pattern
      }
    }
    if let pattern = rule["operation"], !fits(pattern, operation) { return false }
    if let pattern = rule["realm"], let realm, !fits(pattern, realm) { return false }
    return true
  }

  /// Nil for a refusal.
  private static func model(_ rules: [Rule], _ asked: LeaseTerms?) -> [String]? {
    if rules.isEmpty { return nil }
    let leases = rules.compactMap { $0["lease"].flatMap(Int.init) }
    if asked != nil, leases.isEmpty { return nil }
    func greatest(_ member: String, _ order: [String], _ fallback: String) -> String {
      let stated = rules.map { $0[member]?.filter { $0 != "\"" } ?? fallback }
      return order.last { stated.contains($0) } ?? ""
    }
    func any(_ member: String, _ fallback: String) -> String {
      rules.contains { ($0[member] ?? fallback) == "true" } ? "true" : "false"
    }
    let factors = rules.map { $0["factors"] ?? "device" }.joined()
    let hasDevice = factors.contains("device")
    let digits = rules.map { $0["match_digits"].flatMap(Int.init) ?? (asked == nil ? 2 : 4) }.max() ?? -1
    let times = rules.compactMap { $0["ttl_s"].flatMap(Int.init) }
    return [
      hasDevice ? factors.contains("operator") ? "device,operator" : "device" : "operator",
      greatest("level", ["bare", "app_attested", "hardware_attested"], "app_attested"),
      greatest("uv", ["none", "app", "hardware"], "app"),
      any("distinct_subjects", "false"), any("bar_requester", "true"), any("presence", "false"),
      hasDevice ? "\(digits)" : "0", "\(times.min() ?? 300)",
      asked == nil ? "-" : "\(min(50, leases.min() ?? 0)),3",
    ]
  }

  private static func words(_ terms: ApprovalTerms) -> [String] {
    [
      terms.factors.words.joined(separator: ","), terms.level.rawValue, terms.userVerification.rawValue,
      "\(terms.needsDistinctSubjects)", "\(terms.barsRequester)", "\(terms.needsPresence)",
      "\(terms.matchDigits)", "\(terms.seconds)", terms.lease.map { "\($0.seconds),\($0.uses)" } ?? "-",
    ]
  }
}

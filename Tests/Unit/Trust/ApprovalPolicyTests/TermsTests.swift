import ApprovalPolicy
import DeviceWire
import Testing

@Suite struct TermsTests {
  @Test func defaults() throws {
    let terms = try policy(rules: #"{"match":{"operation":"a"}}"#).terms(for: request("a"))
    #expect(terms.factors == .device && terms.level == .appAttested && terms.userVerification == .app)
    #expect(terms.quorum == 1 && terms.matchDigits == 2 && terms.barsRequester)
    #expect(!terms.needsDistinctSubjects && !terms.needsPresence)
    #expect(terms.seconds == 300 && terms.lease == nil && !terms.approvers.areStated)
  }

  @Test func withoutARuleNothingIsAllowed() throws {
    #expect(throws: PolicyRefusal.noRule) { try ApprovalPolicy.none.terms(for: request("a")) }
    let one = try policy(rules: #"{"match":{"operation":"a"}}"#)
    #expect(throws: PolicyRefusal.noRule) { try one.terms(for: request("b")) }
  }

  @Test func defaultHoldsOnlyWhereNoRuleMatches() throws {
    let both = try policy(rules: #"{"match":{"operation":"a"},"quorum":2}"#, fallback: #"{"quorum":3}"#)
    #expect(try both.terms(for: request("a")).quorum == 2)
    #expect(try both.terms(for: request("b")).quorum == 3)
  }

  @Test func allMatchingRulesHoldTogether() throws {
    let terms = try policy(
      rules: #"{"match":{"operation":"mud.*"},"factors":["operator"],"level":"bare","uv":"hardware"}"#,
      #"{"match":{"operation":"*.promote"},"factors":["device"],"level":"hardware_attested","uv":"none","quorum":2,"ttl_s":60}"#,
      #"{"match":{},"presence":true,"distinct_subjects":true,"match_digits":0,"ttl_s":120,"bar_requester":false}"#,
      #"{"match":{"operation":"other"},"quorum":9,"match_digits":6}"#
    ).terms(for: request("mud.promote"))
    #expect(terms.factors == [.device, .operator])
    #expect(terms.level == .hardwareAttested && terms.userVerification == .hardware)
    #expect(terms.quorum == 2 && terms.seconds == 60 && terms.matchDigits == 2)
    #expect(terms.needsPresence && terms.needsDistinctSubjects && terms.barsRequester)
  }

  /// Each rule stands for itself: saying nothing is saying the default.
  @Test func aLooseRuleDoesNotLoosenAnother() throws {
    let rules = try policy(
      rules: #"{"match":{},"level":"bare","uv":"none","match_digits":0,"bar_requester":false}"#,
      #"{"match":{"operation":"a"}}"#)
    let loose = try rules.terms(for: request("b"))
    #expect(loose.level == .bare && loose.userVerification == .none && loose.matchDigits == 0)
    #expect(!loose.barsRequester)
    let both = try rules.terms(for: request("a"))
    #expect(both.level == .appAttested && both.userVerification == .app && both.matchDigits == 2)
    #expect(both.barsRequester)
  }

  // MARK: Evasion

  /// The strict rule names a member of the target; a request that leaves it out is bound all the same.
  @Test func leavingAMemberOutEvadesNothing() throws {
    let rules = try policy(
      rules: #"{"match":{"operation":"pay"},"match_digits":0}"#,
      #"{"match":{"operation":"pay","target":{"realm":"prod*"}},"quorum":3,"level":"hardware_attested"}"#)
    #expect(try rules.terms(for: request("pay", [("realm", "test")])).quorum == 1)
    #expect(try rules.terms(for: request("pay", [("realm", "production")])).quorum == 3)
    for evasion in [[], [("Realm", "test")], [("realm ", "test")], [("other", "test")]] {
      let terms = try rules.terms(for: request("pay", evasion))
      #expect(terms.quorum == 3 && terms.level == .hardwareAttested, "\(evasion)")
    }
    #expect(try rules.terms(for: request("pay", [("realm", "")])).quorum == 1)
  }

  @Test func anAbsentMemberDoesNotMakeUpForAnotherOne() throws {
    let rules = try policy(
      rules: #"{"match":{"target":{"realm":"prod","tier":"gold"}},"quorum":3}"#, fallback: "{}")
    #expect(try rules.terms(for: request("a", [("tier", "gold")])).quorum == 3)
    #expect(try rules.terms(for: request("a", [("tier", "tin")])).quorum == 1)
  }

  /// A loose rule for one realm, and DEFAULT for the others: whoever names none is not in the loose one.
  @Test func leavingAMemberOutDoesNotLeadAroundDefault() throws {
    let rules = try policy(
      rules: #"{"match":{"operation":"pay","target":{"realm":"test"}},"match_digits":0}"#,
      fallback: #"{"quorum":3}"#)
    #expect(try rules.terms(for: request("pay", [("realm", "test")])).quorum == 1)
    #expect(try rules.terms(for: request("pay", [("realm", "prod")])).quorum == 3)
    let evasion = try rules.terms(for: request("pay"))
    #expect(evasion.quorum == 3 && evasion.matchDigits == 2)
    #expect(rules.explain(request("pay")).lines.contains("DEFAULT  holds"))
  }

  // MARK: Asking for more

  @Test func aServiceGetsMoreAndNeverLess() throws {
    let rules = try policy(
      rules: #"{"match":{},"quorum":2,"level":"app_attested","uv":"app","match_digits":3}"#)
    let more = try rules.terms(
      for: request("a"),
      asked: AskedTerms(level: .hardwareAttested, userVerification: .hardware, quorum: 3, matchDigits: 6))
    #expect(more.level == .hardwareAttested && more.userVerification == .hardware)
    #expect(more.quorum == 3 && more.matchDigits == 6)
    let less = try rules.terms(
      for: request("a"),
      asked: AskedTerms(level: .bare, userVerification: UserVerification.none, quorum: 1, matchDigits: 0))
    #expect(try less == rules.terms(for: request("a")))
  }

  @Test func leases() throws {
    let rules = try policy(
      rules: #"{"match":{"operation":"a*"},"lease":{"ttl_s":600,"uses":3}}"#,
      #"{"match":{"operation":"*b"},"lease":{"ttl_s":60,"uses":10}}"#, #"{"match":{}}"#)
    func lease(_ operation: String, _ asked: LeaseTerms?) throws -> LeaseTerms? {
      try rules.terms(for: request(operation), asked: AskedTerms(lease: asked)).lease
    }
    #expect(try lease("a", nil) == nil)
    #expect(try lease("a", LeaseTerms(seconds: 30, uses: 100)) == LeaseTerms(seconds: 30, uses: 3))
    #expect(try lease("ab", LeaseTerms(seconds: 900, uses: 2)) == LeaseTerms(seconds: 60, uses: 2))
    #expect(throws: PolicyRefusal.noLease) { try lease("c", LeaseTerms(seconds: 1, uses: 1)) }
  }

  @Test func aLeaseTakesFourDigitsUnlessARuleSaysOtherwise() throws {
    let asked = AskedTerms(lease: LeaseTerms(seconds: 1, uses: 1))
    let lease = #""lease":{"ttl_s":60,"uses":1}"#
    let plain = try policy(rules: #"{"match":{},\#(lease)}"#)
    #expect(try plain.terms(for: request("a")).matchDigits == 2)
    #expect(try plain.terms(for: request("a"), asked: asked).matchDigits == 4)
    let stated = try policy(rules: #"{"match":{},\#(lease),"match_digits":0}"#)
    #expect(try stated.terms(for: request("a"), asked: asked).matchDigits == 0)
  }

  @Test func anOperatorAloneTypesNoDigits() throws {
    let rules = try policy(rules: #"{"match":{},"factors":["operator"],"match_digits":4}"#)
    #expect(try rules.terms(for: request("a"), asked: AskedTerms(matchDigits: 6)).matchDigits == 0)
  }

  // MARK: Approvers

  @Test func approversAreThoseOfAllLists() throws {
    let approvers = try policy(
      rules: #"{"match":{},"approvers":["admin-*","frodo"]}"#,
      #"{"match":{},"approvers":["frodo","admin-sam","x"]}"#
    ).terms(for: request("a")).approvers
    #expect(approvers.admit("frodo", subject: nil) && approvers.admit("admin-sam", subject: "frodo"))
    #expect(!approvers.admit("admin-pippin", subject: nil) && !approvers.admit("x", subject: "x"))
    #expect(approvers.candidates == ["frodo", "admin-sam", "x"])
  }

  @Test func withoutApproversItIsTheSubject() throws {
    let approvers = try policy(rules: #"{"match":{}}"#).terms(for: request("a")).approvers
    #expect(approvers.admit("frodo", subject: "frodo") && !approvers.admit("sam", subject: "frodo"))
    #expect(!approvers.admit("", subject: nil) && approvers.candidates == nil)
    // Of one look, and not of the same bytes.
    #expect(!approvers.admit("e\u{301}", subject: "\u{E9}"))
  }
}

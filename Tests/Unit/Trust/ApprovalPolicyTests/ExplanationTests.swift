import ApprovalPolicy
import Testing

@Suite struct ExplanationTests {
  @Test func rulesPartsAndWhereTheyComeFrom() throws {
    let rules = try policy(
      rules: #"{"match":{"operation":"mud.*"},"factors":["operator"],"lease":{"ttl_s":600,"uses":3}}"#,
      #"{"match":{"operation":"mud.promote","target":{"realm":"prod"}},"factors":["device"],"quorum":2}"#,
      #"{"match":{"target":{"character":"G*"}},"approvers":["ops-*"]}"#, fallback: "{}")
    let lines = rules.explain(request("mud.promote", [("character", "Frodo")])).lines
    #expect(
      lines == [
        "rule 1  holds", "  factors operator", "  lease ttl_s 600, uses 3",
        "rule 2  holds; the request has no target realm", "  factors device", "  quorum 2",
        "rule 3  does not hold: target character is Frodo, not G*",
        "DEFAULT  does not hold: a rule matches",
        "result",
        "  factors device, operator  (rule 1, rule 2)",
        "  level app_attested  (by default)",
        "  uv app  (by default)",
        "  quorum 2  (rule 2)",
        "  distinct_subjects false  (by default)",
        "  bar_requester true  (by default)",
        "  match_digits 2, with a lease 4  (by default)",
        "  presence false  (by default)",
        "  ttl_s 300  (by default)",
        "  lease at most ttl_s 600, uses 3  (rule 1)",
        "  approvers the request's subject  (by default)",
      ])
  }

  @Test func aRefusal() throws {
    let explanation = try policy(rules: #"{"match":{"operation":"a"}}"#).explain(request("b"))
    #expect(explanation.isRefused)
    #expect(
      explanation.lines == [
        "rule 1  does not hold: operation is not a",
        "result  policy_refused: no rule matches, and there is no DEFAULT",
      ])
  }

  @Test func whatARequestHoldsCannotForgeALine() throws {
    let rules = try policy(rules: #"{"match":{"target":{"a":"b"}}}"#)
    let lines = rules.explain(request("x", [("a", "\u{202E}\nresult  fine")])).lines
    #expect(lines[0] == #"rule 1  does not hold: target a is "\u202e\nresult  fine", not b"#)
  }
}

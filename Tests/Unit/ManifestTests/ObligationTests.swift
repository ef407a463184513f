/// What was not tried is red in CI: the rule by which tests are skipped.
import Obligation
import Testing

@Suite struct ObligationTests {
  @Test(arguments: [
    ("", "", true), ("", "Landlock", true), ("true", "", false), ("true", "Landlock", true),
    ("1", "root,Landlock", true), ("true", "root", false), ("true", "Land", false),
    ("true", "landlock", false),
  ])
  func whatMayBeSkipped(ci: String, cannot: String, isAllowed: Bool) {
    #expect(Obligation.maySkip("Landlock", ci: ci, cannot: cannot) == isAllowed)
  }

  @Test func whatIsPossibleRuns() {
    #expect(Obligation.runs(true, "anything"))
  }
}

/// What a policy allows and an operator seldom means: phones that nothing vouches for.
import Testing

@testable import ApprovalPolicy

@Suite struct PolicyWarningTests {
  @Test(arguments: [
    (#"{"rules":[],"DEFAULT":{}}"#, []),
    (#"{"rules":[{"match":{"operation":"a"}},{"match":{"operation":"b"},"level":"bare"}]}"#, ["rule 2"]),
    (#"{"rules":[],"DEFAULT":{"level":"bare"}}"#, ["DEFAULT"]),
    // Somebody else has a word in it.
    (#"{"rules":[{"match":{"operation":"a"},"level":"bare","factors":["device","operator"]}]}"#, []),
    (#"{"rules":[],"DEFAULT":{"factors":["operator"],"level":"bare"}}"#, []),
  ])
  func whereBarePhonesAreTaken(_ text: String, places: [String]) throws {
    let bytes = Array(text.utf8)
    #expect(try ApprovalPolicy(parsing: bytes.span).placesForBarePhones == places)
  }
}

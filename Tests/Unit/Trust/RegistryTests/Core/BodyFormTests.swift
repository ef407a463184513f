import Crypto
import Testing

@testable import Registry

/// How much of a stranger's body a loop reads.
@Suite struct BodyFormTests {
  private func form(_ text: String) throws(FormError) -> Form {
    try Form(body: Array(text.utf8).span, checkedBy: P256Verifier())
  }

  /// At the limit and above it: members, elements, and both within each other. The body itself is one.
  @Test(arguments: [(255, true), (256, false), (8000, false)])
  func howManyValuesABodyHas(count: Int, isRead: Bool) {
    let members = (0..<count).map { "\"\($0)\":0" }.joined(separator: ",")
    let elements = (0..<count - 1).map { _ in "1" }.joined(separator: ",")
    let nested = (0..<count / 2).map { "\"\($0)\":[1]" }.joined(separator: ",")
    for body in ["{\(members)}", "{\"a\":[\(elements)]}", "{\(nested)}"] {
      #expect(((try? form(body)) != nil) == isRead, "\(body.prefix(40))")
    }
  }

  /// What comes behind the limit is not looked at.
  @Test func readingEndsAtTheLimit() {
    let step = #expect(throws: FormError.self) {
      try form("{\"a\":[" + String(repeating: "1,", count: 300) + "!!!")
    }
    #expect(step?.step == "json")
  }
}

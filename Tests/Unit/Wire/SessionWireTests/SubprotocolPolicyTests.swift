/// What is chosen of what a client offers, under what an operator allows.
import PortcullisProtocol
import SessionWire
import Testing

@Suite struct SubprotocolPolicyTests {
  @Test(arguments: [
    ([], SubprotocolChoice.none),
    (["x", "Binary", "PORTCULLIS.V1"], .none),
    (["binary"], .chosen(.binary)),
    (["x", "portcullis.v1", "binary"], .chosen(.portcullis)),
    (["binary", "portcullis.v1"], .chosen(.binary)),
    (["json.mudstandards.org", "gmcp.mudstandards.org"], .chosen(.json)),
  ])
  func all(offers: [String], choice: SubprotocolChoice) {
    #expect(SubprotocolPolicy.all.choose(from: offers) == choice)
  }

  @Test(arguments: [
    (["none"], [], SubprotocolChoice.none),
    (["none"], ["x"], .none),
    // Never raw by surprise: it offered what the gate knows and may not speak.
    (["none"], ["portcullis.v1"], .refused),
    (["none"], ["x", "binary"], .refused),
    (["none", "binary"], ["portcullis.v1", "binary"], .chosen(.binary)),
    (["portcullis.v1"], [], .refused),
    (["portcullis.v1"], ["x"], .refused),
    (["portcullis.v1"], ["binary", "portcullis.v1"], .chosen(.portcullis)),
    (["portcullis.v1"], ["binary"], .refused),
  ])
  func some(words: [String], offers: [String], choice: SubprotocolChoice) throws {
    #expect(try SubprotocolPolicy(words: words).choose(from: offers) == choice)
  }

  @Test func words() throws {
    #expect(try SubprotocolPolicy(words: SubprotocolPolicy.words) == .all)
    #expect(
      try SubprotocolPolicy(words: SubprotocolPolicy.words.reversed()) == .all)
    #expect(throws: SubprotocolPolicyError.empty) { try SubprotocolPolicy(words: []) }
    #expect(throws: SubprotocolPolicyError.unknown("")) { try SubprotocolPolicy(words: [""]) }
    #expect(throws: SubprotocolPolicyError.unknown("None")) { try SubprotocolPolicy(words: ["None"]) }
    #expect(throws: SubprotocolPolicyError.twice("none")) { try SubprotocolPolicy(words: ["none", "none"]) }
    #expect(throws: SubprotocolPolicyError.twice("binary")) {
      try SubprotocolPolicy(words: ["binary", "none", "binary"])
    }
  }

  @Test func dialects() {
    #expect(Subprotocol.allCases.filter { Dialect($0) == nil } == Subprotocol.allCases.filter(\.isRaw))
    #expect(Dialect.allCases.filter(\.isResumable) == [.portcullis])
    #expect(SubprotocolChoice.none.dialect == nil && SubprotocolChoice.refused.dialect == nil)
    #expect(SubprotocolChoice.chosen(.json).dialect == .json)
    #expect(SubprotocolChoice.chosen(.json).name == "json.mudstandards.org")
    #expect(SubprotocolChoice.none.name == nil && SubprotocolChoice.refused.name == nil)
  }
}

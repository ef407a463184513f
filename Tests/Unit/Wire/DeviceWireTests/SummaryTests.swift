/// Summaries: what is written is what is read, and each member out of its form is told.
import Bytes
import Crypto
import DeviceWire
import Testing

@Suite struct SummaryTests {
  private static let text =
    #"{"created_at":5,"lease":{"ttl_s":300,"uses":2},"operation":"promote","policy":{"factors":["device"],"#
    + #""level":"app_attested","quorum":1,"uv":"app"},"requester":{"address":"203.0.113.7","id":"u1","name":"U"},"#
    + #""service":"mud","subject":"frodo","target":{"character":"G","realm":"a"},"text":"Promote G","v":1}"#

  private static func good() throws -> Summary {
    try Summary(
      operation: "promote", target: try Summary.Target([("realm", "a"), ("character", "G")]),
      text: "Promote G",
      requester: Summary.Requester(id: "u1", name: "U", address: "203.0.113.7"), service: "mud",
      subject: "frodo",
      policy: Summary.Policy(level: .appAttested, userVerification: .app, quorum: 1, factors: ["device"]),
      lease: Summary.Lease(seconds: 300, uses: 2), createdAt: try #require(UnixSeconds(5)))
  }

  @Test func writtenAndRead() throws {
    let built = try Self.good()
    #expect(String(decoding: built.bytes, as: UTF8.self) == Self.text)
    let bytes = built.bytes
    let read = try Summary(canonical: bytes.span)
    let digest = SHA256.hash(bytes.span)
    #expect(read == built && read.hash == digest)
    #expect(read.operation == "promote" && read.target["realm"] == "a" && read.target["x"] == nil)
    #expect(read.target.members.map(\.name) == ["character", "realm"])
    #expect(
      read.requester.id == "u1" && read.requester.name == "U" && read.requester.address == "203.0.113.7")
    #expect(read.service == "mud" && read.subject == "frodo" && read.text == "Promote G")
    #expect(read.policy.level == .appAttested && read.policy.userVerification == .app)
    #expect(read.policy.quorum == 1 && read.policy.factors == ["device"])
    #expect(read.lease == Summary.Lease(seconds: 300, uses: 2) && read.createdAt.value == 5)
  }

  @Test func optionalMembersMayBeAbsent() throws {
    let short =
      #"{"created_at":0,"operation":"o","policy":{"factors":["device","x"],"level":"bare","quorum":2,"uv":"none"},"#
      + #""requester":{"id":"r"},"service":"s","target":{},"text":"","v":1}"#
    let bytes = Array(short.utf8)
    let summary = try Summary(canonical: bytes.span)
    #expect(summary.subject == nil && summary.lease == nil && summary.requester.name == nil)
    let spaced = Array(short.replacing(",", with: " , ").utf8)
    let respelled = try Summary(parsing: spaced.span)
    #expect(respelled == summary)
    #expect(throws: CanonicalJSONError.canonical) { try Summary(canonical: spaced.span) }
  }

  /// Each replaces a part of the good text.
  static let broken: [(String, String)] = [
    (#""v":1"#, #""v":2"#), (#""v":1"#, #""v":"1""#), (#""v":1"#, #""v":true"#), (#","v":1"#, ""),
    (#""v":1"#, #""v":1,"x":1"#), (#""operation":"promote""#, #""operation":"""#),
    (#""operation":"promote","#, ""), (#""service":"mud""#, #""service":["mud"]"#),
    (#""subject":"frodo""#, #""subject":"""#),
    (#""subject":"frodo""#, #""subject":7"#), (#""id":"u1""#, #""id":"""#), (#""id":"u1","#, ""),
    (#""name":"U""#, #""name":1"#), (#""address":"203"#, #""port":"203"#),
    (#""text":"Promote G""#, #""text":{}"#),
    (#""realm":"a""#, #""realm":1"#), (#""realm":"a""#, #""realm":{"b":"c"}"#),
    (#""realm":"a""#, #""realm":["a"]"#),
    (#""factors":["device"]"#, #""factors":[]"#), (#""factors":["device"]"#, #""factors":[""]"#),
    (#""factors":["device"]"#, #""factors":["a","b","a"]"#),
    (#""factors":["device"]"#, #""factors":"device""#),
    (#""level":"app_attested""#, #""level":"App_attested""#), (#""level":"app_attested""#, #""level":"""#),
    (#""quorum":1"#, #""quorum":0"#), (#""uv":"app""#, #""uv":"touch""#), (#""ttl_s":300"#, #""ttl_s":0"#),
    (#""uses":2"#, #""uses":-1"#), (#","uses":2"#, ""), (#""lease":{"#, #""lease":{"a":1,"#),
    (#""created_at":5"#, #""created_at":-1"#), (#""created_at":5"#, #""created_at":"5""#),
    (#""lease":{"ttl_s":300,"uses":2}"#, #""lease":1"#),
  ]

  @Test(arguments: broken) func membersHaveTheirForms(part: String, other: String) {
    let text = Self.text.replacing(part, with: other)
    #expect(text != Self.text)
    let bytes = Array(text.utf8)
    #expect(throws: CanonicalJSONError.members) { try Summary(parsing: bytes.span) }
  }

  @Test func namesHave128Bytes() throws {
    for member in ["operation", "service", "subject", "id"] {
      for (count, isGood) in [(128, true), (129, false)] {
        let name = String(repeating: "n", count: count)
        let text = Self.withName(name, of: member)
        let bytes = Array(text.utf8)
        let isTaken = (try? Summary(canonical: bytes.span)) != nil
        #expect(isTaken == isGood, "\(member) \(count)")
      }
    }
  }

  private static func withName(_ name: String, of member: String) -> String {
    let old = ["operation": "promote", "service": "mud", "subject": "frodo", "id": "u1"][member, default: ""]
    return text.replacing("\"\(member)\":\"\(old)\"", with: "\"\(member)\":\"\(name)\"")
  }

  @Test func builtOnesKeepTheRules() throws {
    func make(
      operation: String = "o", text: String = "", quorum: Int64 = 1, factors: [String] = ["device"],
      target: [(String, String)] = []
    ) throws -> Summary {
      try Summary(
        operation: operation, target: try Summary.Target(target.map { (name: $0.0, value: $0.1) }),
        text: text,
        requester: Summary.Requester(id: "r"), service: "s", subject: nil,
        policy: Summary.Policy(level: .bare, userVerification: .none, quorum: quorum, factors: factors),
        lease: nil,
        createdAt: try #require(UnixSeconds(0)))
    }
    #expect(throws: Never.self) { try make() }
    #expect(throws: CanonicalJSONError.members) { try make(operation: "") }
    #expect(throws: CanonicalJSONError.members) { try make(quorum: 0) }
    #expect(throws: CanonicalJSONError.members) { try make(factors: []) }
    #expect(throws: CanonicalJSONError.number) { try make(quorum: 1 << 53) }
    #expect(throws: CanonicalJSONError.character) { try make(text: "a\u{202E}b") }
    #expect(throws: CanonicalJSONError.character) { try make(target: [("a\n", "b")]) }
    #expect(throws: CanonicalJSONError.duplicate) { try make(target: [("a", "b"), ("a", "c")]) }
    #expect(throws: CanonicalJSONError.size) { try make(text: String(repeating: "x", count: 8100)) }
    // Alike is not the same.
    #expect(throws: Never.self) { try make(target: [("\u{EB}", "b"), ("e\u{308}", "c")]) }
  }
}

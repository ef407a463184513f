/// Canonical JSON: RFC 8785's order and escapes, and each rule of what is read, at its limit and beyond it.
import Bytes
import DeviceWire
import Testing

@Suite struct CanonicalJSONTests {
  static let canonical: [(String, String)] = [
    ("{}", "{}"),
    (" { } \r\n", "{}"),
    (#"{"b":1,"a":2}"#, #"{"a":2,"b":1}"#),
    (#"{"b":{"d":true,"c":false},"a":["z","a"]}"#, #"{"a":["z","a"],"b":{"c":false,"d":true}}"#),
    (#"{"\u20ac":"Euro","!":1}"#, "{\"!\":1,\"\u{20AC}\":\"Euro\"}"),
    // By code units a letter beyond U+FFFF comes before U+FB33; by code points, behind it.
    ("{\"\u{FB33}\":1,\"\u{1F600}\":2}", "{\"\u{1F600}\":2,\"\u{FB33}\":1}"),
    (#"{"a":"\/\u0041\"\\\u00e9"}"#, "{\"a\":\"/A\\\"\\\\\u{E9}\"}"),
    (#"{"\ud83d\ude00":"\ud83d\ude00"}"#, "{\"\u{1F600}\":\"\u{1F600}\"}"),
    (#"{"":"","a":[]}"#, #"{"":"","a":[]}"#),
    (
      #"{"a":-9007199254740991,"b":9007199254740991,"c":0}"#,
      #"{"a":-9007199254740991,"b":9007199254740991,"c":0}"#
    ),
    // Two names that look alike are two.
    ("{\"\u{EB}\":1,\"e\u{308}\":2}", "{\"e\u{308}\":2,\"\u{EB}\":1}"),
  ]

  @Test(arguments: canonical) func everySpellingHasOneForm(input: String, output: String) throws {
    let input = Array(input.utf8)
    let object = try CanonicalObject(parsing: input.span)
    #expect(object.bytes == Array(output.utf8))
    let again = object.bytes
    let reread = try CanonicalObject(canonical: again.span)
    #expect(reread == object)
    guard input != again else { return }
    #expect(throws: CanonicalJSONError.canonical) { try CanonicalObject(canonical: input.span) }
  }

  static let refused: [(String, CanonicalJSONError)] = [
    ("", .syntax), ("nul", .syntax), ("{", .syntax), ("{}x", .syntax), ("\u{FEFF}{}", .syntax),
    (#"{"a":01}"#, .syntax),
    (#"{"a":+1}"#, .syntax), (#"{"a":"\x"}"#, .syntax), ("{\"a\":\"\n\"}", .syntax), (#"{"a":1,}"#, .syntax),
    (#"{"a":tru}"#, .syntax), ("{'a':1}", .syntax), (#"{"a":["b" 1]}"#, .syntax),
    (#"{"a":1.0}"#, .number), (#"{"a":1e2}"#, .number), (#"{"a":-0}"#, .number),
    (#"{"a":9007199254740992}"#, .number), (#"{"a":-9007199254740992}"#, .number),
    (#"{"a":18446744073709551616}"#, .number),
    (#"{"a":null}"#, .type), (#"{"a":[1]}"#, .type), (#"{"a":[["b"]]}"#, .type), (#"{"a":["b",{}]}"#, .type),
    (#"{"a":1,"a":1}"#, .duplicate), (#"{"a":1,"\u0061":2}"#, .duplicate),
    (#"{"b":{"":1,"":2}}"#, .duplicate),
    (#"{"a":"\ud800"}"#, .surrogate), (#"{"a":"\udc00\ud800"}"#, .surrogate), (#"{"\ud800x":1}"#, .surrogate),
    ("[]", .top), (#""a""#, .top), ("1", .top), ("true", .top),
    (#"{"a":"\u0000"}"#, .character), (#"{"a":"\u202e"}"#, .character), (#"{"a\u200b":1}"#, .character),
    (#"{"a":["b","\u2066"]}"#, .character), (#"{"a":{"b":"\udb40\udc01"}}"#, .character),
    // What is found on the way comes before what is looked for at the end.
    (#"{"a":"\u0000","b":null}"#, .type), (#"["\u0000"]"#, .top),
  ]

  @Test(arguments: refused) func rulesAreTold(input: String, error: CanonicalJSONError) {
    let input = Array(input.utf8)
    #expect(throws: error) { try CanonicalObject(parsing: input.span) }
  }

  @Test func eightLevelsAreTheMost() throws {
    func nested(_ levels: Int, _ inner: String) -> [UInt8] {
      Array(
        (String(repeating: #"{"a":"#, count: levels) + inner + String(repeating: "}", count: levels)).utf8)
    }
    for good in [nested(8, "1"), nested(7, #"["b"]"#)] {
      #expect(throws: Never.self) { try CanonicalObject(parsing: good.span) }
    }
    for bad in [nested(9, "1"), nested(8, "[]")] {
      #expect(throws: CanonicalJSONError.depth) { try CanonicalObject(parsing: bad.span) }
    }
    var built = try CanonicalObject([])
    for _ in 1..<8 { built = try CanonicalObject([.init("a", .object(built))]) }
    let deepest = built
    #expect(throws: CanonicalJSONError.depth) { try CanonicalObject([.init("a", .object(deepest))]) }
  }

  @Test func bytesAreCounted() {
    func text(_ count: Int) -> [UInt8] {
      Array(#"{"a":""#.utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: count - 8) + Array(#""}"#.utf8)
    }
    let most = text(CanonicalObject.sizeLimit)
    #expect(throws: Never.self) { try CanonicalObject(canonical: most.span) }
    for bad in [text(CanonicalObject.sizeLimit + 1), Array("{}".utf8) + repeated(0x20, 8191)] {
      #expect(throws: CanonicalJSONError.size) { try CanonicalObject(parsing: bad.span) }
    }
  }

  @Test(
    arguments: [
      [0x7B, 0x80], [0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x7B, 0xC3],
    ] as [[UInt8]])
  func onlyUTF8IsRead(input: [UInt8]) {
    #expect(throws: CanonicalJSONError.utf8) { try CanonicalObject(parsing: input.span) }
  }

  @Test func builtOnesKeepTheRules() throws {
    #expect(throws: CanonicalJSONError.duplicate) {
      try CanonicalObject([.init("a", .integer(1)), .init("b", .integer(1)), .init("a", .integer(2))])
    }
    #expect(throws: CanonicalJSONError.number) { try CanonicalObject([.init("a", .integer(1 << 53))]) }
    #expect(throws: CanonicalJSONError.character) { try CanonicalObject([.init("\u{7}", .integer(1))]) }
    #expect(throws: CanonicalJSONError.character) { try CanonicalObject([.init("a", .strings(["\u{7F}"]))]) }
    let object = try CanonicalObject([.init("b", .strings(["x"])), .init("a", .boolean(true))])
    #expect(object.bytes == Array(#"{"a":true,"b":["x"]}"#.utf8))
    #expect(object["a"]?.boolean == true && object["b"]?.strings == ["x"] && object["c"] == nil)
  }
}

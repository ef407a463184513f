import ApprovalPolicy
import Testing

@Suite struct ReadingTests {
  @Test(arguments: [
    #"{}"#, #"{"rules":[]}"#, #"{"DEFAULT":{}}"#, #"{"rules":[{"match":{}}]}"#,
    #"{"rules":[{"match":{"operation":"a","target":{"b":"c"}},"approvers":["a"],"factors":["operator","device"],"level":"bare","uv":"none","quorum":20,"distinct_subjects":true,"bar_requester":false,"match_digits":6,"presence":true,"ttl_s":300,"lease":{"ttl_s":3600,"uses":100}}]}"#,
    #"{"rules":[{"match":{},"match_digits":0}]}"#, #"{"rules":[{"match":{},"match_digits":2,"ttl_s":1}]}"#,
  ])
  func good(_ text: String) throws {
    _ = try policy(text)
  }

  /// Place, member, value, reason and remedy, each in a sentence.
  @Test(arguments: [
    (#"[]"#, "the file is no JSON object: write an object in braces"),
    (
      "{\n \"rules\":[}",
      "line 2, byte 11: a byte that cannot stand here: write one JSON object (RFC 8259)"
    ),
    (
      #"{"rule":[]}"#, "rule [] is no member that is known here: leave it out, or write one of rules, DEFAULT"
    ),
    (#"{"rules":{}}"#, "rules is no list: write a list of at most 1000 objects"),
    (#"{"rules":[3]}"#, "rule 1: 3 is no object: write an object in braces"),
    (#"{"DEFAULT":null}"#, "DEFAULT: null is no object: write an object in braces"),
    (
      #"{"DEFAULT":{"match":{}}}"#,
      "DEFAULT: match {} is no member that is known here: leave it out, or write one of approvers, factors, level, "
        + "uv, quorum, distinct_subjects, bar_requester, match_digits, presence, ttl_s, lease"
    ),
    (
      #"{"rules":[{}]}"#,
      #"rule 1: match is missing: write "match":{"operation":"…","target":{"name":"…"}}, with * for any run of characters"#
    ),
    (
      #"{"rules":[{"match":{"target":{"a":1}}}]}"#,
      "rule 1: match.target.a 1 is no text of fitting length: write a string of 0 to 256 bytes"
    ),
    (
      #"{"rules":[{"match":{"operation":""}}]}"#,
      #"rule 1: match.operation "" is no text of fitting length: write a string of 1 to 256 bytes"#
    ),
    (
      #"{"rules":[{"match":{"service":"a"}}]}"#,
      "rule 1: match.service a is no member that is known here: leave it out, or write one of operation, target"
    ),
    (#"{"DEFAULT":{"ttl_s":301}}"#, "DEFAULT: ttl_s 301 is out of range: write a whole number from 1 to 300"),
    (#"{"DEFAULT":{"ttl_s":1.0}}"#, "DEFAULT: ttl_s 1.0 is out of range: write a whole number from 1 to 300"),
    (#"{"DEFAULT":{"quorum":0}}"#, "DEFAULT: quorum 0 is out of range: write a whole number from 1 to 20"),
    (
      #"{"DEFAULT":{"match_digits":1}}"#,
      "DEFAULT: match_digits 1 is out of range: write 0 or a whole number from 2 to 6"
    ),
    (
      #"{"DEFAULT":{"match_digits":7}}"#,
      "DEFAULT: match_digits 7 is out of range: write 0 or a whole number from 2 to 6"
    ),
    (
      #"{"DEFAULT":{"lease":{"ttl_s":3601,"uses":1}}}"#,
      "DEFAULT: lease.ttl_s 3601 is out of range: write a whole number from 1 to 3600"
    ),
    (
      #"{"DEFAULT":{"lease":{"ttl_s":1,"uses":101}}}"#,
      "DEFAULT: lease.uses 101 is out of range: write a whole number from 1 to 100"
    ),
    (
      #"{"DEFAULT":{"lease":{"ttl_s":1}}}"#,
      "DEFAULT: lease.uses is missing: write a whole number from 1 to 100"
    ),
    (
      #"{"DEFAULT":{"level":"high"}}"#,
      #"DEFAULT: level high is none of the choices: write "bare", "app_attested", "hardware_attested""#
    ),
    (
      #"{"DEFAULT":{"uv":null}}"#,
      #"DEFAULT: uv null is none of the choices: write "none", "app", "hardware""#
    ),
    (
      #"{"DEFAULT":{"presence":1}}"#,
      "DEFAULT: presence 1 is neither true nor false: write true or false"
    ),
    (
      #"{"DEFAULT":{"factors":["device","device"]}}"#,
      #"DEFAULT: factors "[\"device\",\"device\"]" has a word that is unknown or comes twice: write ["device"], ["operator"] or both"#
    ),
    (
      #"{"DEFAULT":{"factors":[]}}"#,
      "DEFAULT: factors [] is no list, or an empty one: write a list of 1 to 2 strings"
    ),
    (
      #"{"DEFAULT":{"approvers":[]}}"#,
      "DEFAULT: approvers [] is no list, or an empty one: write a list of 1 to 1000 strings"
    ),
    (
      #"{"DEFAULT":{"factors":["operator"],"quorum":2}}"#,
      #"DEFAULT: quorum 2 counts devices, and factors names none: add "device" to factors, or leave quorum out"#
    ),
    (
      "{\"DEFAULT\":{\"a\\u202e\\n\":\"\\u001b[2J\"}}",
      #"DEFAULT: "a\u202e\n" "\\u001b[2J" is no member that is known here: leave it out, or write one of approvers, factors, level, uv, quorum, distinct_subjects, bar_requester, match_digits, presence, ttl_s, lease"#
    ),
  ])
  func bad(_ text: String, _ problem: String) {
    #expect(problems(text) == [problem])
  }

  @Test func aMemberTwiceIsRefused() {
    #expect(problems(#"{"DEFAULT":{"quorum":2,"quorum":1}}"#).count == 1)
    #expect(problems(#"{"DEFAULT":{"quorum":2,"\u0071uorum":1}}"#).count == 1)
  }

  @Test func allIsToldAtOnce() {
    let found = problems(
      #"{"rules":[{"match":{},"quorum":0,"leval":1},{"ttl_s":0,"match":{"operation":7}}],"default":{}}"#)
    #expect(found.count == 5)
    #expect(found.count { $0.hasPrefix("rule 1: ") } == 2 && found.count { $0.hasPrefix("rule 2: ") } == 2)
  }

  @Test func listsHaveLimits() {
    let target = (0...64).map { #""m\#($0)":"*""# }.joined(separator: ",")
    #expect(problems(#"{"rules":[{"match":{"target":{\#(target)}}}]}"#).count == 1)
    let rules = Array(repeating: #"{"match":{}}"#, count: 1001).joined(separator: ",")
    #expect(
      problems(#"{"rules":[\#(rules)]}"#) == ["rules is too long: write a list of at most 1000 objects"])
  }
}

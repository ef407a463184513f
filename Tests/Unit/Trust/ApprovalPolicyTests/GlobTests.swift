import ApprovalPolicy
import Kit
import Testing

@Suite struct GlobTests {
  @Test(arguments: [
    ("", "", true), ("", "a", false), ("a", "a", true), ("a", "A", false), ("a", "ab", false),
    ("*", "", true), ("*", "anything", true), ("**", "", true), ("a*", "a", true), ("a*", "ba", false),
    ("*a", "ba", true), ("a*a", "a", false), ("a*a", "aa", true), ("a*b*c", "abc", true),
    ("a*b*c", "acb", false), ("a*bc*bc", "abc", false), ("a*bc*bc", "abcbc", true), ("*ab*ab*", "aab", false),
    ("mud.admin.*", "mud.admin.promote", true), ("mud.admin.*", "mud.administrator", false),
    // Bytes: `?` and `[` are themselves, and the two spellings of é are two texts.
    ("a?", "ab", false), ("[a]", "[a]", true), ("\u{E9}", "e\u{301}", false), ("*\u{301}", "e\u{301}", true),
  ])
  func matches(_ pattern: String, _ text: String, _ isMatch: Bool) {
    #expect(Glob(pattern).matches(Array(text.utf8)) == isMatch)
    #expect(Glob(pattern).text == Array(pattern.utf8))
  }

  /// Against a matcher that tries every length of every run.
  @Test func agreesWithAnObviousOne() {
    var random = SplitMix(seed: 5)
    var matches = 0
    for _ in 0..<20_000 {
      let pattern = text(of: "ab*", using: &random)
      let candidate = text(of: "ab", using: &random)
      let expected = obvious(pattern[...], candidate[...])
      if expected { matches += 1 }
      #expect(
        Glob(pattern).matches(candidate) == expected,
        "\(String(decoding: pattern, as: UTF8.self)), \(String(decoding: candidate, as: UTF8.self))")
    }
    #expect(matches > 1000)
  }

  private func text(of letters: String, using random: inout SplitMix) -> [UInt8] {
    (0..<Int.random(in: 0...7, using: &random)).map { _ in letters.utf8.randomElement(using: &random) ?? 0 }
  }

  private func obvious(_ pattern: ArraySlice<UInt8>, _ text: ArraySlice<UInt8>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    if first == UInt8(ascii: "*") {
      return (text.startIndex...text.endIndex).contains { obvious(pattern.dropFirst(), text[$0...]) }
    }
    return text.first == first && obvious(pattern.dropFirst(), text.dropFirst())
  }
}

import Testing

@testable import Console

@Suite struct HTMLTests {
  @Test(arguments: [
    ("<script>", "&lt;script&gt;"), ("a\"b'c&d", "a&quot;b&#39;c&amp;d"),
    ("\u{202E}evil\u{2066}", "\u{FFFD}evil\u{FFFD}"),
    ("a\u{0}b\u{1B}", "a\u{FFFD}b\u{FFFD}"), ("ä→漢", "ä→漢"), ("a\nb", "a\nb"),
  ])
  func text(text: String, expected: String) {
    var html = HTML()
    html.text(text)
    #expect(String(decoding: html.bytes, as: UTF8.self) == expected)
  }
}

/// Text and addresses on their way into a page: what cannot get in as anything else.
import Testing

@testable import Console

@Suite struct HTMLTests {
  @Test(arguments: [
    ("<script>", "&lt;script&gt;"), ("a\"b'c&d", "a&quot;b&#39;c&amp;d"),
    ("\u{202E}evil\u{2066}", "\u{FFFD}evil\u{FFFD}"),
    ("a\u{0}b\u{1B}", "a\u{FFFD}b\u{FFFD}"), ("ä→漢", "ä→漢"), ("a\nb", "a\nb"),
    ("\u{FFFE}\u{1FFFF}\u{FEFF}\u{2028}\u{E000}", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
    ("e\u{301}", "e\u{301}"), ("a\r\nb", "a\u{FFFD}\nb"),
  ])
  func text(text: String, expected: String) {
    var html = HTML()
    html.text(text)
    #expect(String(decoding: html.bytes, as: UTF8.self) == expected)
  }

  @Test func elements() {
    var html = HTML()
    html.element(.p, .id(Anchor("row", 3)), nil, .text(.title, "\"><b>")) { html in
      html.element(.input, .fixed(.type, "text"), .text(.value, "a'b"))
      html.element(.a, .href(.key("ab+/=")), text: "<&>")
      html.element(.td)
    }
    #expect(
      String(decoding: html.bytes, as: UTF8.self)
        == "<p id=\"row-3\" title=\"&quot;&gt;&lt;b&gt;\"><input type=\"text\" value=\"a&#39;b\"/>"
        + "<a href=\"/keys/ab-_\">&lt;&amp;&gt;</a><td></td></p>")
  }

  /// Whatever a peer calls itself, an address stays a segment or a field of the console's own.
  @Test(arguments: [
    ("javascript:alert(1)", "javascript%3Aalert%281%29"), ("//evil.example", "%2F%2Fevil.example"),
    ("..", "-"), (".", "-"), ("a/../b?c#d", "a%2F..%2Fb%3Fc%23d"), ("ä", "%C3%A4"),
    ("a b+&=", "a%20b%2B%26%3D"),
  ])
  func addresses(text: String, expected: String) {
    #expect(ConsolePath.devices.appending(text).text == "/devices/\(expected)")
    #expect(
      ConsolePath.keys.asking("text", text).asking("state", "active").text
        == "/keys?text=\(expected)&state=active")
    #expect(ConsolePath.keys.asking("text", optional: "").asking("app", optional: nil) == .keys)
  }
}

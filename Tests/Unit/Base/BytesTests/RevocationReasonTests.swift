import Bytes
import Testing

/// Why a key was revoked, in an operator's words (docs/key-store.md, "Snapshot").
@Suite struct RevocationReasonTests {
  @Test(arguments: [
    ("stolen", "stolen"), ("  lost on the train ", "lost on the train"), ("<b>&\"'", "<b>&\"'"),
    ("gestohlen – Ägypten 東京", "gestohlen – Ägypten 東京"), ("e\u{301}", "e\u{301}"),
  ])
  func isKeptAsItStands(text: String, kept: String) {
    #expect(RevocationReason(text)?.text.unicodeScalars.elementsEqual(kept.unicodeScalars) == true)
  }

  @Test(arguments: [
    "", "   ", "a\nb", "a\u{1B}[2J", "a\tb", "a\u{7F}", "a\u{85}b", "a\u{202E}b", "\u{2066}a", "a\u{200B}b",
    "\u{FEFF}a",
    "a\u{2028}b", "\u{E000}", "\u{10FFFF}", "\u{E0041}",
  ])
  func isRefused(text: String) {
    #expect(RevocationReason(text) == nil)
  }

  @Test(arguments: ["a", "ä", "\u{1F5DD}"]) func hasAtMost256Characters(letter: String) {
    func reason(_ count: Int) -> String { String(repeating: letter, count: count) }
    #expect(RevocationReason(reason(255)) != nil)
    #expect(RevocationReason(reason(256)) != nil)
    #expect(RevocationReason(" " + reason(256) + "  ") != nil)
    #expect(RevocationReason(reason(257)) == nil)
    #expect(RevocationReason("a" + String(repeating: "\u{301}", count: 256)) == nil)
  }
}

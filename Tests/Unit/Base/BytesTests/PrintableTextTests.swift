import Foundation
import Testing

@testable import Bytes

/// docs/logs.md, "Logs": what is quoted, what is escaped, where a value is cut.
@Suite struct PrintableTextTests {
  @Test(arguments: [
    ("plain", "plain"), ("", "\"\""), ("a b", "\"a b\""), ("a=b", "\"a=b\""), ("a\"b", "\"a\\\"b\""),
    ("a\\b", "\"a\\\\b\""), ("a\nb", "\"a\\nb\""), ("a\r\tb", "\"a\\r\\tb\""), ("\u{0}", "\"\\u0000\""),
    ("\u{1F}", "\"\\u001f\""), ("\u{1B}[2J", "\"\\u001b[2J\""), ("\u{7F}", "\"\\u007f\""),
    ("\u{80}", "\"\\u0080\""),
    ("\u{9F}", "\"\\u009f\""), ("\u{A0}", "\u{A0}"), ("\u{202A}", "\"\\u202a\""),
    ("\u{202E}x", "\"\\u202ex\""),
    ("\u{202F}", "\u{202F}"), ("\u{2066}", "\"\\u2066\""), ("\u{2069}", "\"\\u2069\""),
    ("\u{206A}", "\u{206A}"),
    ("\u{200E}", "\"\\u200e\""), ("\u{200F}", "\"\\u200f\""), ("\u{061C}", "\"\\u061c\""),
    ("\u{2028}", "\"\\u2028\""), ("\u{2029}", "\"\\u2029\""),
    ("Zo\u{EB}'s \u{1F409}", "\"Zo\u{EB}'s \u{1F409}\""),
    ("\u{1F409}", "\u{1F409}"), ("~!@#$%^&*()[]{}<>,;:/?'", "~!@#$%^&*()[]{}<>,;:/?'"),
  ])
  func fields(text: String, field: String) throws {
    #expect(PrintableText.field(text) == field)
    let json = PrintableText.json(text)
    #expect(try JSONDecoder().decode([String].self, from: Data("[\(json)]".utf8)) == [text])
    for scalar in json.unicodeScalars {
      #expect(scalar.value >= 0x20 && !(0x7F...0x9F).contains(scalar.value) && scalar.value != 0x202E)
    }
  }

  /// Overlong forms, surrogates, too large, cut short, lone continuation (RFC 3629 §3 and §4).
  @Test(
    arguments: [
      ([0xFF], "\"\\xff\"", "\"\\ufffd\""), ([0x61, 0x80, 0x62], "\"a\\x80b\"", "\"a\\ufffdb\""),
      ([0xC0, 0x80], "\"\\xc0\\x80\"", "\"\\ufffd\\ufffd\""),
      ([0xC1, 0xBF], "\"\\xc1\\xbf\"", "\"\\ufffd\\ufffd\""),
      ([0xE0, 0x80, 0x80], "\"\\xe0\\x80\\x80\"", "\"\\ufffd\\ufffd\\ufffd\""),
      ([0xED, 0xA0, 0x80], "\"\\xed\\xa0\\x80\"", "\"\\ufffd\\ufffd\\ufffd\""),
      ([0xF4, 0x90, 0x80, 0x80], "\"\\xf4\\x90\\x80\\x80\"", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""),
      ([0xF0, 0x80, 0x80, 0x80], "\"\\xf0\\x80\\x80\\x80\"", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""),
      ([0xE2, 0x82], "\"\\xe2\\x82\"", "\"\\ufffd\\ufffd\""),
      ([0xE2, 0x82, 0x41], "\"\\xe2\\x82A\"", "\"\\ufffd\\ufffdA\""),
    ] as [([UInt8], String, String)])
  func invalidUTF8(bytes: [UInt8], field: String, json: String) {
    let written = PrintableText.field(bytes.span)
    #expect(written == field)
    var line: [UInt8] = []
    PrintableText.appendJSON(bytes.span, to: &line)
    #expect(String(decoding: line, as: UTF8.self) == json)
  }

  @Test(arguments: [
    ("abcd", 5, "abcd"), ("abcd", 4, "abcd"), ("abcd", 3, "abc\u{2026}"), ("abcd", 0, "\"\u{2026}\""),
    ("ab\u{E9}", 4, "ab\u{E9}"), ("ab\u{E9}", 3, "ab\u{2026}"), ("a\u{1F409}b", 5, "a\u{1F409}\u{2026}"),
    ("a\u{1F409}b", 4, "a\u{2026}"), ("a\u{1F409}b", 2, "a\u{2026}"), ("a b c", 3, "\"a b\u{2026}\""),
    ("a b", 1, "a\u{2026}"),
  ])
  func cut(text: String, limit: Int, field: String) {
    #expect(PrintableText.field(text, limit: limit) == field)
  }

  @Test func garbageIsCutAtTheLimit() {
    let bytes = [UInt8](repeating: 0x80, count: 10)
    let kept = PrintableText.keptCount(of: bytes.span, limit: 6)
    #expect(kept == 6)
  }

  /// Against the standard library's own decoder, for every lead byte with awkward followers.
  @Test func agreesWithTheStandardLibraryOnWhatIsValid() {
    for lead in UInt8(0x80)...0xFF {
      for second in [0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xFF] as [UInt8] {
        for tail in [[], [0x80], [0xBF], [0x80, 0x80], [0xBF, 0xBF], [0x41]] as [[UInt8]] {
          let bytes = [lead, second] + tail
          let field = PrintableText.field(bytes.span)
          let isValid = String(validating: bytes, as: UTF8.self) != nil
          #expect(field.contains("\\x") == !isValid, "\(bytes)")
        }
      }
    }
  }
}

import Testing

@testable import JSON

/// RFC 8259 §7: what must be escaped is, and reading gives back what was written.
@Suite struct JSONWriterTests {
  @Test(arguments: [
    ("", #""""#), ("a/b", #""a/b""#), ("\"\\", #""\"\\""#), ("\u{8}\u{9}\u{A}\u{C}\u{D}", #""\b\t\n\f\r""#),
    ("\0\u{1F}\u{7F}", "\"\\u0000\\u001f\u{7F}\""), ("é€😀", "\"é€😀\""),
  ])
  func strings(plain: String, quoted: String) throws {
    var writer = JSONWriter()
    writer.value(plain)
    #expect(writer.string == quoted)
    let bytes = writer.bytes
    #expect(try JSONValue(parsing: bytes.span, depthLimit: 1).string == plain)
  }

  @Test func commas() throws {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("empty")
    writer.beginArray()
    writer.endArray()
    writer.name("list")
    writer.beginArray()
    writer.value(1)
    writer.value(UInt64.max)
    writer.value(true)
    writer.null()
    writer.beginObject()
    writer.endObject()
    writer.endArray()
    writer.name("raw")
    writer.raw(Array("{\"x\":1}".utf8))
    writer.endObject()
    let text = #"{"empty":[],"list":[1,18446744073709551615,true,null,{}],"raw":{"x":1}}"#
    #expect(writer.string == text)

    var again = JSONWriter()
    again.value(try JSONValue(parsing: Array(text.utf8).span, depthLimit: 3))
    #expect(again.string == text)
  }
}

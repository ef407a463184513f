/// The JSON of a session's messages: what is taken, what is refused, and that nothing breaks it.
import Testing

import PortcullisTesting

@testable import PortcullisClient

@Suite struct JSONTextTests {
  private func object(_ text: String) -> JSONText? { JSONText(object: Array(text.utf8)) }

  @Test func membersAreRead() throws {
    let json = try #require(
      object(
        ##" { "a" : "x\"\\\/\b\f\n\r\té\ud83d\ude00\ud83d" , "b":-12,"c":true,"d":[1.5e+3,{}],"a\u0062":null,"##
          + #""c":false}"#))
    #expect(json.string("a") == "x\"\\/\u{8}\u{C}\n\r\té😀\u{FFFD}")
    #expect(json.integer("b") == -12 && json.boolean("c") == false)
    #expect(json.raw("d") == Array("[1.5e+3,{}]".utf8) && json.raw("ab") == Array("null".utf8))
    #expect(json.raw("e") == nil && json.string("b") == nil && json.integer("a") == nil)
  }

  @Test(arguments: [
    "", "{", "}", "[]", "1", "{}x", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, #"{"a":01}"#, #"{"a":1.}"#,
    #"{"a":.5}"#,
    #"{"a":+1}"#, #"{"a":1e}"#, #"{"a":tru}"#, #"{"a":"x}"#, #"{"a":"x\"}"#, "{\"a\":\"\n\"}", #"{a:1}"#,
    #"{"a":[1,]}"#, #"{"a":[1 2]}"#, #"{"a":1 "b":2}"#, #"{"\x":1}"#,
  ]) func whatIsNoObject(text: String) {
    #expect(object(text) == nil)
  }

  @Test func depthIsBounded() {
    func nested(_ depth: Int) -> String {
      #"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
    }
    #expect(object(nested(64)) != nil && object(nested(65)) == nil && object(nested(100_000)) == nil)
  }

  @Test(arguments: [#""\u12"#, #""\u+123""#, #""\q""#]) func escapesThatAreNone(text: String) {
    #expect(object(#"{"a":\#(text)}"#)?.string("a") == nil)
  }

  @Test func quotesAreClosed() {
    let text = "\"\\\u{0}\u{1F}\u{7F}é\n"
    let quoted = JSONText.quoted(text)
    #expect(String(decoding: quoted, as: UTF8.self) == #""\"\\\u0000\u001f\u007fé\u000a""#)
    #expect(JSONText(object: Array(#"{"a":"#.utf8) + quoted + [0x7D])?.string("a") == text)
  }

  /// Cut short and with each byte changed, a greeting is read or refused, and nothing else happens.
  @Test func damagedMessages() {
    let whole = Array(Played.greeting(more: #","x":["\ud83d",{"y":-0.5e-7}]"#).utf8)
    for end in whole.indices {
      #expect(GateText(Array(whole[..<end])).content == .unknown)
      for byte: UInt8 in [0, 0x22, 0x5C, 0x7B, 0x5D, 0x30, 0xFF] {
        var damaged = whole
        damaged[end] = byte
        _ = GateText(damaged)
      }
    }
  }
}

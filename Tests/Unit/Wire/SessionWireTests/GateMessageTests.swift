/// The messages of the gate, letter for letter: apps have them from docs/sessions.md.
import JSON
import PortcullisProtocol
import SessionWire
import Testing

@Suite struct GateMessageTests {
  private func written(_ write: (inout [UInt8]) -> Void) -> String {
    var bytes: [UInt8] = []
    write(&bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private var session: GateMessage.Session {
    GateMessage.Session(
      id: "AAAAAAAAAAAAAAAAAAAAAA", next: String(repeating: "0a", count: 32), resumed: false, received: 0,
      resumeFor: 600, maxMessage: 65_536,
      kept: true,
      echo: false, gmcp: false, msdp: false)
  }

  @Test func sessions() {
    #expect(
      written { GateMessage.session(session, to: &$0) } == #"{"type":"session","id":"AAAAAAAAAAAAAAAAAAAAAA""#
        + #","next":"\#(String(repeating: "0a", count: 32))""#
        + #","resumed":false,"received":0,"resumeFor":600,"maxMessage":65536,"kept":true"#
        + #","echo":false,"gmcp":false,"msdp":false}"#)
    var refused = session
    refused.reason = .unknown
    #expect(
      written { GateMessage.session(refused, to: &$0) }.contains(#","resumed":false,"reason":"unknown","rec"#)
    )
    var resumed = session
    resumed.resumed = true
    resumed.received = 17
    resumed.doubt = 2
    resumed.echo = true
    let text = written { GateMessage.session(resumed, to: &$0) }
    #expect(text.contains(#","resumed":true,"received":17,"#) && text.contains(#","doubt":2,"echo":true,"#))
  }

  @Test func others() {
    let data = Array(#"{"hp":1}"#.utf8)
    let name = Array("Char.Vitals".utf8)
    #expect(written { GateMessage.prompt(to: &$0) } == #"{"type":"prompt"}"#)
    #expect(written { GateMessage.echo(true, to: &$0) } == #"{"type":"echo","on":true}"#)
    #expect(
      written { GateMessage.echo(false, again: true, to: &$0) } == #"{"type":"echo","on":false,"again":true}"#
    )
    #expect(
      written { GateMessage.gmcp(package: name.span, data: data.span, to: &$0) }
        == #"{"type":"gmcp","package":"Char.Vitals","data":{"hp":1}}"#)
    #expect(
      written { GateMessage.gmcp(package: name.span, data: nil, to: &$0) }
        == #"{"type":"gmcp","package":"Char.Vitals"}"#)
    #expect(
      written { GateMessage.variables(.mssp, data: data.span, to: &$0) }
        == #"{"type":"mssp","data":{"hp":1}}"#)
    #expect(written { GateMessage.ack(received: 32, to: &$0) } == #"{"type":"ack","received":32}"#)
    #expect(
      written { GateMessage.gap(OutgoingLedger.Gap(messages: 3, next: 9), to: &$0) }
        == #"{"type":"gap","messages":3,"next":9}"#)
    #expect(
      written { GateMessage.gap(OutgoingLedger.Gap(messages: nil, next: 9), to: &$0) }
        == #"{"type":"gap","messages":null,"next":9}"#)
    #expect(
      written { GateMessage.closing(.takenOver, to: &$0) }
        == #"{"type":"closing","code":4001,"reason":"taken_over"}"#)
    #expect(
      written { GateMessage.ended(.gameClosed, to: &$0) } == #"{"type":"ended","reason":"game_closed"}"#)
  }

  /// Games name packages as they like.
  @Test func names() throws {
    for name in [Array(#"a"b\"#.utf8), [0x61, 0xFF, 0x0A], Array("é".utf8)] {
      var bytes: [UInt8] = []
      GateMessage.gmcp(package: name.span, data: nil, to: &bytes)
      let object = try JSONValue(parsing: bytes.span, depthLimit: 4).object
      #expect(object?["package"]?.string == String(decoding: name, as: UTF8.self))
    }
  }
}

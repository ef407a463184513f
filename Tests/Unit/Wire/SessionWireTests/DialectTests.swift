/// The subprotocols of mudstandards.org beside `portcullis.v1`: what Evennia 6.1's own portal sends and takes is the
/// evidence for the forms of their messages.
import JSON
import PortcullisProtocol
import SessionWire
import TelnetWire
import Testing
import WebSocketWire

@Suite struct DialectTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func read(_ dialect: Dialect, _ text: String) throws(MalformedMessage) -> AppMessage {
    try read(dialect, .text, bytes(text))
  }

  private func read(
    _ dialect: Dialect, _ type: MessageType, _ payload: [UInt8]
  ) throws(MalformedMessage) -> AppMessage {
    try dialect.read(type, payload.span)
  }

  private func told(_ dialect: Dialect, _ event: TelnetEvent) -> String? {
    var bytes: [UInt8] = []
    let isTold = dialect.tell(event, to: &bytes)
    #expect(isTold || bytes.isEmpty)
    return isTold ? String(decoding: bytes, as: UTF8.self) : nil
  }

  @Test(arguments: Dialect.allCases) func binaryIsInput(dialect: Dialect) throws {
    #expect(try read(dialect, .binary, [0xFF, 0x00, 0x7B]) == .input)
    #expect(try read(dialect, .binary, []) == .input)
  }

  @Test func terminal() throws {
    #expect(try read(.terminal, #"{"type":"leave"}"#) == .input)
    for event in [
      TelnetEvent.prompt, .echo(true), .gmcp(package: [0x41], data: nil), .msdp([0x7B, 0x7D]),
      .mssp([0x7B, 0x7D]),
    ] {
      #expect(told(.terminal, event) == nil)
    }
    #expect(Dialect.allCases.filter { !$0.endsLines } == [.portcullis])
  }

  // MARK: gmcp.mudstandards.org

  @Test(arguments: [
    ("Core.Ping", nil), ("Core.Ping ", nil), ("Core.Ping \r\n", nil),
    (#"Core.Echo "hi""#, #""hi""#), (#"Core.Echo  {"a": [1, 2]} "#, #"{"a":[1,2]}"#),
    ("Core.Echo\t1", "1"), ("Core.Echo hello \"you\" ", #""hello \"you\"""#), ("Core.Echo {", #""{""#),
  ])
  func gmcpFromTheApp(text: String, data: String?) throws {
    let name = text.hasPrefix("Core.Ping") ? "Core.Ping" : "Core.Echo"
    #expect(try read(.gmcp, text) == .gmcp(package: bytes(name), data: data.map(bytes)))
  }

  @Test(arguments: ["", " Core.Ping", "9", "Core/Ping", #"{"type":"leave"}"#, "Ä 1"])
  func gmcpThatIsNone(text: String) throws {
    let refusal = AppMessage.Refusal(kind: nil, member: "package")
    #expect(try read(.gmcp, text) == .refused(refusal))
  }

  @Test func gmcpTooDeep() throws {
    let nested = String(repeating: "[", count: 16) + String(repeating: "]", count: 16)
    #expect(try read(.gmcp, "A \(nested)") == .gmcp(package: [0x41], data: bytes(nested)))
    #expect(
      try read(.gmcp, "A [\(nested)]") == .refused(AppMessage.Refusal(kind: nil, member: "data")))
  }

  @Test func gmcpToTheApp() {
    #expect(told(.gmcp, .gmcp(package: bytes("Logged.In"), data: nil)) == "Logged.In")
    let data = bytes(#"{"hp":1}"#)
    #expect(told(.gmcp, .gmcp(package: bytes("Char.Vitals"), data: data)) == #"Char.Vitals {"hp":1}"#)
    for event in [TelnetEvent.prompt, .echo(true), .msdp(data), .mssp(data), .gmcpAgreed, .needMore] {
      #expect(told(.gmcp, event) == nil)
    }
  }

  // MARK: json.mudstandards.org

  @Test(arguments: [
    (#"{"proto":"gmcp","id":"Core.Echo","data":"\"hi\""}"#, #""hi""#),
    (#"{"proto":"gmcp","id":"Core.Echo","data":"{\"a\": 1}"}"#, #"{"a":1}"#),
    (#"{"proto":"gmcp","id":"Core.Echo","data":{"a": 1}}"#, #"{"a":1}"#),
    (#"{"proto":"gmcp","id":"Core.Echo","data":[1, true]}"#, "[1,true]"),
    (#"{"proto":"gmcp","id":"Core.Echo","data":"plain words"}"#, #""plain words""#),
    (#"{"proto":"gmcp","id":"Core.Echo","data":""}"#, nil), (#"{"proto":"gmcp","id":"Core.Echo"}"#, nil),
    (#"{"id":"Core.Echo","more":[],"proto":"gmcp"}"#, nil),
  ])
  func gmcpInEnvelopes(text: String, data: String?) throws {
    #expect(try read(.json, text) == .gmcp(package: bytes("Core.Echo"), data: data.map(bytes)))
  }

  @Test(arguments: [
    (#"{"proto":"text","id":"","data":"say \"ä\"\n"}"#, AppMessage.typed(Array("say \"ä\"\n".utf8))),
    (#"{"proto":"text","id":"","data":""}"#, .typed([])),
    (#"{"proto":"telnet_31","id":"","data":"AFAAGA=="}"#, .size(TerminalSize(columns: 80, rows: 24))),
    (#"{"proto":"telnet_31","data":"AQD_-w"}"#, .size(TerminalSize(columns: 256, rows: 65_531))),
    (#"{"proto":"mssp","id":"x","data":"1"}"#, .unknown), (#"{"proto":"websocket_close"}"#, .unknown),
  ])
  func envelopes(text: String, message: AppMessage) throws {
    #expect(try read(.json, text) == message)
  }

  @Test(arguments: [
    ("not json", "proto"), ("[]", "proto"), ("{}", "proto"), (#"{"proto":1}"#, "proto"),
    (#"{"proto":"gmcp"}"#, "id"), (#"{"proto":"gmcp","id":"1"}"#, "id"), (#"{"proto":"gmcp","id":7}"#, "id"),
    (#"{"proto":"text","data":1}"#, "data"), (#"{"proto":"text"}"#, "data"),
    (#"{"proto":"telnet_31"}"#, "data"),
    (#"{"proto":"telnet_31","data":"AFAAGAA="}"#, "data"), (#"{"proto":"telnet_31","data":"AFAA"}"#, "data"),
    (#"{"proto":"gmcp","proto":"gmcp","id":"A"}"#, "proto"),
  ])
  func badEnvelopes(text: String, member: String) throws {
    #expect(try read(.json, text) == .refused(AppMessage.Refusal(kind: nil, member: member)))
  }

  @Test func envelopesToTheApp() throws {
    #expect(
      told(.json, .gmcp(package: bytes("Logged.In"), data: nil))
        == #"{"proto":"gmcp","id":"Logged.In","data":""}"#)
    let data = bytes(#"{"a":"ä\n"}"#)
    #expect(
      told(.json, .gmcp(package: bytes("A.B"), data: data))
        == #"{"proto":"gmcp","id":"A.B","data":"{\"a\":\"ä\\n\"}"}"#)
    for event in [TelnetEvent.prompt, .echo(true), .msdp(data), .mssp(data)] {
      #expect(told(.json, event) == nil)
    }
  }

  // MARK: portcullis.v1

  @Test func portcullis() throws {
    #expect(try read(.portcullis, #"{"type":"leave"}"#) == .leave)
    #expect(throws: MalformedMessage.noType) { try read(.portcullis, "{}") }
    #expect(told(.portcullis, .prompt) == #"{"type":"prompt"}"#)
    #expect(told(.portcullis, .echo(true)) == #"{"type":"echo","on":true}"#)
    #expect(
      told(.portcullis, .gmcp(package: bytes("A"), data: bytes("1")))
        == #"{"type":"gmcp","package":"A","data":1}"#)
    #expect(told(.portcullis, .msdp(bytes("{}"))) == #"{"type":"msdp","data":{}}"#)
    #expect(told(.portcullis, .mssp(bytes("{}"))) == #"{"type":"mssp","data":{}}"#)
    #expect(told(.portcullis, .gmcpAgreed) == nil && told(.portcullis, .needMore) == nil)
  }
}

/// What apps say under `portcullis.v1`: well-formed, unfit, and malformed.
import PortcullisProtocol
import SessionWire
import Testing
import WebSocketWire
import TelnetWire

@Suite struct AppMessageTests {
  private func parse(_ text: String) throws(MalformedMessage) -> AppMessage {
    try AppMessage(parsing: Array(text.utf8).span)
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test(arguments: [
    (#"{"type":"leave"}"#, AppMessage.leave),
    (#" { "other" : [1, {}] , "type" : "leave" } "#, .leave),
    (#"{"t\u0079pe":"l\u0065ave"}"#, .leave),
    (#"{"type":"ack","received":0}"#, .ack(received: 0)),
    (#"{"type":"ack","received":9007199254740992}"#, .ack(received: 1 << 53)),
    (#"{"type":"nonsense","received":"x"}"#, .unknown),
    // These are for the gate to say.
    (#"{"type":"session"}"#, .unknown), (#"{"type":"prompt"}"#, .unknown),
    (#"{"type":"mssp","data":{}}"#, .unknown),
  ])
  func simple(text: String, message: AppMessage) throws {
    #expect(try parse(text) == message)
  }

  @Test func structured() throws {
    #expect(
      try parse(#"{"type":"gmcp","package":"Core.Echo","data": {"a": [1, "x y"]}}"#)
        == .gmcp(package: bytes("Core.Echo"), data: bytes(#"{"a":[1,"x y"]}"#)))
    #expect(
      try parse(#"{"type":"gmcp","package":"Core.Ping"}"#) == .gmcp(package: bytes("Core.Ping"), data: nil))
    #expect(
      try parse(#"{"type":"gmcp","package":"A","data":null}"#)
        == .gmcp(package: bytes("A"), data: bytes("null")))
    #expect(
      try parse(#"{"type":"msdp","data":{"SEND": ["HEALTH"]}}"#) == .msdp(bytes(#"{"SEND":["HEALTH"]}"#)))
  }

  @Test(arguments: [
    ("gmcp", ""), ("gmcp", #","package":1"#), ("gmcp", #","package":"""#), ("gmcp", #","package":"1A""#),
    ("gmcp", #","package":"A B""#), ("gmcp", #","package":"Ä""#), ("gmcp", #","package":null"#),
    ("msdp", ""), ("msdp", #","data":[1]"#), ("msdp", #","data":"x""#), ("msdp", #","data":null"#),
    ("ack", ""), ("ack", #","received":-1"#), ("ack", #","received":1.0"#), ("ack", #","received":"1""#),
    ("ack", #","received":9007199254740993"#), ("ack", #","received":99999999999999999999"#),
    ("client", #","name":"""#), ("client", #","name":1"#), ("client", #","version":"\n""#),
    ("client", #","terminal":"ä""#), ("client", #","features":"truecolor""#), ("client", #","features":[1]"#),
    ("client", #","columns":65536"#), ("client", #","rows":-1"#), ("client", #","rows":"24""#),
    ("client", #","gmcp":{"Char":1}"#), ("client", #","gmcp":["Char 1",2]"#), ("client", #","gmcp":[""]"#),
  ])
  func unfit(type: String, members: String) throws {
    let message = try parse("{\"type\":\"\(type)\"\(members)}")
    guard case .refused(let refusal) = message else {
      Issue.record("\(message)")
      return
    }
    #expect(refusal.kind?.rawValue == type)
    #expect(members.isEmpty || members.contains("\"\(refusal.member)\""))
  }

  /// At and above the limits of names.
  @Test func lengths() throws {
    let package = "A" + String(repeating: "b", count: 63)
    #expect(
      try parse("{\"type\":\"gmcp\",\"package\":\"\(package)\"}") == .gmcp(package: bytes(package), data: nil)
    )
    let refused = AppMessage.Refusal(kind: .gmcp, member: "package")
    #expect(try parse("{\"type\":\"gmcp\",\"package\":\"\(package)c\"}") == .refused(refused))
    var update = ClientUpdate()
    update.name = ClientText(bytes(String(repeating: "n", count: 40)))
    let name = String(repeating: "n", count: 40)
    #expect(try parse("{\"type\":\"client\",\"name\":\"\(name)\"}") == .client(update))
    let unfit = AppMessage.Refusal(kind: .client, member: "name")
    #expect(try parse("{\"type\":\"client\",\"name\":\"\(name)n\"}") == .refused(unfit))
  }

  @Test(arguments: [
    ("", MalformedMessage.notJSON), ("hello", .notJSON), (#"{"type":"leave""#, .notJSON),
    (#"{"type":"leave"}x"#, .notJSON), (#"{"type":"leave","type":"leave"}"#, .notJSON),
    (#"{"type":"gmcp","data":01}"#, .notJSON), ("{\"type\":\"le\u{1}ave\"}", .notJSON),
    ("[]", .noObject), ("null", .noObject), (#""leave""#, .noObject), ("1", .noObject), ("[", .notJSON),
    ("{}", .noType), (#"{"Type":"leave"}"#, .noType), (#"{"type":1}"#, .noType), (#"{"type":null}"#, .noType),
    (#"{"type":["leave"]}"#, .noType),
  ])
  func malformed(text: String, error: MalformedMessage) {
    #expect(throws: error) { try parse(text) }
  }

  /// The object itself is the first of the sixteen.
  @Test func depth() throws {
    func message(_ depth: Int) -> String {
      let data = String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
      return "{\"type\":\"x\",\"data\":\(data)}"
    }
    #expect(try parse(message(16)) == .unknown)
    #expect(throws: MalformedMessage.tooDeep) { try parse(message(17)) }
    #expect(throws: MalformedMessage.tooDeep) { try parse(String(repeating: "[", count: 17)) }
  }

  @Test func counting() throws {
    let free = [
      #"{"type":"leave"}"#, #"{"type":"ack","received":1}"#, #"{"type":"ack"}"#, #"{"type":"client"}"#,
    ]
    for text in free { #expect(try !parse(text).isCounted && parse(text).isFree(bytes: 128), "\(text)") }
    let refused = #"{"type":"client","name":1}"#
    #expect(try !parse(refused).isCounted)
    for text in [#"{"type":"gmcp"}"#, #"{"type":"msdp"}"#, #"{"type":"later"}"#, #"{"type":"session"}"#] {
      #expect(try parse(text).isCounted && !parse(text).isFree(bytes: 1), "\(text)")
    }
    #expect(AppMessage.input.isCounted && AppMessage.typed([]).isCounted)
  }

  /// At and above what may be free: the rest counts, whatever it is.
  @Test(arguments: [
    (#"{"type":"ack","received":1}"#, 128), (#"{"type":"leave"}"#, 128), (#"{"type":"ack"}"#, 128),
    (#"{"type":"client"}"#, 4096), (#"{"type":"client","name":1}"#, 4096),
  ])
  func sizesOfWhatIsFree(text: String, largest: Int) throws {
    let message = try parse(text)
    #expect(message.isFree(bytes: largest) && !message.isFree(bytes: largest + 1))
  }

  /// What is paid for before it is read: all that cannot be free.
  @Test func whatMayBeFree() {
    #expect(Dialect.portcullis.mayBeFree(.text, bytes: 4096))
    #expect(!Dialect.portcullis.mayBeFree(.text, bytes: 4097))
    #expect(!Dialect.portcullis.mayBeFree(.binary, bytes: 1))
    for dialect in [Dialect.gmcp, .json, .terminal] { #expect(!dialect.mayBeFree(.text, bytes: 1)) }
  }

  /// Names are compared unescaped, and no other one is taken for a known one.
  @Test func spellingsOfNames() throws {
    #expect(try parse(#"{"\u0074y\u0070\u0065":"ack","receive\u0064":7}"#) == .ack(received: 7))
    for name in [#"type\u0000"#, #"\u0000type"#, "types", "typ", "Type", #"typ\n"#, "", "receivedx"] {
      #expect(throws: MalformedMessage.noType) { try parse("{\"\(name)\":\"leave\"}") }
    }
    #expect(throws: MalformedMessage.notJSON) { try parse(#"{"type":"leave","\u0074ype":"leave"}"#) }
    let unknown = String(repeating: #""\n":1,"#, count: 200)
    #expect(try parse("{\(unknown)\"type\":\"leave\"}") == .leave)
  }

  // MARK: What an app says of itself

  private func update(_ members: String) throws -> ClientUpdate {
    guard case .client(let update) = try parse("{\"type\":\"client\",\(members)}") else {
      throw MalformedMessage.noType
    }
    return update
  }

  @Test func clients() throws {
    let first = try update(
      #""name":"App","version":"1.0","terminal":"XTERM","features":["truecolor","later"],"columns":80,"rows":24"#
        + #","gmcp":["Char 1","Room 1"],"colour":"blue""#)
    var client = try #require(first.applied(to: nil))
    #expect(client.name == ClientText(bytes("App")) && client.version == ClientText(bytes("1.0")))
    #expect(client.hasTrueColor && !client.isScreenReader)
    #expect(client.size == TerminalSize(columns: 80, rows: 24))
    #expect(client.gmcp == [bytes("Char 1"), bytes("Room 1")])

    // What is left out, or null, stays.
    client = try #require(
      update(#""columns":100,"name":null,"features":["screen_reader"]"#).applied(to: client))
    #expect(client.size == TerminalSize(columns: 100, rows: 24))
    #expect(client.name == ClientText(bytes("App")) && client.terminal == ClientText(bytes("XTERM")))
    #expect(!client.hasTrueColor && client.isScreenReader && client.gmcp?.count == 2)

    client = try #require(update(#""gmcp":[],"features":[]"#).applied(to: client))
    #expect(client.gmcp == [] && !client.isScreenReader)
    let half = try #require(update(#""rows":50"#).applied(to: nil))
    #expect(half.size == TerminalSize(columns: 0, rows: 50))
  }

  /// More words than could ever be kept are not read.
  @Test(arguments: [(512, true), (513, false)], ["gmcp", "features"])
  func howManyWordsAreRead(_ count: (Int, Bool), member: String) throws {
    let words = String(repeating: "\"w\",", count: count.0).dropLast()
    let message = try parse("{\"type\":\"client\",\"\(member)\":[\(words)]}")
    switch message {
    case .client(let update):
      #expect(count.1 && (member == "features" || update.gmcp?.count == 512))
    case .refused(let refusal):
      #expect(!count.1 && refusal == AppMessage.Refusal(kind: .client, member: member))
    default: Issue.record("\(message)")
    }
  }

  /// At the limit and above it, counted with what was said before; then nothing of it is taken.
  @Test(arguments: [(8, true), (9, false)])
  func keptBytes(extra: Int, isTaken: Bool) throws {
    let client = try #require(update("\"name\":\"\(String(repeating: "n", count: 40))\"").applied(to: nil))
    let packages =
      (0..<9).map { _ in String(repeating: "p", count: 49) } + [String(repeating: "q", count: 4 + extra)]
    let list = packages.map { "\"\($0)\"" }.joined(separator: ",")
    let applied = try update("\"gmcp\":[\(list)],\"version\":\"2\"").applied(to: client)
    #expect((applied != nil) == isTaken)
    if let applied { #expect(applied.keptBytes == 512) }
  }
}

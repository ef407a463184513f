import Testing

@testable import TelnetWire

/// GMCP both ways.
@Suite struct GMCPTests {
  private static let on = wire("IAC WILL 201")

  @Test(
    arguments: [
      (#"'Char.Vitals {"hp":1}'"#, "Char.Vitals", #"{"hp":1}"#),
      ("'Core.Ping'", "Core.Ping", nil),
      ("'Core.Ping '", "Core.Ping", nil),
      ("'Room.Info   [1, 2]  '", "Room.Info", "[1, 2]"),
      (#"'Room.Info' LF '{"a":' LF 'null}' CR LF"#, "Room.Info", "{\"a\":\nnull}"),
      ("'A 12'", "A", "12"),
      ("'A \"x\"'", "A", "\"x\""),
      ("'A true'", "A", "true"),
      ("'client.gui 2.5" + "'", "client.gui", "2.5"),
      ("'Ünï 1'", nil, nil),
      // No JSON: as text.
      ("'Char.Name Ada Lovelace'", "Char.Name", #""Ada Lovelace""#),
      (#"'A {"a":1'"#, "A", #""{\"a\":1""#),
      ("'A {} {}'", "A", #""{} {}""#),
      ("'A 01'", "A", #""01""#),
      ("'A x' 9 7", "A", #""x\t\u0007""#),
      // Names that come twice are the reader's business.
      (#"'A {"a":1,"a":2}'"#, "A", #"{"a":1,"a":2}"#),
      // 255 within it is doubled, and is no UTF-8.
      ("'A x' IAC IAC 'y'", "A", "\"x\u{FFFD}y\""),
      ("'A é'", "A", "\"é\""),
      ("''", nil, nil),
      ("' x'", nil, nil),
      ("7 ' 1'", nil, nil),
    ] as [(String, String?, String?)])
  func fromTheGame(body: String, package: String?, data: String?) {
    let talk = Conversation.everyWay(wire("IAC SB 201 \(body) IAC SE"), after: Self.on)
    #expect(talk.happenings == [package.map { .gmcp($0, data) } ?? .event(.dropped(.malformed))], "\(body)")
    #expect(talk.output.isEmpty)
  }

  /// What large games send for JSON. Sources: Mudlet #2075 and #2040 (colours in names of rooms), #1419 and #2505 (bytes of
  /// another charset), #5421 (GMCP is UTF-8 whatever the text is); Python's `surrogateescape` writes half of a pair.
  @Test(
    arguments: [
      (
        #"'room.info { "num": 28909, "name": "A Towering Waterfall' 27 '[0m" }'"#, "room.info",
        #"{ "num": 28909, "name": "A Towering Waterfall\u001b[0m" }"#
      ),
      (#"'A {"a":"one' LF 'two' 9 'x' 0 8 12 CR '"}'"#, "A", #"{"a":"one\ntwo\tx\u0000\b\f\r"}"#),
      // Between tokens these are white space, and stay.
      (#"'A {' LF 9 '"a' 31 '":' LF '"b"}'"#, "A", "{\n\t\"a\\u001f\":\n\"b\"}"),
      (#"'A {"name":"Caf' 233 '","n":1}'"#, "A", "{\"name\":\"Caf\u{FFFD}\",\"n\":1}"),
      (#"'A ["' 226 130 '",' 34 IAC IAC 34 ']'"#, "A", "[\"\u{FFFD}\",\"\u{FFFD}\"]"),
      (#"'A ["Mjölnir","' 237 160 128 '"]'"#, "A", "[\"Mjölnir\",\"\u{FFFD}\u{FFFD}\u{FFFD}\"]"),
      (#"'A "\ud800"'"#, "A", #""\ufffd""#),
      (
        #"'A ["\udcff","\uD83D\uDE00","\ud83dx","\ud83d\u0041","\\ud800"]'"#, "A",
        #"["\ufffd","\uD83D\uDE00","\ufffdx","\ufffd\u0041","\\ud800"]"#
      ),
      (#"'A ["\ud83d\ud83d\ude00","\"' 27 '"]'"#, "A", #"["\ufffd\ud83d\ude00","\"\u001b"]"#),
      // No JSON in this reading either.
      (#"'A {"a":"' 27 '"'"#, "A", #""{\"a\":\"\u001b\"""#),
      (#"'A {' 27 '}'"#, "A", #""{\u001b}""#),
      (#"'A "\' LF '"'"#, "A", #""\"\\\n\"""#),
      (#"'A "\u00"'"#, "A", #""\"\\u00\"""#),
      (#"'A "\u+041"'"#, "A", #""\"\\u+041\"""#),
      (#"'A {"a":' 233 '}'"#, "A", "\"{\\\"a\\\":\u{FFFD}}\""),
      (#"'A "' 27 92"#, "A", #""\"\u001b\\""#),
    ] as [(String, String, String)])
  func almostJSON(body: String, package: String, data: String) {
    let talk = Conversation.everyWay(wire("IAC SB 201 \(body) IAC SE"), after: Self.on)
    #expect(talk.happenings == [.gmcp(package, data)], "\(body)")
    let isJSON = TelnetEngine.isJSON(Array(data.utf8).span)
    #expect(isJSON)
  }

  /// Repaired it is six times as long, and counts as what it then is.
  @Test func almostJSONWithinItsLimit() {
    for (count, isGood) in [(43_690, true), (43_691, false)] {
      let body = wire("'A \"'") + [UInt8](repeating: 1, count: count) + wire("'\"'")
      let talk = Conversation([wire("IAC SB 201") + body + wire("IAC SE")], after: Self.on)
      let text = "\"" + String(repeating: "\\u0001", count: count) + "\""
      #expect(talk.happenings == [isGood ? .gmcp("A", text) : .event(.dropped(.eventTooLarge))], "\(count)")
    }
  }

  @Test func namesOfGames() {
    for (count, isGood) in [(1, true), (127, true), (128, true), (129, false)] {
      let name = String(repeating: "n", count: count)
      let talk = Conversation([wire("IAC SB 201 '\(name) 1' IAC SE")], after: Self.on)
      #expect(talk.happenings == [isGood ? .gmcp(name, "1") : .event(.dropped(.malformed))], "\(count)")
    }
  }

  @Test func nesting() {
    for (depth, isJSON) in [(61, true), (62, true), (63, false)] {
      let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      let talk = Conversation([wire("IAC SB 201 'A \(text)' IAC SE")], after: Self.on)
      #expect(talk.happenings == [.gmcp("A", isJSON ? text : "\"\(text)\"")], "\(depth)")
    }
  }

  // MARK: To the game

  @Test func toTheGame() {
    let talker = Talker()
    #expect(talker.gmcp("Char.Items.Inv", "{}") == .notAgreed)
    #expect(talker.takeOutput().isEmpty)
    talker.receive(Self.on)
    _ = talker.takeOutput()
    #expect(talker.gmcp("Char.Items.Inv", #"{"a":"é"}"#) == .sent)
    #expect(talker.takeOutput() == wire(#"IAC SB 201 'Char.Items.Inv {"a":"é"}' IAC SE"#))
    #expect(talker.gmcp("Core.Ping", nil) == .sent)
    #expect(talker.takeOutput() == wire("IAC SB 201 'Core.Ping' IAC SE"))
    talker.receive("IAC WONT 201")
    #expect(talker.gmcp("Core.Ping", nil) == .notAgreed)
  }

  @Test func namesOfApps() {
    let talker = Talker()
    talker.receive(Self.on)
    let long = String(repeating: "a", count: 64)
    for name in ["A", "z.9-_", "Char.Vitals", long] { #expect(talker.gmcp(name, nil) == .sent, "\(name)") }
    for name in [
      "", "9a", ".a", "_a", "a b", "a\u{FF}", "ä", "a\n", "a\"", "a/b", "[", "`", "{", "@", long + "a",
    ] {
      #expect(talker.gmcp(name, nil) == .unfit, "\(name)")
    }
  }

  // MARK: Hello

  private static func hello(_ client: String, _ version: String) -> [UInt8] {
    wire(#"IAC SB 201 'Core.Hello {"client":"\#(client)","version":"\#(version)"}' IAC SE"#)
  }

  @Test func hello() {
    let talk = Conversation.everyWay(
      Self.on, client: client(name: #"A"\b"#, version: "1", gmcp: ["Char 1", "Röom 2"]))
    #expect(
      talk.output
        == wire("IAC DO 201") + Self.hello(#"A\"\\b"#, "1")
        + wire(#"IAC SB 201 'Core.Supports.Set ["Char 1","Röom 2"]' IAC SE"#))
    #expect(talk.happenings == [.event(.gmcpAgreed)])
    let empty = Conversation.everyWay(Self.on, client: client(gmcp: []))
    #expect(
      empty.output
        == wire("IAC DO 201") + Self.hello("PORTCULLIS", "")
        + wire("IAC SB 201 'Core.Supports.Set []' IAC SE"))
  }

  @Test func helloWaitsForTheApp() {
    let talker = Talker(client: nil)
    talker.receive(Self.on)
    #expect(talker.takeOutput() == wire("IAC DO 201"))
    #expect(talker.happenings == [.event(.gmcpAgreed)])
    talker.engine.update(client(name: "App", gmcp: ["Char 1"]), into: &talker.output)
    let supports = wire(#"IAC SB 201 'Core.Supports.Set ["Char 1"]' IAC SE"#)
    #expect(talker.takeOutput() == Self.hello("App", "") + supports)
    talker.engine.update(client(name: "App", version: "2", gmcp: ["Char 1"]), into: &talker.output)
    #expect(talker.takeOutput().isEmpty)
  }

  @Test func aChangedListIsSaidAgain() {
    let talker = Talker(client: client(gmcp: ["Char 1"]))
    talker.receive(Self.on)
    _ = talker.takeOutput()
    talker.engine.update(client(gmcp: ["Char 1", "Room 1"]), into: &talker.output)
    #expect(talker.takeOutput() == wire(#"IAC SB 201 'Core.Supports.Set ["Char 1","Room 1"]' IAC SE"#))
    let off = Talker(client: client(gmcp: ["Char 1"]))
    off.engine.update(client(gmcp: ["Room 1"]), into: &off.output)
    #expect(off.output.isEmpty)
  }

  /// An app that says hello itself, before or after the game agrees: its words, once, and again after a copyover.
  @Test func theAppsOwnHello() {
    let own = wire(#"IAC SB 201 'Core.Hello {"client":"own"}' IAC SE"#)
    let supports = wire(#"IAC SB 201 'Core.Supports.Set ["X 1"]' IAC SE"#)
    let early = Talker(client: nil)
    #expect(early.gmcp("core.hello", #"{"client":"own"}"#) == .notAgreed)
    #expect(early.gmcp("Core.Supports.Set", #"["X 1"]"#) == .notAgreed)
    early.receive(Self.on)
    #expect(early.takeOutput() == wire("IAC DO 201") + own + supports)

    let late = Talker(client: nil)
    late.receive(Self.on)
    #expect(late.gmcp("Core.Hello", #"{"client":"own"}"#) == .sent)
    #expect(late.gmcp("Core.Supports.Set", #"["X 1"]"#) == .sent)
    #expect(late.takeOutput() == wire("IAC DO 201") + own + supports)

    for talker in [early, late] {
      talker.engine.update(client(), into: &talker.output)
      #expect(talker.takeOutput().isEmpty)
      talker.receive(Self.on)
      #expect(talker.takeOutput() == wire("IAC DO 201") + own + supports)
    }
  }

  /// Of the list in the app's description and the one it said itself, the later one.
  @Test func theLaterListDecides() {
    let talker = Talker(client: client(gmcp: ["A 1"]))
    talker.receive(Self.on)
    #expect(talker.gmcp("Core.Supports.Set", #"["B 1"]"#) == .sent)
    _ = talker.takeOutput()
    talker.engine.update(client(gmcp: ["C 1"]), into: &talker.output)
    let last = wire(#"IAC SB 201 'Core.Supports.Set ["C 1"]' IAC SE"#)
    #expect(talker.takeOutput() == last)
    talker.receive(Self.on)
    #expect(talker.takeOutput() == wire("IAC DO 201") + Self.hello("PORTCULLIS", "") + last)
  }

  @Test func howMuchOfTheAppsOwnIsKept() {
    for (count, isKept) in [(512, true), (513, false)] {
      let talker = Talker()
      let hello = "\"" + String(repeating: "x", count: count - 2) + "\""
      #expect(talker.gmcp("Core.Hello", hello) == .notAgreed)
      talker.receive(Self.on)
      let own = wire("IAC SB 201 'Core.Hello \(hello)' IAC SE")
      #expect(talker.takeOutput() == wire("IAC DO 201") + (isKept ? own : Self.hello("PORTCULLIS", "")))
    }
  }

  // MARK: Link

  @Test func linkIsToldToThoseWhoSpeakGMCP() {
    let talker = Talker()
    talker.engine.link(isAttached: false, into: &talker.output)
    #expect(talker.takeOutput().isEmpty)
    // Whoever agrees while nobody is there hears that too.
    talker.receive(Self.on)
    let detached = wire(#"IAC SB 201 'Portcullis.Link {"state":"detached"}' IAC SE"#)
    #expect(talker.takeOutput() == wire("IAC DO 201") + Self.hello("PORTCULLIS", "") + detached)
    talker.engine.link(isAttached: true, into: &talker.output)
    #expect(talker.takeOutput() == wire(#"IAC SB 201 'Portcullis.Link {"state":"attached"}' IAC SE"#))
    talker.engine.link(isAttached: false, into: &talker.output)
    #expect(talker.takeOutput() == detached)
  }
}

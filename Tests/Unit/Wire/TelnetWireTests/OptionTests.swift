import Testing

@testable import TelnetWire

/// TTYPE with MTTS, NAWS, CHARSET and ECHO, in literal bytes.
@Suite struct OptionTests {
  // MARK: TTYPE

  private static let asked = wire("IAC SB 24 1 IAC SE")

  private static func answer(_ text: String) -> [UInt8] { wire("IAC SB 24 0 '\(text)' IAC SE") }

  @Test(arguments: [
    (client(), ["PORTCULLIS", "XTERM-256COLOR", "MTTS 2701"]),
    (client(name: "Mud App", terminal: "ANSI"), ["Mud App", "ANSI", "MTTS 2701"]),
    (client(trueColor: true), ["PORTCULLIS", "XTERM-TRUECOLOR", "MTTS 2957"]),
    (client(terminal: "VT100", trueColor: true), ["PORTCULLIS", "VT100", "MTTS 2957"]),
    (client(screenReader: true), ["PORTCULLIS", "XTERM-256COLOR", "MTTS 2765"]),
    (client(trueColor: true, screenReader: true), ["PORTCULLIS", "XTERM-TRUECOLOR", "MTTS 3021"]),
  ])
  func terminalTypes(app: ClientDescription, names: [String]) {
    let five = [UInt8](repeatElement(Self.asked, count: 5).joined())
    let talk = Conversation.everyWay(wire("IAC DO 24") + five, client: app)
    let all = names + [names[2], names[2]]
    #expect(talk.output == wire("IAC WILL 24") + all.flatMap(Self.answer))
  }

  @Test func theCharsetShowsInMTTS() {
    var latin = settings()
    latin.charset = latin1
    let talk = Conversation(
      [
        wire("IAC DO 24 IAC DO 42") + Self.asked + Self.asked + Self.asked
          + wire("IAC SB 42 1 ';UTF-8' IAC SE") + Self.asked
      ],
      latin)
    #expect(
      talk.output
        == wire("IAC WILL 24 IAC WILL 42")
        + ["PORTCULLIS", "XTERM-256COLOR", "MTTS 2697"].flatMap(Self.answer)
        + wire("IAC SB 42 2 'UTF-8' IAC SE") + Self.answer("MTTS 2701"))
  }

  @Test func terminalTypesWaitForTheApp() {
    let talker = Talker(client: nil)
    talker.receive(wire("IAC DO 24") + Self.asked + Self.asked + wire("'text'"))
    #expect(talker.takeOutput() == wire("IAC WILL 24"))
    #expect(talker.happenings == [.text("text")])
    talker.engine.update(client(name: "App"), into: &talker.output)
    #expect(talker.takeOutput() == Self.answer("App") + Self.answer("XTERM-256COLOR"))
    talker.receive(Self.asked)
    #expect(talker.takeOutput() == Self.answer("MTTS 2701"))
  }

  @Test func howManyMayWait() {
    let talker = Talker(client: nil)
    talker.receive(wire("IAC DO 24") + [UInt8](repeatElement(Self.asked, count: 60).joined()))
    _ = talker.takeOutput()
    talker.engine.update(client(), into: &talker.output)
    #expect(
      talker.output == ["PORTCULLIS", "XTERM-256COLOR", "MTTS 2701", "MTTS 2701"].flatMap(Self.answer))
  }

  @Test(arguments: ["IAC SB 24 IAC SE", "IAC SB 24 0 'X' IAC SE", "IAC SB 24 2 IAC SE", "IAC SB IAC SE"])
  func whatIsNoQuestionIsPassedOver(words: String) {
    #expect(Conversation.everyWay(wire(words), after: wire("IAC DO 24")).output.isEmpty)
  }

  @Test func nothingIsAnsweredWhileTheOptionIsOff() {
    let talk = Conversation.everyWay(
      Self.asked
        + wire(
          "IAC SB 39 1 IAC SE IAC SB 42 1 ';UTF-8' IAC SE IAC SB 69 1 'A' 2 'B' IAC SE IAC SB 201 'A' IAC SE")
    )
    #expect(talk.output.isEmpty && talk.happenings.isEmpty)
    let off = Conversation([Self.asked], after: wire("IAC DO 24 IAC DONT 24"))
    #expect(off.output.isEmpty)
  }

  // MARK: NAWS

  @Test func sizes() {
    let talk = Conversation.everyWay(wire("IAC DO 31"), client: client(size: (80, 24)))
    #expect(talk.output == wire("IAC WILL 31 IAC SB 31 0 80 0 24 IAC SE"))
    let wide = Conversation.everyWay(wire("IAC DO 31"), client: client(size: (255, 65_535)))
    #expect(wide.output == wire("IAC WILL 31 IAC SB 31 0 255 255 255 255 255 255 IAC SE"))
    let odd = Conversation.everyWay(wire("IAC DO 31"), client: client(size: (0xFF01, 0)))
    #expect(odd.output == wire("IAC WILL 31 IAC SB 31 255 255 1 0 0 IAC SE"))
  }

  @Test func sizesAreSaidWhenKnownAndWhenTheyChange() {
    let talker = Talker(client: nil)
    talker.engine.resize(TerminalSize(columns: 10, rows: 5), into: &talker.output)
    #expect(talker.takeOutput().isEmpty)
    talker.receive("IAC DO 31")
    #expect(talker.takeOutput() == wire("IAC WILL 31 IAC SB 31 0 10 0 5 IAC SE"))
    // Known before, and not said otherwise: stays.
    talker.engine.update(client(name: "App"), into: &talker.output)
    #expect(talker.takeOutput().isEmpty)
    for _ in 0..<2 { talker.engine.resize(TerminalSize(columns: 100, rows: 50), into: &talker.output) }
    #expect(talker.takeOutput() == wire("IAC SB 31 0 100 0 50 IAC SE"))
    talker.engine.update(client(name: "App", size: (100, 50)), into: &talker.output)
    #expect(talker.takeOutput().isEmpty)
    talker.engine.update(client(name: "App", size: (100, 51)), into: &talker.output)
    #expect(talker.takeOutput() == wire("IAC SB 31 0 100 0 51 IAC SE"))
    talker.receive("IAC DONT 31")
    _ = talker.takeOutput()
    talker.engine.resize(TerminalSize(columns: 1, rows: 1), into: &talker.output)
    #expect(talker.takeOutput().isEmpty)
  }

  @Test func withoutASizeNothingIsSaid() {
    #expect(Conversation.everyWay(wire("IAC DO 31")).output == wire("IAC WILL 31"))
    let talker = Talker()
    talker.receive("IAC DO 31")
    _ = talker.takeOutput()
    talker.engine.update(client(size: (80, 24)), into: &talker.output)
    #expect(talker.takeOutput() == wire("IAC SB 31 0 80 0 24 IAC SE"))
  }

  // MARK: ECHO

  @Test func echo() {
    let talk = Conversation.everyWay(wire("'Password: ' IAC WILL 1 IAC WILL 1 'x' IAC WONT 1 IAC WONT 1"))
    #expect(
      talk.happenings == [.text("Password: "), .event(.echo(true)), .text("x"), .event(.echo(false))])
    #expect(talk.output == wire("IAC DO 1 IAC DO 1 IAC DONT 1"))
    #expect(Conversation.everyWay(wire("IAC DO 1")).output == wire("IAC WONT 1"))
  }

  // MARK: CHARSET

  @Test(arguments: [
    ("';UTF-8;ISO-8859-1'", "2 'UTF-8'", "UTF-8"),
    ("';ISO-8859-1;UTF-8'", "2 'UTF-8'", "UTF-8"),
    ("' ISO-8859-1 KLINGON'", "2 'ISO-8859-1'", "ISO-8859-1"),
    ("' KLINGON latin1 ISO-8859-1'", "2 'latin1'", "ISO-8859-1"),
    ("';utf8'", "2 'utf8'", "UTF-8"),
    ("255 255 'utf-8' 255 255 'X'", "2 'utf-8'", "UTF-8"),
    ("'[TTABLE ]' 1 ';UTF-8'", "2 'UTF-8'", "UTF-8"),
    ("';KLINGON;EBCDIC'", "3", nil),
    ("''", "3", nil),
    ("';'", "3", nil),
    ("';;;'", "3", nil),
  ])
  func charsets(offer: String, answer: String, chosen: String?) {
    for on in ["IAC WILL 42", "IAC DO 42"] {
      let talk = Conversation.everyWay(
        wire("'a' IAC SB 42 1 \(offer) IAC SE 'b'"), settings(), after: wire(on))
      #expect(talk.output == wire("IAC SB 42 \(answer) IAC SE"), "\(offer)")
      let event = chosen.map { [Happening.event(.charset(Array($0.utf8)))] } ?? []
      #expect(talk.happenings == (chosen == nil ? [.text("ab")] : [.text("a")] + event + [.text("b")]))
    }
  }

  @Test func howManyCharsetsAreLookedAt() {
    let unknown = [UInt8](repeatElement(Array(";X".utf8), count: 63).joined())
    let request = wire("IAC SB 42 1")
    let last = Conversation([request + unknown + wire("';UTF-8' IAC SE")], after: wire("IAC DO 42"))
    #expect(last.output == wire("IAC SB 42 2 'UTF-8' IAC SE"))
    let beyond = Conversation([request + unknown + wire("';X;UTF-8' IAC SE")], after: wire("IAC DO 42"))
    #expect(beyond.output == wire("IAC SB 42 3 IAC SE"))
  }

  @Test(arguments: ["2 'UTF-8'", "3", "4", "7", ""])
  func whatIsNoRequestIsPassedOver(words: String) {
    let talk = Conversation.everyWay(wire("IAC SB 42 \(words) IAC SE"), after: wire("IAC DO 42"))
    #expect(talk.output.isEmpty && talk.happenings.isEmpty)
  }
}

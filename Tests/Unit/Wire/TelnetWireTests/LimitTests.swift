import System
import Testing

@testable import TelnetWire

/// Subnegotiations that are too long, broken off or become too much, and what a session has to remember.
@Suite struct LimitTests {
  private static let limit = TelnetEngine.subnegotiationLimit

  @Test func howLongASubnegotiationMayBe() {
    for (count, isGood) in [(Self.limit - 1, true), (Self.limit, true), (Self.limit + 1, false)] {
      // 'A ' and quotes belong to it.
      let text = String(repeating: "x", count: count - 4)
      let bytes = wire("'a' IAC SB 201 'A \"\(text)\"' IAC SE 'b'")
      let expected: Happening = isGood ? .gmcp("A", "\"\(text)\"") : .event(.dropped(.tooLong))
      for pieces in [[bytes], [Array(bytes[..<9]), Array(bytes[9...])], bytes.map { [$0] }] {
        let talk = Conversation(pieces, after: wire("IAC WILL 201"))
        #expect(talk.happenings == [.text("a"), expected, .text("b")], "\(count)")
      }
    }
  }

  /// 255s count once, as they are in it once.
  @Test func doubledBytesCountOnce() {
    for (count, isGood) in [(Self.limit - 2, true), (Self.limit - 1, false)] {
      let doubled = [UInt8](repeating: 255, count: 2 * count)
      let talk = Conversation(
        [wire("IAC SB 201 'A '") + doubled + wire("IAC SE")], after: wire("IAC WILL 201"))
      // Each becomes U+FFFD.
      let json = "\"" + String(repeating: "\u{FFFD}", count: count) + "\""
      #expect(talk.happenings == [isGood ? .gmcp("A", json) : .event(.dropped(.tooLong))])
    }
  }

  /// Also of options that nobody wants; nothing of those is kept.
  @Test func whatNobodyWantsIsNotKept() {
    for (option, count, isTooLong) in [
      (200, Self.limit, false), (200, Self.limit + 1, true), (201, 10, false),
    ] {
      let talker = Talker()
      talker.receive(wire("IAC SB \(option)") + [UInt8](repeating: 0x78, count: count))
      #expect(talker.engine.body.isEmpty)
      talker.receive("IAC SE")
      #expect(talker.happenings == (isTooLong ? [.event(.dropped(.tooLong))] : []))
    }
  }

  @Test func aLongOneHoldsNothingBack() {
    let talker = Talker()
    talker.receive("IAC WILL 201 IAC SB 201")
    for _ in 0..<100 { talker.receive([UInt8](repeating: 0x78, count: 65_536)) }
    #expect(talker.engine.body.isEmpty)
    talker.receive("IAC SE IAC SB 201 'B' IAC SE")
    #expect(talker.happenings == [.event(.gmcpAgreed), .event(.dropped(.tooLong)), .gmcp("B", nil)])
  }

  /// What is not whole yet is known by its size, and can be let go; its end says so.
  @Test func whatIsOpenCanBeLetGo() {
    let talker = Talker()
    talker.receive("IAC WILL 201")
    #expect(talker.engine.heldBytes == 0)
    talker.receive(wire("'a' IAC SB 201") + [UInt8](repeating: 0x78, count: 50_000))
    #expect(talker.engine.openBytes == 50_001 && talker.engine.heldBytes >= 50_001)
    talker.engine.letGoOfSubnegotiation()
    #expect(talker.engine.openBytes == 0 && talker.engine.heldBytes == 0)
    talker.receive([UInt8](repeating: 0x78, count: 50_000))
    #expect(talker.engine.heldBytes == 0)
    talker.receive("IAC SE 'b' IAC SB 201 'C' IAC SE")
    #expect(
      talker.happenings == [
        .event(.gmcpAgreed), .text("a"), .event(.dropped(.letGo)), .text("b"), .gmcp("C", nil),
      ])
    // Where none is open, nothing goes.
    talker.engine.letGoOfSubnegotiation()
    talker.receive("IAC SB 201 'D' IAC SE")
    #expect(talker.happenings.last == .gmcp("D", nil) && talker.engine.heldBytes == 0)
  }

  /// Questions of the game are no events: nobody misses them. Nor does one that is broken off.
  @Test func onlyEventsAreMissed() {
    let talker = Talker()
    talker.receive("IAC DO 39 IAC WILL 201 IAC SB 39 1 0 'A'")
    _ = talker.takeOutput()
    talker.happenings = []
    talker.engine.letGoOfSubnegotiation()
    talker.receive("'B' IAC SE")
    #expect(talker.happenings == [.event(.dropped(.tooLong))] && talker.output.isEmpty)
    talker.receive("IAC SB 201 'A'")
    talker.engine.letGoOfSubnegotiation()
    talker.receive("IAC NOP IAC SB 6 'A' IAC SE")
    #expect(talker.happenings.suffix(1) == [.event(.dropped(.interrupted))])
  }

  /// At each byte of one: what goes is all of it, and nothing else.
  @Test func whatIsOpenCanBeLetGoAnywhere() {
    let said = wire("'a' IAC SB 201 'Char x' IAC IAC 'y' IAC SE 'b'")
    for cut in 0...said.count {
      let talker = Talker()
      talker.receive("IAC WILL 201")
      talker.receive(Array(said[..<cut]))
      let isOpen = talker.engine.openBytes > 0
      talker.engine.letGoOfSubnegotiation()
      talker.receive(Array(said[cut...]))
      let middle: Happening = isOpen ? .event(.dropped(.letGo)) : .gmcp("Char", "\"x\u{FFFD}y\"")
      #expect(talker.happenings == [.event(.gmcpAgreed), .text("a"), middle, .text("b")], "cut at \(cut)")
    }
  }

  /// Control characters need six bytes each.
  @Test func howLargeAnEventMayBe() {
    let limit = TelnetEngine.eventLimit
    // A text of six for each, one for some, and two quotes.
    for (count, isGood) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
      let controls = (count - 2) / 6
      let text = String(repeating: "\u{07}", count: controls) + String(repeating: "x", count: (count - 2) % 6)
      let talk = Conversation([wire("IAC SB 201 'A \(text)' IAC SE")], after: wire("IAC WILL 201"))
      let json =
        "\"" + String(repeating: "\\u0007", count: controls) + String(repeating: "x", count: (count - 2) % 6)
        + "\""
      #expect(talk.happenings == [isGood ? .gmcp("A", json) : .event(.dropped(.eventTooLarge))], "\(count)")
    }
    // The same of MSDP and MSSP, whose object takes 7 more.
    for (count, isGood) in [(limit - 1, true), (limit, true), (limit + 1, false)] {
      let controls = (count - 8) / 6
      let rest = String(repeating: "x", count: (count - 8) % 6)
      let text = String(repeating: "\u{07}", count: controls) + rest
      let json = #"{"A":""# + String(repeating: "\\u0007", count: controls) + rest + "\"}"
      for (option, event) in [(69, Happening.msdp(json)), (70, .mssp(json))] {
        let talk = Conversation(
          [wire("IAC SB \(option) 1 'A' 2 '\(text)' IAC SE")], after: wire("IAC WILL \(option)"))
        #expect(talk.happenings == [isGood ? event : .event(.dropped(.eventTooLarge))], "\(count)")
      }
    }
  }

  /// RFC 855 leaves open what a command within a subnegotiation means: here it ends it, and is read.
  @Test(arguments: ["NOP", "GA", "DO 6", "SB 201 'B' IAC SE", "65"])
  func aCommandWithinDropsWhatItIsIn(command: String) {
    let talk = Conversation.everyWay(
      wire("IAC SB 201 'A' IAC \(command) 'text' IAC SB 201 'C' IAC SE"), after: wire("IAC WILL 201"))
    let after: [Happening] =
      switch command {
      case "GA": [.event(.prompt)]
      case "SB 201 'B' IAC SE": [.gmcp("B", nil)]
      default: []
      }
    #expect(
      talk.happenings == [.event(.dropped(.interrupted))] + after + [.text("text"), .gmcp("C", nil)])
    #expect(talk.output == (command == "DO 6" ? wire("IAC WONT 6") : []))
  }

  // MARK: What a session remembers

  @Test func theStateIsSmall() {
    #expect(MemoryLayout<TelnetState>.size <= 88)
  }

  /// A session that is taken up elsewhere goes on where it was, but for an open subnegotiation.
  @Test func aStateIsTakenUpAnywhere() {
    let said = wire(
      """
      'a' IAC WILL 201 IAC DO 24 IAC SB 24 1 IAC SE CR NUL 'b' IAC DO 24 IAC DO 24 IAC SB 24 1 IAC SE IAC WILL 1 IAC IAC
      IAC GA IAC WONT 1 IAC DO 6 IAC DO 24 IAC DO 24 IAC DO 24
      """)
    let whole = Talker()
    whole.receive(said)
    for cut in 0...said.count {
      let first = Talker()
      first.receive(Array(said[..<cut]))
      let isInside = first.engine.state.place == .body || first.engine.state.place == .bodyCommand
      let second = Talker(state: first.engine.state)
      second.receive(Array(said[cut...]))
      if isInside { continue }
      #expect(first.output + second.output == whole.output, "cut at \(cut)")
      #expect(second.engine.state == whole.engine.state, "cut at \(cut)")
    }
  }

  @Test func anOpenSubnegotiationIsDroppedUpToItsEnd() {
    for cut in ["IAC SB", "IAC SB 201", "IAC SB 201 'A'", "IAC SB 201 'A' IAC"] {
      let first = Talker()
      first.receive("IAC WILL 201 \(cut)")
      let second = Talker(state: first.engine.state)
      second.receive(cut.hasSuffix("'A' IAC") ? "IAC 'B' IAC SE 'text'" : "200 'B' IAC SE 'text'")
      #expect(second.happenings == [.text("text")], "\(cut)")
      second.receive("IAC SB 201 'C' IAC SE")
      #expect(second.happenings == [.text("text"), .gmcp("C", nil)])
    }
  }

  @Test func descriptionsKnowTheirSize() {
    #expect(ClientDescription().keptBytes <= 16)
    let app = client(name: "abc", version: "de", terminal: "f", gmcp: ["Char 1", "R"])
    #expect(app.keptBytes == ClientDescription().keptBytes + 6 + 7 + 2)
    #expect(ClientText(Array("x".utf8)) != nil && ClientText([UInt8](repeating: 0x20, count: 40)) != nil)
    #expect(ClientText([]) == nil && ClientText([UInt8](repeating: 0x20, count: 41)) == nil)
    for byte: UInt8 in [0, 0x1F, 0x7F, 0x80, 0xFF] { #expect(ClientText([byte]) == nil) }
    for byte: UInt8 in [0x20, 0x7E] { #expect(ClientText([byte]) != nil) }
  }
}

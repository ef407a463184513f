import Testing

@testable import TelnetWire

/// RFC 855 and RFC 1143: who agrees to what, and that two who answer everything come to an end.
@Suite struct NegotiationTests {
  private static let ofGame: Set<UInt8> = [1, 25, 42, 69, 70, 201]
  private static let ofGate: Set<UInt8> = [24, 31, 39, 42, 69, 201]

  /// All 256, so that nothing is agreed to by accident.
  @Test func whatIsAgreedTo() {
    for option in UInt8.min...255 {
      let will = Conversation.everyWay([255, 251, option])
      #expect(
        will.output.starts(with: [255, Self.ofGame.contains(option) ? 253 : 254, option]), "WILL \(option)")
      let `do` = Conversation.everyWay([255, 253, option])
      #expect(
        `do`.output.starts(with: [255, Self.ofGate.contains(option) ? 251 : 252, option]), "DO \(option)")
    }
  }

  @Test func whatSettingsChange() {
    let open = settings(goAhead: true, compression: true)
    #expect(
      Conversation([wire("IAC WILL 3 IAC DO 3 IAC WILL 86 IAC DO 86")], open).output
        == wire("IAC DO 3 IAC WILL 3 IAC DO 86 IAC WONT 86"))
    let terminal = settings(structured: false)
    let talk = Conversation(
      [wire("IAC WILL 201 IAC DO 201 IAC WILL 69 IAC DO 69 IAC WILL 70 IAC SB 201 'A' IAC SE")], terminal)
    #expect(talk.output == wire("IAC DONT 201 IAC WONT 201 IAC DONT 69 IAC WONT 69 IAC DONT 70"))
    #expect(talk.happenings.isEmpty)
  }

  @Test func refusalsOfWhatIsOffAreNotAnswered() {
    for option in UInt8.min...255 {
      let talk = Conversation([[255, 252, option, 255, 254, option]])
      #expect(talk.output.isEmpty && talk.happenings.isEmpty)
    }
  }

  @Test func whatIsOnCanBeTurnedOff() {
    for option in Self.ofGame {
      let on: [UInt8] = [255, 251, option]
      let talk = Conversation.everyWay([255, 252, option, 255, 252, option], after: on)
      #expect(talk.output == [255, 254, option])
      #expect(talk.state.ofGame == TelnetOptionSet())
      #expect(talk.happenings == (option == 1 ? [.event(.echo(false))] : []))
    }
    for option in Self.ofGate {
      let talk = Conversation.everyWay([255, 254, option, 255, 254, option], after: [255, 253, option])
      #expect(talk.output == [255, 252, option])
      #expect(talk.state.ofGate == TelnetOptionSet())
    }
  }

  /// Also what waits for the app, who then comes too late.
  @Test func whatIsTurnedOffIsNotAnsweredLater() {
    let talker = Talker(client: nil)
    talker.receive("IAC DO 24 IAC SB 24 1 IAC SE IAC DO 39 IAC SB 39 1 IAC SE IAC WILL 201 IAC DO 201")
    talker.receive("IAC DONT 24 IAC DONT 39 IAC WONT 201 IAC DONT 201")
    _ = talker.takeOutput()
    talker.engine.update(ClientDescription(), into: &talker.output)
    #expect(talker.output.isEmpty)
  }

  /// Each time, and in its place: a game waits for the answer to TIMING-MARK as a sign that it was heard. 85 is MCCP1, whose
  /// subnegotiation is no telnet.
  @Test func whatIsNotWantedIsRefusedEachTime() {
    let talk = Conversation.everyWay(
      wire("IAC DO 6 IAC DO 24 IAC DO 6 IAC WILL 6 IAC DO 6 IAC WILL 91 IAC WILL 91 IAC DO 34 IAC WILL 85"))
    #expect(
      talk.output
        == wire(
          "IAC WONT 6 IAC WILL 24 IAC WONT 6 IAC DONT 6 IAC WONT 6 IAC DONT 91 IAC DONT 91 IAC WONT 34 IAC DONT 85"
        )
    )
  }

  // MARK: Asked again

  @Test func whatBelongsToItComesAgain() {
    let app = client(name: "App", version: "2", size: (80, 24), gmcp: ["Char 1"])
    let talker = Talker(client: app)
    let hello = wire(
      """
      IAC DO 201 IAC SB 201 'Core.Hello {"client":"App","version":"2"}' IAC SE
      IAC SB 201 'Core.Supports.Set ["Char 1"]' IAC SE
      """)
    for _ in 0..<2 {
      talker.receive(
        "IAC WILL 201 IAC DO 31 IAC DO 24 IAC SB 24 1 IAC SE IAC SB 24 1 IAC SE IAC WILL 69 IAC WILL 1")
      #expect(
        talker.takeOutput()
          == hello
          + wire(
            """
            IAC WILL 31 IAC SB 31 0 80 0 24 IAC SE IAC WILL 24 IAC SB 24 0 'App' IAC SE
            IAC SB 24 0 'XTERM-256COLOR' IAC SE IAC DO 69 IAC DO 1
            """))
    }
    #expect(
      talker.happenings == [
        .event(.gmcpAgreed), .event(.msdpAgreed), .event(.echo(true)), .event(.gmcpAgreed),
        .event(.msdpAgreed),
      ])
  }

  /// DO GMCP is meant as WILL GMCP; a game that says both gets one hello.
  @Test func bothSidesAreOneAgreement() {
    let hello = wire(#"IAC SB 201 'Core.Hello {"client":"PORTCULLIS","version":""}' IAC SE"#)
    let talk = Conversation.everyWay(
      wire("IAC DO 201 IAC WILL 201 IAC WONT 201 IAC SB 201 'A' IAC SE IAC DO 69 IAC WILL 69"))
    #expect(
      talk.output == wire("IAC WILL 201") + hello + wire("IAC DO 201 IAC DONT 201 IAC WILL 69 IAC DO 69"))
    #expect(talk.happenings == [.event(.gmcpAgreed), .gmcp("A", nil), .event(.msdpAgreed)])
  }

  // MARK: Peers that always answer

  /// Each says the same back, and more of it as time goes on.
  @Test func anEchoComesToAnEnd() {
    for verb in UInt8(251)...254 {
      for option in UInt8.min...254 {
        let talker = Talker(client: client(size: (80, 24), gmcp: ["Char 1"]))
        var said: [UInt8] = [255, verb, option]
        var rounds = 0
        while !said.isEmpty, rounds < 100 {
          talker.receive(said)
          said = talker.takeOutput()
          rounds += 1
        }
        #expect(rounds < 20, "\(verb) \(option)")
      }
    }
  }

  /// A peer that agrees to everything, and answers whatever is said to it.
  @Test func oneThatAgreesToEverythingComesToAnEnd() {
    let answers: [UInt8: UInt8] = [251: 253, 252: 254, 253: 251, 254: 252]
    for option in UInt8.min...254 {
      let talker = Talker()
      var said = wire("IAC WILL") + [option] + wire("IAC DO") + [option]
      var rounds = 0
      while !said.isEmpty, rounds < 100 {
        talker.receive(said)
        let heard = talker.takeOutput()
        said = []
        for index in heard.indices.dropFirst(2) where heard[index - 2] == 255 {
          if let answer = answers[heard[index - 1]] { said += [255, answer, heard[index]] }
        }
        rounds += 1
      }
      #expect(rounds < 20, "\(option)")
    }
  }

  /// Two gates that face each other, in whatever way one of them is started.
  @Test func twoOfUsComeToAnEnd() {
    for verb in UInt8(251)...254 {
      for option in UInt8.min...254 {
        let one = Talker(settings(goAhead: true, compression: true))
        let other = Talker(settings(goAhead: true, compression: true))
        one.receive([255, verb, option])
        var rounds = 0
        while !one.output.isEmpty || !other.output.isEmpty, rounds < 100 {
          other.receive(one.takeOutput())
          one.receive(other.takeOutput())
          rounds += 1
        }
        #expect(rounds < 20, "\(verb) \(option)")
      }
    }
  }
}

import Testing

@testable import TelnetWire

/// What games say that are there, as it was recorded on loopback.
@Suite struct GameTests {
  /// Evennia 6.1 begins with all this at once, asks for the terminal three times, and marks each message with GA.
  @Test func evennia() {
    let app = client(name: "App", version: "1.0", size: (80, 24), gmcp: ["Char 1"])
    let said = wire(
      """
      IAC DO 34 IAC WILL 3 IAC DO 31 IAC DO 24 IAC WILL 86 IAC WILL 70 IAC WILL 69 IAC WILL 201 IAC WILL 91
      IAC SB 24 1 IAC SE IAC SB 24 1 IAC SE IAC SB 24 1 IAC SE
      IAC SB 70 1 'NAME' 2 'Mygame' 1 'HOSTNAME' 2 1 'UPTIME' 2 '1795250240.5' IAC SE
      IAC SB 69 1 'logged_in' 2 IAC SE IAC SB 201 'Logged.In' IAC SE
      IAC SB 69 1 'client_options' 2 3 1 'SCREENWIDTH' 2 '{0: 78}' 1 'ANSI' 2 'True' 4 IAC SE
      IAC SB 201 'Core.Supports.Get {"ANSI": true, "SCREENWIDTH": {"0": 78}}' IAC SE
      'Welcome' 27 '[0m' CR LF IAC GA IAC NOP
      """)
    let talk = Conversation.everyWay(said, client: app)
    #expect(
      talk.output
        == wire(
          """
          IAC WONT 34 IAC DONT 3 IAC WILL 31 IAC SB 31 0 80 0 24 IAC SE IAC WILL 24 IAC DONT 86 IAC DO 70 IAC DO 69
          IAC DO 201 IAC SB 201 'Core.Hello {"client":"App","version":"1.0"}' IAC SE
          IAC SB 201 'Core.Supports.Set ["Char 1"]' IAC SE IAC DONT 91
          IAC SB 24 0 'App' IAC SE IAC SB 24 0 'XTERM-256COLOR' IAC SE IAC SB 24 0 'MTTS 2701' IAC SE
          """))
    #expect(
      talk.happenings == [
        .event(.msdpAgreed), .event(.gmcpAgreed),
        .mssp(#"{"NAME":"Mygame","HOSTNAME":"","UPTIME":"1795250240.5"}"#),
        .msdp(#"{"logged_in":""}"#), .gmcp("Logged.In", nil),
        .msdp(#"{"client_options":{"SCREENWIDTH":"{0: 78}","ANSI":"True"}}"#),
        .gmcp("Core.Supports.Get", #"{"ANSI": true, "SCREENWIDTH": {"0": 78}}"#),
        .text("Welcome\u{1B}[0m\r\n"), .event(.prompt),
      ])
  }
}

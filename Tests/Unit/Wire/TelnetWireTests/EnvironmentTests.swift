import Testing

@testable import TelnetWire

/// NEW-ENVIRON (RFC 1572) and the variables of MNES. VAR is 0, VALUE 1, ESC 2, USERVAR 3; IS 0, SEND 1, INFO 2.
@Suite struct EnvironmentTests {
  private static let known = settings(address: "192.0.2.1", device: "AAECAwQFBgcICQoLDA0ODw")

  private func asked(
    _ names: String, _ settings: TelnetSettings = known, client: ClientDescription = client()
  ) -> [UInt8] {
    Conversation.everyWay(
      wire("IAC SB 39 1 \(names) IAC SE"), settings, client: client, after: wire("IAC DO 39")
    ).output
  }

  @Test func oneByOne() {
    let app = client(name: "App", version: "1.2", terminal: "ANSI")
    for (name, value) in [
      ("IPADDRESS", "192.0.2.1"), ("CLIENT_NAME", "App"), ("CLIENT_VERSION", "1.2"),
      ("TERMINAL_TYPE", "ANSI"),
      ("MTTS", "2701"), ("CHARSET", "UTF-8"), ("CLIENT_STATE", "attached"),
    ] {
      #expect(asked("0 '\(name)'", client: app) == wire("IAC SB 39 0 0 '\(name)' 1 '\(value)' IAC SE"))
      #expect(asked("3 '\(name)'", client: app) == wire("IAC SB 39 0 3 '\(name)' IAC SE"))
    }
    let device = "AAECAwQFBgcICQoLDA0ODw"
    #expect(
      asked("3 'PORTCULLIS_DEVICE'") == wire("IAC SB 39 0 3 'PORTCULLIS_DEVICE' 1 '\(device)' IAC SE"))
    #expect(asked("0 'PORTCULLIS_DEVICE'") == wire("IAC SB 39 0 0 'PORTCULLIS_DEVICE' IAC SE"))
  }

  @Test func inTheOrderOfTheQuestion() {
    #expect(
      asked("0 'MTTS' 0 'USER' 3 'x' 0 'CLIENT_NAME' 0 'MTTS'")
        == wire(
          "IAC SB 39 0 0 'MTTS' 1 '2701' 0 'USER' 3 'x' 0 'CLIENT_NAME' 1 'PORTCULLIS' 0 'MTTS' 1 '2701' IAC SE"
        ))
  }

  private static let variables =
    """
    0 'IPADDRESS' 1 '192.0.2.1' 0 'CLIENT_NAME' 1 'PORTCULLIS' 0 'TERMINAL_TYPE' 1 'XTERM-256COLOR'
    0 'MTTS' 1 '2701' 0 'CHARSET' 1 'UTF-8' 0 'CLIENT_STATE' 1 'attached'
    """
  private static let device = "3 'PORTCULLIS_DEVICE' 1 'AAECAwQFBgcICQoLDA0ODw'"

  @Test func allOfThem() {
    #expect(asked("") == wire("IAC SB 39 0 \(Self.variables) \(Self.device) IAC SE"))
    #expect(asked("0 3") == wire("IAC SB 39 0 \(Self.variables) \(Self.device) IAC SE"))
    #expect(asked("3") == wire("IAC SB 39 0 \(Self.device) IAC SE"))
    #expect(asked("3 0 'X'") == wire("IAC SB 39 0 \(Self.device) 0 'X' IAC SE"))
  }

  @Test func whatIsNotKnownHasNoValue() {
    let bare = settings()
    #expect(
      asked("0 'IPADDRESS' 0 'CLIENT_VERSION' 3 'PORTCULLIS_DEVICE'", bare)
        == wire("IAC SB 39 0 0 'IPADDRESS' 0 'CLIENT_VERSION' 3 'PORTCULLIS_DEVICE' IAC SE"))
    #expect(asked("3", bare) == wire("IAC SB 39 0 IAC SE"))
  }

  /// Bytes that would be taken for structure come and go with ESC; 255 is doubled as everywhere.
  @Test func escapes() {
    #expect(
      asked("0 'a' 2 0 'b' 2 1 2 2 2 3 'c'") == wire("IAC SB 39 0 0 'a' 2 0 'b' 2 1 2 2 2 3 'c' IAC SE"))
    #expect(asked("0 'a' 255 255 'b'") == wire("IAC SB 39 0 0 'a' 255 255 'b' IAC SE"))
    #expect(asked("0 'MT' 2 'TS'") == wire("IAC SB 39 0 0 'MTTS' 1 '2701' IAC SE"))
    #expect(asked("0 'a' 2") == wire("IAC SB 39 0 0 'a' IAC SE"))
    // Values do not belong into a question.
    #expect(asked("'x' 0 'a' 1 'b' 0 'c'") == wire("IAC SB 39 0 0 'a' 0 'c' IAC SE"))
  }

  @Test func howManyNamesAreAnswered() {
    let names = (0..<64).map { "0 'N\($0)'" }.joined(separator: " ")
    #expect(asked(names) == wire("IAC SB 39 0 \(names) IAC SE"))
    #expect(asked(names + " 0 'MTTS'") == wire("IAC SB 39 0 \(names) IAC SE"))
  }

  @Test func questionsWaitForTheApp() {
    let talker = Talker(Self.known, client: nil)
    talker.receive("IAC DO 39 IAC SB 39 1 0 'CLIENT_NAME' IAC SE IAC SB 39 1 IAC SE")
    #expect(talker.takeOutput() == wire("IAC WILL 39"))
    talker.engine.update(client(), into: &talker.output)
    #expect(
      talker.takeOutput()
        == wire("IAC SB 39 0 0 'CLIENT_NAME' 1 'PORTCULLIS' \(Self.variables) \(Self.device) IAC SE"))
    talker.engine.update(client(), into: &talker.output)
    #expect(talker.takeOutput().isEmpty)
  }

  @Test func whatWaitsIsBounded() {
    let talker = Talker(client: nil)
    talker.receive("IAC DO 39")
    for _ in 0..<3 {
      talker.receive(wire("IAC SB 39 1 0") + [UInt8](repeating: 0x41, count: 65_000) + wire("IAC SE"))
    }
    _ = talker.takeOutput()
    talker.engine.update(client(), into: &talker.output)
    #expect(talker.takeOutput().count == 65_000 + 7)
  }

  // MARK: INFO

  @Test func changesAreTold() {
    let talker = Talker(Self.known)
    talker.receive("IAC DO 39")
    _ = talker.takeOutput()
    talker.engine.link(isAttached: false, into: &talker.output)
    talker.engine.link(isAttached: false, into: &talker.output)
    #expect(talker.takeOutput() == wire("IAC SB 39 2 0 'CLIENT_STATE' 1 'detached' IAC SE"))
    talker.engine.update(client(name: "App", trueColor: true), into: &talker.output)
    #expect(
      talker.takeOutput()
        == wire(
          """
          IAC SB 39 2 0 'CLIENT_NAME' 1 'App' 0 'TERMINAL_TYPE' 1 'XTERM-TRUECOLOR' 0 'MTTS' 1 '2957' IAC SE
          """))
    talker.engine.update(client(name: "App", trueColor: true), into: &talker.output)
    #expect(talker.takeOutput().isEmpty)
    talker.engine.link(isAttached: true, into: &talker.output)
    #expect(talker.takeOutput() == wire("IAC SB 39 2 0 'CLIENT_STATE' 1 'attached' IAC SE"))
    talker.engine.link(isAttached: true, address: Array("2001:db8::2".utf8), into: &talker.output)
    #expect(talker.takeOutput() == wire("IAC SB 39 2 0 'IPADDRESS' 1 '2001:db8::2' IAC SE"))
    talker.engine.link(isAttached: true, address: Array("2001:db8::2".utf8), into: &talker.output)
    #expect(talker.takeOutput().isEmpty)
    talker.receive("IAC WILL 42 IAC SB 42 1 ';ISO-8859-1' IAC SE")
    #expect(
      talker.takeOutput()
        == wire(
          """
          IAC DO 42 IAC SB 42 2 'ISO-8859-1' IAC SE
          IAC SB 39 2 0 'MTTS' 1 '2953' 0 'CHARSET' 1 'ISO-8859-1' IAC SE
          """))
  }

  @Test func nothingIsToldWhileTheOptionIsOff() {
    let talker = Talker(Self.known)
    talker.engine.link(isAttached: false, into: &talker.output)
    talker.engine.update(client(name: "App"), into: &talker.output)
    #expect(talker.output.isEmpty)
    talker.receive("IAC DO 39 IAC DONT 39")
    _ = talker.takeOutput()
    talker.engine.link(isAttached: true, into: &talker.output)
    #expect(talker.output.isEmpty)
  }
}

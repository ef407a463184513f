import Testing

@testable import TelnetWire

/// What an app types, on its way to the game.
@Suite struct TypingTests {
  @Test(arguments: [
    ("'look' LF", "'look' CR LF"),
    ("'look' CR LF", "'look' CR LF"),
    ("'look' CR", "'look' CR LF"),
    ("'a' CR 'b' LF 'c'", "'a' CR LF 'b' CR LF 'c'"),
    ("LF CR", "CR LF CR LF"),
    ("CR CR LF LF", "CR LF CR LF CR LF"),
    ("CR LF LF", "CR LF CR LF"),
    ("'a' NUL 'b' NUL", "'ab'"),
    ("CR NUL LF", "CR LF"),
    ("CR NUL 'a'", "CR LF 'a'"),
    ("255", "IAC IAC"),
    ("'0123456789' 255 255 'abcdefgh' 255 CR", "'0123456789' IAC IAC IAC IAC 'abcdefgh' IAC IAC CR LF"),
    ("CR 255 LF", "CR LF IAC IAC CR LF"),
    ("", ""),
  ])
  func typed(text: String, sent: String) {
    let bytes = wire(text)
    for cut in 0...bytes.count {
      let talker = Talker()
      talker.type(Array(bytes[..<cut]))
      talker.type(Array(bytes[cut...]))
      #expect(talker.output == wire(sent), "cut at \(cut)")
    }
  }

  @Test func aLineEndIsAddedOnlyWhereThereIsNone() {
    for (text, sent) in [
      ("look", "look\r\n"), ("", "\r\n"), ("a\n", "a\r\n"), ("a\r", "a\r\n"), ("a\r\n", "a\r\n"),
    ] {
      let talker = Talker()
      talker.type(text, endsLine: true)
      #expect(talker.output == Array(sent.utf8), "\(text)")
    }
    // What is left out is not there.
    for text in ["a\n\0", "a\r\0\0", "a\0"] {
      let talker = Talker()
      talker.type(text, endsLine: true)
      #expect(talker.output == Array("a\r\n".utf8))
    }
    // The LF of a CR in the message before is no line of its own, and needs none.
    let talker = Talker()
    talker.type("a\r", endsLine: true)
    talker.type("\n", endsLine: true)
    talker.type("b", endsLine: true)
    #expect(talker.output == Array("a\r\nb\r\n".utf8))
  }

  @Test func anAddedLineEndTakesNoLineFeedToItself() {
    let talker = Talker()
    talker.type("a", endsLine: true)
    talker.type("\n")
    #expect(talker.output == Array("a\r\n\r\n".utf8))
  }

  @Test func keepAliveIsNOP() {
    let talker = Talker()
    talker.engine.keepAlive(into: &talker.output)
    #expect(talker.output == wire("IAC NOP"))
  }
}

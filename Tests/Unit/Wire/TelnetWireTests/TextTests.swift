import Testing

@testable import TelnetWire

/// RFC 854: data, and the commands between it.
@Suite struct TextTests {
  @Test(arguments: [
    ("'Hello' CR LF", "'Hello' CR LF"),
    ("'a' CR NUL 'b'", "'a' CR 'b'"),
    ("CR NUL", "CR"),
    ("NUL 'a' NUL NUL 'b'", "NUL 'a' NUL NUL 'b'"),
    ("CR NUL NUL 'b'", "CR NUL 'b'"),
    ("CR CR NUL LF NUL", "CR CR LF NUL"),
    // A command in between changes nothing.
    ("CR IAC NOP NUL 'x'", "CR 'x'"),
    ("CR IAC IAC NUL", "CR 255 NUL"),
    ("IAC IAC", "255"),
    ("'a' IAC IAC IAC IAC 'b' IAC IAC", "'a' 255 255 'b' 255"),
    (
      "'12345678' IAC IAC '12345678' NUL '1234567' CR NUL '1'",
      "'12345678' 255 '12345678' NUL '1234567' CR '1'"
    ),
    // What has no effect here, known or not.
    ("'a' IAC NOP IAC AYT IAC DM IAC SE IAC 0 IAC 238 IAC 243 IAC 244 IAC 245 IAC 247 IAC 248 'b'", "'ab'"),
    ("'a' IAC 65 'b'", "'ab'"),
  ])
  func text(said: String, read: String) {
    let talk = Conversation.everyWay(wire(said))
    #expect(talk.happenings == [.text(wire(read))])
    #expect(talk.output.isEmpty)
  }

  @Test func promptsStandBehindTheirText() {
    let talk = Conversation.everyWay(wire("'> ' IAC GA 'x' IAC EOR IAC GA"))
    #expect(talk.happenings == [.text("> "), .event(.prompt), .text("x"), .event(.prompt), .event(.prompt)])
  }

  @Test func unfinishedCommandsWait() {
    for words in ["IAC", "IAC WILL", "IAC DO", "IAC SB", "IAC SB 201", "IAC SB 201 'a' IAC", "IAC SB IAC"] {
      let talk = Conversation.everyWay(wire(words))
      #expect(talk.happenings.isEmpty && talk.output.isEmpty, "\(words)")
      #expect(talk.state.place != .data, "\(words)")
    }
  }

  /// All of it, so that each byte stands in each place of a word of eight.
  @Test func everyByteInEveryPlace() {
    for byte in UInt8.min...254 {
      for lead in 0...17 {
        let bytes = [UInt8](repeating: 0x41, count: lead) + [byte] + [UInt8](repeating: 0x42, count: 17)
        #expect(Conversation([bytes]).happenings == [.text(bytes)])
      }
    }
  }

  /// Bytes that differ from those which mean something in their lowest bit, where a borrow could go astray.
  @Test func neighboursOfWhatMeansSomething() {
    for pair: [UInt8] in [[0, 1], [1, 0], [254, 1], [255, 255, 254], [255, 255, 0, 1], [128, 127, 0]] {
      for lead in 0...9 {
        let bytes = [UInt8](repeating: 1, count: lead) + pair + [UInt8](repeating: 0x80, count: 9)
        let plain =
          [UInt8](repeating: 1, count: lead) + (pair[0] == 255 ? pair.dropFirst() : pair[...])
          + [UInt8](repeating: 0x80, count: 9)
        #expect(Conversation([bytes]).happenings == [.text(plain)])
      }
    }
  }
}

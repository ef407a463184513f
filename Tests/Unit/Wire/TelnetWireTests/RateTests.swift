import System
import Testing
import Time

@testable import TelnetWire

/// How often a game is answered: again for what is on, and in a second altogether.
@Suite struct RateTests {
  // MARK: Asked again

  @Test func whatIsOnIsAgreedToAgainFourTimesAMinute() {
    let talker = Talker()
    talker.receive("IAC DO 24")
    #expect(talker.takeOutput() == wire("IAC WILL 24"))
    for _ in 0..<4 {
      talker.receive("IAC DO 24")
      #expect(talker.takeOutput() == wire("IAC WILL 24"))
    }
    for _ in 0..<10 {
      talker.receive("IAC DO 24")
      talker.pass(.seconds(5))
      #expect(talker.takeOutput().isEmpty)
    }
    // Other options have a count of their own.
    talker.receive("IAC DO 39 IAC DO 39")
    #expect(talker.takeOutput() == wire("IAC WILL 39 IAC WILL 39"))
    talker.pass(.seconds(9))
    talker.receive("IAC DO 24")
    #expect(talker.takeOutput().isEmpty)
    talker.pass(.seconds(2))
    talker.receive("IAC DO 24")
    #expect(talker.takeOutput() == wire("IAC WILL 24"))
  }

  /// However a game spreads its questions, no minute has a fifth answer.
  @Test(arguments: [1, 7, 13, 15, 16, 19, 21, 30, 59, 61]) func noMinuteHasFive(seconds: Int) {
    let talker = Talker()
    talker.receive("IAC DO 24")
    _ = talker.takeOutput()
    var times: [UInt64] = []
    for _ in 0..<400 {
      talker.pass(.seconds(seconds))
      talker.receive("IAC DO 24")
      if !talker.takeOutput().isEmpty { times.append(talker.clock.nanoseconds / 1_000_000_000) }
    }
    #expect(times.count >= 4)
    for index in times.indices.dropFirst(4) { #expect(times[index] - times[index - 4] >= 60) }
    if seconds > 60 { #expect(times.count == 400) }
  }

  // MARK: Answers in a second

  @Test func sixtyFourAnswersASecond() {
    let talker = Talker()
    let question = wire("IAC DO 6")
    talker.receive([UInt8](repeatElement(question, count: 64).joined()))
    #expect(talker.waits == 0 && talker.output.count == 64 * 3)
    talker.receive("'text' IAC NOP IAC GA")
    #expect(talker.waits == 0)

    var position = 0
    let again = (question + wire("'x'"))
    var output: [UInt8] = []
    let end = talker.clock + .seconds(1)
    for _ in 0..<3 {
      let event = talker.engine.next(again.span, position: &position, now: talker.clock, into: &output)
      #expect(event == .waits(until: end))
      #expect(position == 2 && output.isEmpty)
    }
    let late = talker.engine.next(again.span, position: &position, now: end, into: &output)
    #expect(output == wire("IAC WONT 6") && position == again.count)
    guard case .text = late else { return #expect(Bool(false), "\(late)") }
  }

  /// However a game spreads its questions, no second has more answers than that.
  @Test(arguments: [1, 3, 10, 63, 64, 65, 130, 500, 990, 1010]) func noSecondHasMore(milliseconds: Int) {
    let talker = Talker()
    var times: [UInt64] = []
    var waits = 0
    for _ in 0..<600 {
      var position = 0
      let question = wire("IAC DO 6")
      var output: [UInt8] = []
      while position < question.count {
        let event = talker.engine.next(question.span, position: &position, now: talker.clock, into: &output)
        if case .waits(let until) = event {
          waits += 1
          #expect(until > talker.clock && until <= talker.clock + .seconds(1))
          talker.clock = until
        }
      }
      #expect(output == wire("IAC WONT 6"))
      times.append(talker.clock.nanoseconds)
      // Some come in one breath.
      if times.count % 40 == 0 { talker.pass(.milliseconds(milliseconds)) }
    }
    for index in times.indices.dropFirst(64) { #expect(times[index] - times[index - 64] >= 1_000_000_000) }
    #expect((waits > 0) == (milliseconds < 1000))
  }

  /// What is answered within subnegotiations counts as well, and what is turned off.
  @Test func allAnswersCount() {
    for words in [
      "IAC SB 24 1 IAC SE", "IAC SB 39 1 IAC SE", "IAC SB 42 1 ';X' IAC SE", "IAC DO 99", "IAC WILL 99",
    ] {
      let talker = Talker()
      talker.receive("IAC DO 24 IAC DO 39 IAC DO 42")
      talker.receive([UInt8](repeatElement(wire(words), count: 61).joined()))
      #expect(talker.waits == 0, "\(words)")
      talker.receive(words)
      #expect(talker.waits == 1, "\(words)")
    }
    let talker = Talker()
    for _ in 0..<32 { talker.receive("IAC WILL 1 IAC WONT 1") }
    #expect(talker.waits == 0)
    talker.receive("IAC WONT 1 IAC WILL 1")
    #expect(talker.waits == 1)
  }

  @Test func aFloodIsReadInOneStretchPerSecond() {
    let talker = Talker()
    let before = talker.clock
    talker.receive([UInt8](repeatElement(wire("IAC WILL 99 IAC DO 98"), count: 3200).joined()))
    #expect(talker.output.count == 6400 * 3)
    #expect(talker.clock - before == .seconds(99) && talker.waits == 99)
  }
}

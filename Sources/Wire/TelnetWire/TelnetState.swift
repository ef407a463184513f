/// What a session's telnet has to remember between two bytes, as a small plain value.
package import Time

package struct TelnetState: Equatable, Sendable {
  /// What the next byte of the game is part of.
  package enum Place: UInt8, Sendable {
    case data
    /// Behind an IAC.
    case command
    /// Behind WILL, WONT, DO, DONT.
    case will, wont, `do`, dont
    /// Behind SB; the option is the first byte of the body.
    case body
    /// Behind an IAC in a body.
    case bodyCommand
  }

  package var place = Place.data
  /// Whether the last byte of the game's text was CR.
  package var gameSaidCR = false
  /// Whether the last byte that was typed was CR.
  package var appTypedCR = false
  package var isAttached = true
  package var isCompressed = false
  /// How many TTYPE answers have been given, up to the last different one.
  package var terminalTypeStep: UInt8 = 0
  /// TTYPE questions that wait for the app's description.
  package var terminalTypesDue: UInt8 = 0
  /// `Core.Hello` waits for it too.
  package var isHelloDue = false
  /// Options that are on: what the game does, and what the gate does.
  package var ofGame = TelnetOptionSet()
  package var ofGate = TelnetOptionSet()
  /// How long the open subnegotiation is.
  package var bodyBytes: UInt32 = 0
  /// Answers since there was none for a second, and when the last one was.
  package var answers: UInt8 = 0
  package var lastAnswer = MonotonicTime(nanoseconds: 0)
  /// For each option how often it was answered again, in the lowest three bits, and in which second it was last.
  package var repetitions = InlineArray<11, UInt32>(repeating: 0)

  package init() {}

  package static func == (left: Self, right: Self) -> Bool {
    for index in 0..<TelnetOption.count where left.repetitions[index] != right.repetitions[index] {
      return false
    }
    return left.place == right.place && left.gameSaidCR == right.gameSaidCR
      && left.appTypedCR == right.appTypedCR && left.isAttached == right.isAttached
      && left.isCompressed == right.isCompressed && left.terminalTypeStep == right.terminalTypeStep
      && left.terminalTypesDue == right.terminalTypesDue && left.isHelloDue == right.isHelloDue
      && left.ofGame == right.ofGame && left.ofGate == right.ofGate && left.bodyBytes == right.bodyBytes
      && left.answers == right.answers && left.lastAnswer == right.lastAnswer
  }
}

// MARK: Rates

extension TelnetState {
  /// Nil when another answer may be given now, else when: at most 64 in any second. A pause of a second after the last of
  /// them makes it 64 more.
  func nextAnswer(_ now: MonotonicTime) -> MonotonicTime? {
    let end = lastAnswer + Self.answersPeriod
    return answers < Self.answersLimit || now >= end ? nil : end
  }

  /// After `nextAnswer` was nil.
  mutating func countAnswer(_ now: MonotonicTime) {
    if now >= lastAnswer + Self.answersPeriod { answers = 0 }
    lastAnswer = now
    answers += 1
  }

  /// Whether `option`, which is on and asked for again, is answered again: at most four times in any minute. A pause of
  /// a minute after the last of them makes it four more.
  func mayRepeat(_ option: TelnetOption, _ now: MonotonicTime) -> Bool {
    repetitionsSoFar(option, now) < Self.repetitionsLimit
  }

  /// After `mayRepeat` was true.
  mutating func countRepetition(_ option: TelnetOption, _ now: MonotonicTime) {
    repetitions[option.index] = Self.second(now) << 3 | (repetitionsSoFar(option, now) + 1)
  }

  private func repetitionsSoFar(_ option: TelnetOption, _ now: MonotonicTime) -> UInt32 {
    let last = repetitions[option.index]
    // Seconds are whole ones, so a minute is over for sure when 61 of them lie between. The mask lets time wrap.
    let isOver = (Self.second(now) &- last >> 3) & Self.secondMask > 60
    return isOver ? 0 : last & 7
  }

  private static func second(_ now: MonotonicTime) -> UInt32 {
    UInt32(truncatingIfNeeded: now.nanoseconds / 1_000_000_000) & secondMask
  }

  private static let answersLimit: UInt8 = 64
  private static let answersPeriod = Duration.seconds(1)
  private static let repetitionsLimit: UInt32 = 4
  private static let secondMask: UInt32 = UInt32.max >> 3
}

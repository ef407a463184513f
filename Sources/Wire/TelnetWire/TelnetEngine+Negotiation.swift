/// WILL, WONT, DO and DONT (RFC 855, RFC 1143).
///
/// The gate asks for nothing of its own accord, so that of the six states which RFC 1143 §7 gives each side of an option
/// it never waits for an answer: YES and NO are left, two sets of bits. What is off and not wanted is refused each time;
/// what is on and asked for again is answered again, against §7, since games negotiate anew after a copyover, but only
/// as often as `TelnetState.mayRepeat` says, so that two who always answer come to an end.
internal import Time

extension TelnetEngine {
  mutating func negotiate(
    _ byte: UInt8, _ position: inout Int, _ now: MonotonicTime, _ output: inout [UInt8]
  ) -> TelnetEvent? {
    let isOffer = state.place == .will || state.place == .do
    let isGame = state.place == .will || state.place == .wont
    let option = TelnetOption(rawValue: byte)
    let isOn = option.map { isGame ? state.ofGame.contains($0) : state.ofGate.contains($0) } ?? false
    let isRepeated = isOffer && isOn
    // A refusal of what is off is no question, and not every repetition is answered.
    let isAnswered = isRepeated ? option.map { state.mayRepeat($0, now) } ?? false : isOffer || isOn
    if isAnswered {
      if let time = state.nextAnswer(now) { return .waits(until: time) }
      state.countAnswer(now)
    }
    position += 1
    state.place = .data
    guard isAnswered else { return nil }
    if !isOffer, let option { return turnOff(option, isGame: isGame, &output) }
    guard let option, isGame ? option.isWantedOfGame(settings) : option.isWantedOfGate(settings) else {
      TelnetWriter.command(isGame ? TelnetByte.dont : TelnetByte.wont, byte, to: &output)
      return nil
    }
    if isRepeated { state.countRepetition(option, now) }
    TelnetWriter.command(isGame ? TelnetByte.do : TelnetByte.will, byte, to: &output)
    return turnOn(option, isGame: isGame, wasOn: isOn, &output)
  }

  private mutating func turnOff(
    _ option: TelnetOption, isGame: Bool, _ output: inout [UInt8]
  ) -> TelnetEvent? {
    if isGame { state.ofGame.remove(option) } else { state.ofGate.remove(option) }
    TelnetWriter.command(isGame ? TelnetByte.dont : TelnetByte.wont, option.rawValue, to: &output)
    // What still waits for the app is not wanted any more.
    switch option {
    case .echo: return .echo(false)
    case .terminalType: state.terminalTypesDue = 0
    case .newEnvironment: environmentDue = nil
    case .gmcp: if !isGMCPAgreed { state.isHelloDue = false }
    case .suppressGoAhead, .endOfRecord, .windowSize, .charset, .msdp, .mssp, .compression: break
    }
    return nil
  }

  /// What belongs to an option that is on from now on, or was before and is agreed to anew.
  private mutating func turnOn(
    _ option: TelnetOption, isGame: Bool, wasOn: Bool, _ output: inout [UInt8]
  ) -> TelnetEvent? {
    // Both sides of GMCP or MSDP are one agreement: the second one brings nothing new.
    let isSecondSide = !wasOn && (isGame ? state.ofGate.contains(option) : state.ofGame.contains(option))
    if isGame { state.ofGame.insert(option) } else { state.ofGate.insert(option) }
    switch option {
    case .echo:
      return wasOn ? nil : .echo(true)
    case .terminalType:
      state.terminalTypeStep = 0
      return nil
    case .windowSize:
      sayWindowSize(&output)
      return nil
    case .gmcp where !isSecondSide:
      sayHello(&output)
      return .gmcpAgreed
    case .msdp where !isSecondSide:
      sayReports(&output)
      return .msdpAgreed
    case .suppressGoAhead, .endOfRecord, .newEnvironment, .charset, .msdp, .mssp, .compression, .gmcp:
      return nil
    }
  }
}

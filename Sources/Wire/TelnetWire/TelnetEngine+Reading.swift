/// The game's bytes, one after the other: text, commands, and what stands between SB and SE.
internal import Bytes
internal import Time

extension TelnetEngine {
  mutating func read(
    _ input: Span<UInt8>, _ position: inout Int, _ now: MonotonicTime, isInflated: Bool,
    _ output: inout [UInt8]
  ) -> TelnetEvent {
    while position < input.count {
      let event: TelnetEvent?
      switch state.place {
      case .data: event = readText(input, &position, isInflated)
      case .command: event = readCommand(input, &position, isInflated)
      case .will, .wont, .do, .dont: event = negotiate(input[position], &position, now, &output)
      case .body: event = readBody(input, &position)
      case .bodyCommand: event = readBodyCommand(input[position], &position, now, &output)
      }
      if let event { return event }
    }
    return .needMore
  }

  // MARK: Text

  /// `CR NUL` is CR (RFC 854); any other NUL stays.
  private mutating func readText(
    _ input: Span<UInt8>, _ position: inout Int, _ isInflated: Bool
  ) -> TelnetEvent? {
    let start = position
    var end = TelnetScan.endOfText(input, from: start)
    while end < input.count, input[end] == TelnetByte.null {
      if end > start ? input[end - 1] == TelnetByte.cr : state.gameSaidCR {
        position = end + 1
        state.gameSaidCR = false
        return end > start ? .text(TelnetText(range: start..<end, isInflated: isInflated)) : nil
      }
      end = TelnetScan.endOfText(input, from: end + 1)
    }
    position = end
    if end < input.count {
      position += 1
      if position < input.count, input[position] == TelnetByte.iac {
        // The first of the two stands for both.
        position += 1
        end += 1
      } else {
        state.place = .command
      }
    }
    guard end > start else { return nil }
    state.gameSaidCR = input[end - 1] == TelnetByte.cr
    return .text(TelnetText(range: start..<end, isInflated: isInflated))
  }

  // MARK: Commands

  private mutating func readCommand(
    _ input: Span<UInt8>, _ position: inout Int, _ isInflated: Bool
  ) -> TelnetEvent? {
    let byte = input[position]
    position += 1
    state.place = .data
    switch byte {
    case TelnetByte.iac:
      state.gameSaidCR = false
      return .text(TelnetText(range: position - 1..<position, isInflated: isInflated))
    case TelnetByte.will: state.place = .will
    case TelnetByte.wont: state.place = .wont
    case TelnetByte.do: state.place = .do
    case TelnetByte.dont: state.place = .dont
    case TelnetByte.sb:
      state.place = .body
      state.bodyBytes = 0
      hasLetGo = false
    // Also without EOR or with SGA agreed to: who sends it means it.
    case TelnetByte.ga, TelnetByte.eor: return .prompt
    // NOP, AYT, DM, SE out of place, and bytes that are no commands.
    default: break
    }
    return nil
  }

  // MARK: Subnegotiations

  private mutating func readBody(_ input: Span<UInt8>, _ position: inout Int) -> TelnetEvent? {
    let end = TelnetScan.endOfBody(input, from: position)
    appendBody(input.extracting(position..<end))
    position = end
    if end < input.count {
      position += 1
      state.place = .bodyCommand
    }
    return nil
  }

  private mutating func readBodyCommand(
    _ byte: UInt8, _ position: inout Int, _ now: MonotonicTime, _ output: inout [UInt8]
  ) -> TelnetEvent? {
    switch byte {
    case TelnetByte.iac:
      appendBody([byte].span)
      state.place = .body
      position += 1
      return nil
    case TelnetByte.se:
      return endBody(&position, now, &output)
    default:
      // It ends here, and the command is read as one.
      body = []
      state.place = .command
      return .dropped(.interrupted)
    }
  }

  private mutating func appendBody(_ bytes: Span<UInt8>) {
    guard !bytes.isEmpty else { return }
    let isWanted = state.bodyBytes == 0 ? isSubnegotiationWanted(of: bytes[0]) : !body.isEmpty
    state.bodyBytes += UInt32(clamping: min(bytes.count, Self.subnegotiationLimit + 2))
    if state.bodyBytes > Self.subnegotiationLimit + 1 {
      state.bodyBytes = UInt32(Self.subnegotiationLimit + 2)
      body = []
    } else if isWanted {
      body.append(copying: bytes)
    }
  }

  /// Whether what `option` sends is for us: only of options that are on.
  private func isSubnegotiationWanted(of option: UInt8) -> Bool {
    guard let option = TelnetOption(rawValue: option) else { return false }
    return state.ofGame.contains(option) || state.ofGate.contains(option)
  }

  private mutating func endBody(
    _ position: inout Int, _ now: MonotonicTime, _ output: inout [UInt8]
  ) -> TelnetEvent? {
    let isTooLong = state.bodyBytes > Self.subnegotiationLimit + 1
    let option = body.first.flatMap(TelnetOption.init(rawValue:))
    if let option, option.isAnsweredInside {
      if let time = state.nextAnswer(now) { return .waits(until: time) }
      state.countAnswer(now)
    }
    let content = body
    body = []
    state.place = .data
    position += 1
    if isTooLong { return .dropped(hasLetGo ? .letGo : .tooLong) }
    guard let option else { return nil }
    return subnegotiate(option, content, &output)
  }
}

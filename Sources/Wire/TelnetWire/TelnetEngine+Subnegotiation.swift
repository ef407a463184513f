/// What stands between SB and SE, whole: TTYPE, NEW-ENVIRON, CHARSET, and the start of compression, are answered here;
/// GMCP, MSDP and MSSP become events.

extension TelnetOption {
  /// Whether its subnegotiations are questions.
  var isAnsweredInside: Bool {
    switch self {
    case .terminalType, .newEnvironment, .charset: true
    case .echo, .suppressGoAhead, .endOfRecord, .windowSize, .msdp, .mssp, .compression, .gmcp: false
    }
  }

  /// Whether they are for the app.
  var isEvent: Bool {
    switch self {
    case .msdp, .mssp, .gmcp: true
    case .echo, .suppressGoAhead, .endOfRecord, .windowSize, .compression, .terminalType, .newEnvironment,
      .charset:
      false
    }
  }
}

extension TelnetEngine {
  /// - Parameter content: with the option in front.
  mutating func subnegotiate(
    _ option: TelnetOption, _ content: [UInt8], _ output: inout [UInt8]
  ) -> TelnetEvent? {
    let rest = content.dropFirst()
    switch option {
    case .terminalType:
      if rest.first == Self.send { askedForTerminalType(&output) }
      return nil
    case .newEnvironment:
      if rest.first == Self.send { askedForEnvironment(Array(rest.dropFirst()), &output) }
      return nil
    case .charset:
      return askedForCharset(rest, &output)
    case .compression:
      guard rest.isEmpty, !state.isCompressed, state.ofGame.contains(.compression) else { return nil }
      state.isCompressed = true
      return .compressionStarted
    case .gmcp:
      return readGMCP(rest)
    case .msdp:
      return event(ofJSON: MSDPReader.json(rest, charset)) { .msdp($0) }
    case .mssp:
      return event(ofJSON: MSDPReader.jsonOfMSSP(rest, charset)) { .mssp($0) }
    case .echo, .suppressGoAhead, .endOfRecord, .windowSize:
      return nil
    }
  }

  private func event(ofJSON json: [UInt8]?, _ make: ([UInt8]) -> TelnetEvent) -> TelnetEvent {
    guard let json else { return .dropped(.malformed) }
    return json.count > Self.eventLimit ? .dropped(.eventTooLarge) : make(json)
  }

  // MARK: Terminal type

  /// RFC 1091 and the Mud Terminal Type Standard: the client, its terminal, what that can, and then the last again.
  private mutating func askedForTerminalType(_ output: inout [UInt8]) {
    guard let client else {
      state.terminalTypesDue = min(state.terminalTypesDue + 1, Self.terminalTypes)
      return
    }
    var answer: [UInt8] = [Self.is]
    switch state.terminalTypeStep {
    case 0: answer += client.nameOrDefault
    case 1: answer += client.terminalOrDefault
    default: answer += "MTTS ".utf8 + client.capabilities(isUTF8: charset.isUTF8)
    }
    state.terminalTypeStep = min(state.terminalTypeStep + 1, Self.terminalTypes - 2)
    TelnetWriter.subnegotiation(.terminalType, answer, to: &output)
  }

  mutating func sayTerminalTypesDue(_ output: inout [UInt8]) {
    let due = state.terminalTypesDue
    state.terminalTypesDue = 0
    for _ in 0..<due { askedForTerminalType(&output) }
  }

  // MARK: Window size

  /// RFC 1073. Without a size nothing is said; it is said as soon as there is one.
  func sayWindowSize(_ output: inout [UInt8]) {
    guard let size, state.ofGate.contains(.windowSize) else { return }
    let body = [size.columns, size.rows].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
    TelnetWriter.subnegotiation(.windowSize, body, to: &output)
  }

  // MARK: Charset

  /// RFC 2066: UTF-8 if it is offered, else the first one that is known. Translation tables are not taken.
  private mutating func askedForCharset(
    _ request: ArraySlice<UInt8>, _ output: inout [UInt8]
  ) -> TelnetEvent? {
    guard request.first == Self.charsetRequest else { return nil }
    var list = request.dropFirst()
    if list.starts(with: Self.charsetTable) { list = list.dropFirst(Self.charsetTable.count + 1) }
    let separator = list.first
    let offers = list.dropFirst().split(maxSplits: Self.offersLimit, whereSeparator: { $0 == separator })
      .prefix(Self.offersLimit)
    var choice: (offer: [UInt8], charset: TelnetCharset)?
    for offer in offers where choice == nil || choice?.charset.isUTF8 == false {
      guard let charset = settings.charsetNamed(Array(offer)) else { continue }
      if choice == nil || charset.isUTF8 { choice = (Array(offer), charset) }
    }
    guard let choice else {
      TelnetWriter.subnegotiation(.charset, [Self.charsetRejected], to: &output)
      return nil
    }
    TelnetWriter.subnegotiation(.charset, [Self.charsetAccepted] + choice.offer, to: &output)
    change(charset: choice.charset, &output)
    return .charset(choice.charset.name)
  }

  private mutating func change(charset new: TelnetCharset, _ output: inout [UInt8]) {
    let before = environmentInUse
    charset = new
    sayEnvironmentChanges(since: before, &output)
  }

  static let `is`: UInt8 = 0
  static let send: UInt8 = 1
  /// Different ones, and the last again.
  static let terminalTypes: UInt8 = 4
  private static let charsetRequest: UInt8 = 1
  private static let charsetAccepted: UInt8 = 2
  private static let charsetRejected: UInt8 = 3
  /// What may stand before the list, with a byte for the version behind it.
  private static let charsetTable = Array("[TTABLE ]".utf8)
  /// Of one request, looked at.
  private static let offersLimit = 64
}

/// All of a session's telnet as bytes, its rates as well.
internal import System
internal import TelnetWire
internal import Time

extension TelnetSnapshot {
  func write(to fields: inout FieldWriter) {
    state.write(to: &fields)
    fields.put(optional: client?.coded())
    fields.put(UInt8(earlySize == nil ? 0 : 1))
    if let earlySize {
      fields.put(earlySize.columns)
      fields.put(earlySize.rows)
    }
    fields.put(short: charset)
    fields.put(long: body)
    for words in [environmentDue, hello, supports] { fields.put(optional: words) }
    fields.put(UInt16(reports.count))
    for report in reports { fields.put(long: report) }
  }

  init(from fields: inout FieldReader) throws(KeptError) {
    let state = try TelnetState(from: &fields)
    var client: ClientDescription?
    if let coded = try fields.optional(.client) {
      var own = FieldReader(coded)
      client = try ClientDescription(from: &own)
      try own.finish()
    }
    var earlySize: TerminalSize?
    if try fields.flag(.size) { earlySize = try TerminalSize(from: &fields) }
    let charset = try fields.short(.charset, limit: KeptDescription.charsetLimit)
    self.init(state: state, client: client, charset: charset)
    self.earlySize = earlySize
    body = try fields.long()
    environmentDue = try fields.optional(.environment)
    hello = try fields.optional(.words)
    supports = try fields.optional(.words)
    for _ in 0..<(try fields.number(UInt16.self)) { reports.append(try fields.long()) }
    guard isPossible else { throw .unfit(.words) }
  }
}

extension TelnetState {
  func write(to fields: inout FieldWriter) {
    let flags = [gameSaidCR, appTypedCR, isAttached, isHelloDue]
    fields.put(place.rawValue)
    fields.put(flags.indices.reduce(UInt8(0)) { $0 | (flags[$1] ? 1 : 0) << UInt8($1) })
    fields.put(terminalTypeStep)
    fields.put(terminalTypesDue)
    fields.put(ofGame.bits)
    fields.put(ofGate.bits)
    fields.put(bodyBytes)
    fields.put(answers)
    fields.put(lastAnswer.nanoseconds)
    for index in repetitions.indices { fields.put(repetitions[index]) }
  }

  init(from fields: inout FieldReader) throws(KeptError) {
    self.init()
    guard let place = Place(rawValue: try fields.byte()) else { throw .unfit(.place) }
    self.place = place
    let flags = try fields.byte()
    guard flags < 16 else { throw .unfit(.flags) }
    gameSaidCR = flags & 1 != 0
    appTypedCR = flags & 2 != 0
    isAttached = flags & 4 != 0
    isHelloDue = flags & 8 != 0
    terminalTypeStep = try fields.byte()
    terminalTypesDue = try fields.byte()
    guard let ofGame = TelnetOptionSet(bits: try fields.number()),
      let ofGate = TelnetOptionSet(bits: try fields.number())
    else { throw .unfit(.options) }
    self.ofGame = ofGame
    self.ofGate = ofGate
    bodyBytes = try fields.number()
    answers = try fields.byte()
    lastAnswer = MonotonicTime(nanoseconds: try fields.number())
    for index in repetitions.indices { repetitions[index] = try fields.number() }
    guard isWithinLimits else { throw .unfit(.subnegotiation) }
  }
}

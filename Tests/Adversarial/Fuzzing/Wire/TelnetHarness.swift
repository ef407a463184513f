/// Telnet of a game (RFC 854, RFC 855): the same is found however the bytes are cut, events are JSON, and what is
/// answered is telnet.
///
/// The first byte of an input says how the engine is set up; what the game says follows.
internal import Bytes
internal import JSON
internal import System
@testable internal import TelnetWire
internal import Time

enum TelnetHarness {
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    guard let first = bytes.first else { return .refused }
    let stream = Array(bytes.dropFirst())
    let whole = try read(stream, cutEvery: max(stream.count, 1), first)
    // A cut that the input itself chooses, and all cuts there are.
    let cut = Int(stream.reduce(7) { $0 &* 31 &+ UInt32($1) } % 61) + 2
    for size in [cut, 1] {
      let pieces = try read(stream, cutEvery: size, first)
      try require(pieces.isSame(as: whole), "cut every \(size) bytes it reads otherwise")
    }
    for happening in whole.happenings { try checkEvent(happening) }
    try checkAnswers(whole.output)
    try checkTyping(stream)
    return whole.happenings.isEmpty || whole.isRefused ? .refused : .accepted
  }

  // MARK: Reading

  private enum Happening: Equatable {
    case text([UInt8])
    case event(TelnetEvent)
  }

  /// What came of a stream, without where its parts were cut.
  private struct Reading {
    var happenings: [Happening] = []
    var output: [UInt8] = []
    var state = TelnetState()
    var size = 0
    /// A few bytes can be inflated to very many; then the rest is left alone.
    var isEnough = false

    var isRefused: Bool {
      happenings.contains { happening in
        switch happening {
        case .event(.dropped), .event(.compressionFailed): true
        default: false
        }
      }
    }

    func isSame(as other: Self) -> Bool {
      if isEnough || other.isEnough {
        let count = max(0, min(happenings.count, other.happenings.count) - 1)
        return happenings.prefix(count) == other.happenings.prefix(count)
      }
      return happenings == other.happenings && output == other.output && state == other.state
    }
  }

  private static func settings(_ flags: UInt8) -> TelnetSettings {
    var settings = TelnetSettings()
    settings.acceptsCompression = flags & 0x02 != 0
    settings.agreesToSuppressGoAhead = flags & 0x04 != 0
    settings.refusesStructured = flags & 0x08 != 0
    settings.address = flags & 0x10 != 0 ? Array("192.0.2.1".utf8) : nil
    return settings
  }

  private static func read(
    _ stream: [UInt8], cutEvery size: Int, _ flags: UInt8
  ) throws(BrokenProperty) -> Reading {
    var reading = Reading()
    var engine = TelnetEngine(settings(flags), client: flags & 0x01 != 0 ? ClientDescription() : nil)
    var clock = MonotonicTime(nanoseconds: 0)
    var start = 0
    while start < stream.count, !reading.isEnough {
      let end = min(start + size, stream.count)
      try take(Array(stream[start..<end]), &engine, &clock, &reading)
      start = end
    }
    engine.update(ClientDescription(), into: &reading.output)
    engine.link(isAttached: false, into: &reading.output)
    reading.state = engine.state
    return reading
  }

  private static func take(
    _ piece: [UInt8], _ engine: inout TelnetEngine, _ clock: inout MonotonicTime, _ reading: inout Reading
  ) throws(BrokenProperty) {
    let input = piece.span
    var position = 0
    while true {
      let before = position
      let event = engine.next(input, position: &position, now: clock, into: &reading.output)
      try require(before <= position && position <= piece.count, "\(position) behind \(before)")
      reading.size += 16
      reading.isEnough = reading.size > 500_000
      if reading.isEnough { return }
      switch event {
      case .needMore:
        return try require(position == piece.count, "bytes left behind at \(position)")
      case .again:
        try require(engine.state.isCompressed, "work without input")
      case .waits(let time):
        try require(clock < time, "a wait for the past")
        clock = time
      case .text(let text):
        let bytes = engine.text(text, in: input).array
        try require(!bytes.isEmpty, "a text of nothing")
        reading.size += bytes.count
        append(text: bytes, to: &reading.happenings)
      case .compressionFailed:
        if reading.happenings.last != .event(event) { reading.happenings.append(.event(event)) }
        return
      default:
        reading.happenings.append(.event(event))
      }
    }
  }

  private static func append(text: [UInt8], to happenings: inout [Happening]) {
    guard case .text(var before) = happenings.last else { return happenings.append(.text(text)) }
    happenings.removeLast()
    before += text
    happenings.append(.text(before))
  }

  // MARK: What is true of all events

  private static func checkEvent(_ happening: Happening) throws(BrokenProperty) {
    guard case .event(let event) = happening else { return }
    switch event {
    case .gmcp(let package, let data):
      try require((1...128).contains(package.count), "a package of \(package.count) bytes")
      try require(package.allSatisfy { (0x21...0x7E).contains($0) }, "a package that is no name")
      guard let data else { return }
      try require(
        data.count <= TelnetEngine.eventLimit && TelnetEngine.isJSON(data.span), "data that is no JSON")
    case .msdp(let object), .mssp(let object):
      try require(object.count <= TelnetEngine.eventLimit, "an event of \(object.count) bytes")
      // Eight within the first, and one more for a variable with several values at each.
      let value = try? JSONValue(parsing: object.span, depthLimit: 18)
      try require(value?.object != nil, "an event that is no object")
      try checkReturn(object, isEmpty: value?.object?.members.isEmpty ?? true)
    default: break
    }
  }

  /// What the engine would send of it is read as it was.
  private static func checkReturn(_ object: [UInt8], isEmpty: Bool) throws(BrokenProperty) {
    var engine = TelnetEngine(TelnetSettings(), client: ClientDescription())
    var position = 0
    var output: [UInt8] = []
    let clock = MonotonicTime(nanoseconds: 0)
    _ = engine.next([255, 251, 69].span, position: &position, now: clock, into: &output)
    output = []
    guard engine.sendMSDP(object, into: &output) == .sent else { return }
    try require(!isEmpty, "nothing was sent")
    position = 0
    let said = output
    let event = engine.next(said.span, position: &position, now: clock, into: &output)
    try require(
      event == .msdp(object) || said.count > TelnetEngine.subnegotiationLimit, "MSDP does not come back")
  }

  /// Nothing but whole commands, and 255 only doubled within them.
  private static func checkAnswers(_ output: [UInt8]) throws(BrokenProperty) {
    var index = 0
    while index < output.count {
      try require(index + 2 < output.count && output[index] == 255, "text among the answers")
      let verb = output[index + 1]
      index += 3
      if (251...254).contains(verb) { continue }
      try require(verb == 250, "a command that is none of ours")
      while index + 1 < output.count, output[index] != 255 || output[index + 1] == 255 {
        index += output[index] == 255 ? 2 : 1
      }
      try require(index + 1 < output.count && output[index + 1] == 240, "a subnegotiation without its end")
      index += 2
    }
  }

  /// Lines end with CR LF, and nothing but 255 is doubled, however the text is cut.
  private static func checkTyping(_ text: [UInt8]) throws(BrokenProperty) {
    var whole = TelnetEngine(TelnetSettings())
    var sent: [UInt8] = []
    whole.type(text.span, into: &sent)
    var single = TelnetEngine(TelnetSettings())
    var pieces: [UInt8] = []
    for byte in text { single.type([byte].span, into: &pieces) }
    try require(sent == pieces, "typed byte by byte it is otherwise")
    var heard: [UInt8] = []
    var index = 0
    while index < sent.count {
      heard.append(sent[index])
      switch sent[index] {
      case 13:
        try require(index + 1 < sent.count && sent[index + 1] == 10, "a CR alone")
        index += 2
      case 255:
        try require(index + 1 < sent.count && sent[index + 1] == 255, "a 255 alone")
        index += 2
      case 0, 10: throw BrokenProperty("a byte that is not sent alone")
      default: index += 1
      }
    }
    let others = text.filter { $0 != 0 && $0 != 10 && $0 != 13 }
    try require(heard.filter { $0 != 13 } == others, "typed text is lost or made up")
  }
}

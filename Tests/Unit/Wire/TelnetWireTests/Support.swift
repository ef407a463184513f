import Kit
import Time
import Testing

@testable import TelnetWire

/// Bytes in words: names of commands, decimal numbers, and text between apostrophes.
func wire(_ words: String) -> [UInt8] {
  let names: [String: UInt8] = [
    "IAC": 255, "DONT": 254, "DO": 253, "WONT": 252, "WILL": 251, "SB": 250, "GA": 249, "AYT": 246, "DM": 242,
    "NOP": 241, "SE": 240, "EOR": 239, "NUL": 0, "LF": 10, "CR": 13,
  ]
  var bytes: [UInt8] = []
  for (index, part) in words.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
    if !index.isMultiple(of: 2) {
      bytes += part.utf8
      continue
    }
    for word in part.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      guard let byte = names[String(word)] ?? UInt8(word) else { fatalError("what is \(word)?") }
      bytes.append(byte)
    }
  }
  return bytes
}

/// What a stream says, without the accident of how it was cut: text is one run.
enum Happening: Equatable, CustomStringConvertible {
  case text([UInt8])
  case event(TelnetEvent)

  static func text(_ text: String) -> Self { .text(Array(text.utf8)) }

  static func gmcp(_ package: String, _ data: String?) -> Self {
    .event(.gmcp(package: Array(package.utf8), data: data.map { Array($0.utf8) }))
  }
  static func msdp(_ json: String) -> Self { .event(.msdp(Array(json.utf8))) }
  static func mssp(_ json: String) -> Self { .event(.mssp(Array(json.utf8))) }

  var description: String {
    switch self {
    case .text(let bytes): "text \(bytes.count) \(bytes.prefix(40))"
    case .event(.gmcp(let package, let data)):
      "gmcp \(String(decoding: package, as: UTF8.self)) "
        + (data.map { String(decoding: $0.prefix(200), as: UTF8.self) } ?? "-")
    case .event(.msdp(let json)): "msdp \(String(decoding: json.prefix(200), as: UTF8.self))"
    case .event(.mssp(let json)): "mssp \(String(decoding: json.prefix(200), as: UTF8.self))"
    case .event(let event): "\(event)"
    }
  }
}

/// An engine, and all that came of it. Its clock stands still unless the engine asks to be left alone for a while.
final class Talker {
  var engine: TelnetEngine
  var happenings: [Happening] = []
  var output: [UInt8] = []
  var clock = MonotonicTime(nanoseconds: 100_000_000_000)
  private(set) var waits = 0
  private(set) var agains = 0

  init(
    _ settings: TelnetSettings = TelnetSettings(), client: ClientDescription? = ClientDescription(),
    state: TelnetState = TelnetState()
  ) {
    engine = TelnetEngine(settings, client: client, state: state)
  }

  func receive(_ bytes: [UInt8]) {
    var position = 0
    let input = bytes.span
    while true {
      let event = engine.next(input, position: &position, now: clock, into: &output)
      switch event {
      case .needMore:
        #expect(position == bytes.count)
        return
      case .again:
        agains += 1
      case .waits(let time):
        #expect(time > clock && (position < bytes.count || engine.state.isCompressed))
        waits += 1
        clock = time
      case .text(let text):
        let span = engine.text(text, in: input)
        var piece: [UInt8] = []
        for index in span.indices { piece.append(span[index]) }
        #expect(!piece.isEmpty && piece.count == text.count)
        if case .text(let before) = happenings.last {
          happenings[happenings.count - 1] = .text(before + piece)
        } else {
          happenings.append(.text(piece))
        }
      case .compressionFailed:
        happenings.append(.event(event))
        return
      default:
        happenings.append(.event(event))
      }
    }
  }

  func receive(_ words: String) { receive(wire(words)) }

  var holdsInput: Bool { engine.holdsInput }

  func pass(_ duration: Duration) { clock = clock + duration }

  /// What was sent since the last time.
  func takeOutput() -> [UInt8] {
    defer { output = [] }
    return output
  }

  func type(_ text: String, endsLine: Bool = false) { type(Array(text.utf8), endsLine: endsLine) }

  func type(_ text: [UInt8], endsLine: Bool = false) {
    engine.type(text.span, endsLine: endsLine, into: &output)
  }

  func gmcp(_ package: String, _ data: String?) -> TelnetEngine.Sending {
    engine.sendGMCP(package: Array(package.utf8), data: data.map { Array($0.utf8) }, into: &output)
  }

  func msdp(_ object: String) -> TelnetEngine.Sending {
    engine.sendMSDP(Array(object.utf8), into: &output)
  }
}

/// What comes of a stream, however it is cut.
struct Conversation: Equatable {
  var happenings: [Happening]
  var output: [UInt8]
  var state: TelnetState

  /// - Parameter pieces: of the stream, in order.
  init(
    _ pieces: [[UInt8]], _ settings: TelnetSettings = TelnetSettings(),
    client: ClientDescription? = ClientDescription(), after before: [UInt8] = []
  ) {
    let talker = Talker(settings, client: client)
    talker.receive(before)
    talker.happenings = []
    talker.output = []
    for piece in pieces { talker.receive(piece) }
    happenings = talker.happenings
    output = talker.output
    state = talker.engine.state
  }

  /// Whole, byte by byte, and cut in two at each place: all the same.
  static func everyWay(
    _ bytes: [UInt8], _ settings: TelnetSettings = TelnetSettings(),
    client: ClientDescription? = ClientDescription(), after before: [UInt8] = []
  ) -> Self {
    let whole = Self([bytes], settings, client: client, after: before)
    #expect(whole == Self(bytes.map { [$0] }, settings, client: client, after: before))
    for cut in 0...bytes.count {
      let pieces = [Array(bytes[..<cut]), Array(bytes[cut...])]
      #expect(whole == Self(pieces, settings, client: client, after: before), "cut at \(cut)")
    }
    return whole
  }
}

func client(
  name: String? = nil, version: String? = nil, terminal: String? = nil, trueColor: Bool = false,
  screenReader: Bool = false, size: (UInt16, UInt16)? = nil, gmcp: [String]? = nil
) -> ClientDescription {
  var client = ClientDescription()
  client.name = name.flatMap { ClientText(Array($0.utf8)) }
  client.version = version.flatMap { ClientText(Array($0.utf8)) }
  client.terminal = terminal.flatMap { ClientText(Array($0.utf8)) }
  client.hasTrueColor = trueColor
  client.isScreenReader = screenReader
  client.size = size.map { TerminalSize(columns: $0.0, rows: $0.1) }
  client.gmcp = gmcp?.map { Array($0.utf8) }
  return client
}

/// Knows ISO-8859-1 beside UTF-8, without its conversion.
func settings(
  goAhead: Bool = false, compression: Bool = false, structured: Bool = true, address: String? = nil,
  device: String? = nil
) -> TelnetSettings {
  var settings = TelnetSettings()
  settings.agreesToSuppressGoAhead = goAhead
  settings.acceptsCompression = compression
  settings.refusesStructured = !structured
  settings.address = address.map { Array($0.utf8) }
  settings.device = device.map { Array($0.utf8) }
  settings.charsetNamed = { name in
    switch String(decoding: name, as: UTF8.self).uppercased() {
    case "UTF-8", "UTF8": .utf8
    case "ISO-8859-1", "LATIN1": latin1
    default: nil
    }
  }
  return settings
}

let latin1 = TelnetCharset(
  name: Array("ISO-8859-1".utf8), isUTF8: false,
  decode: { bytes in Array(String(bytes.map { Character(Unicode.Scalar($0)) }).utf8) },
  encode: { text in
    String(decoding: text, as: UTF8.self).unicodeScalars.map { UInt8(exactly: $0.value) ?? UInt8(ascii: "?") }
  })

extension SplitMix {
  /// `bytes` in pieces of at most `size`.
  mutating func pieces(of bytes: [UInt8], upTo size: Int) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      pieces.append(Array(rest.prefix(Int.random(in: 1...size, using: &self))))
      rest = rest.dropFirst(pieces[pieces.count - 1].count)
    }
    return pieces
  }
}

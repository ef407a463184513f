/// The part of `portcullis doctor --game` that listens to the game as the gate would: what it says first, in which charset,
/// and which telnet options it offers (docs/telnet.md).
import Addresses
import Bytes
import Charsets
import Configuration
import Prompt
import Sockets
import System
import TelnetWire
import Time

struct GameFindings {
  let configuration: GateConfiguration?

  /// A game has said its first words by then.
  private static let listeningTime: Duration = .seconds(3)
  private static let mostBytes = 64 * 1024

  func look(_ report: inout DoctorReport) {
    guard let configuration else {
      report.warning(
        "game", "these settings cannot be read", why: "where the game is, they say",
        mend: "give --config, or run it where the gate runs")
      return
    }
    let target = configuration.backend.target
    let addresses: [SocketAddress]
    switch target {
    case .echo: return report.ok("game", "echo: there is no game")
    case .unix(let path): addresses = [.unix(path: path)]
    case .tcp(let host, let port):
      addresses =
        IPAddress(host).map { [.internet(Endpoint(address: $0, port: port))] }
        ?? ((try? NameResolver.resolve(host, port: port)) ?? [])
    }
    // Called once: a lazy map's `first` would call again for what it has found.
    var heard: [UInt8]?
    for address in addresses where heard == nil { heard = firstWords(at: address) }
    guard let bytes = heard else {
      report.problem(
        "game", "\(target) does not answer", why: "players are answered 503 backend_unavailable",
        mend: "start the game, or set BACKEND")
      return
    }
    tell(GameGreeting(bytes), target.description, configuration, &report)
  }

  /// What it says before it is said anything; nil when there is no connection.
  private func firstWords(at address: SocketAddress) -> [UInt8]? {
    do throws(SystemError) {
      let socket = try Socket.connecting(to: address)
      let deadline = SystemClock().monotonic() + Self.listeningTime
      guard socket.wait(for: .writing, until: deadline) == .ready, socket.connectFailure() == nil else {
        return nil
      }
      var words: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 4096)
      while words.count < Self.mostBytes, socket.wait(for: .reading, until: deadline) == .ready {
        var span = chunk.mutableSpan
        guard case .bytes(let count) = socket.receive(into: &span) else { break }
        words += chunk.prefix(count)
      }
      return words
    } catch {
      return nil
    }
  }

  private func tell(
    _ greeting: GameGreeting, _ target: String, _ configuration: GateConfiguration,
    _ report: inout DoctorReport
  ) {
    guard !greeting.isEmpty else {
      report.warning(
        "game", "\(target) says nothing for \(Self.listeningTime.components.seconds) s",
        why: "players look at an empty screen; a game that waits for a PROXY header is silent too",
        mend: "set BACKEND_PROXY_PROTOCOL as the game expects it")
      return
    }
    let line = greeting.firstLine
    report.ok(
      "game", "\(target) says \(line.isEmpty ? "no text" : PrintableText.field(line.span, limit: 120))")
    if greeting.options.isEmpty {
      report.ok("telnet", "the game negotiates nothing before it is spoken to")
    } else {
      report.ok("telnet", "the game \(greeting.options.joined(separator: ", "))")
    }
    let charset = configuration.telnet.charset.name
    if charset == "UTF-8", !greeting.isUTF8 {
      report.warning(
        "charset", "the game's first words are not UTF-8",
        why: "apps of portcullis.v1 would see replacement characters",
        mend: "set GAME_CHARSET to what the game speaks")
    } else {
      report.ok("charset", charset)
    }
  }
}

/// The first bytes of a game, taken apart.
struct GameGreeting {
  private(set) var text: [UInt8] = []
  /// As `offers GMCP (201)` or `asks for NEW-ENVIRON (39)`, each once, in their order.
  private(set) var options: [String] = []

  private static let mostOptions = 32

  var isEmpty: Bool { text.isEmpty && options.isEmpty }

  /// The first line that is not blank.
  var firstLine: [UInt8] {
    let lines = text.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }
    return lines.first { $0.contains { $0 > 0x20 } }.map(Array.init) ?? []
  }

  /// Whether it is, but for a character that the end of what was heard has cut.
  var isUTF8: Bool {
    (0...min(3, text.count)).contains { String(validating: text.dropLast($0), as: UTF8.self) != nil }
  }

  init(_ bytes: [UInt8]) {
    var index = 0
    while index < bytes.count {
      guard bytes[index] == Self.iac, index + 1 < bytes.count else {
        if bytes[index] != Self.iac { text.append(bytes[index]) }
        index += 1
        continue
      }
      let command = bytes[index + 1]
      switch command {
      case Self.iac:
        text.append(command)
        index += 2
      case Self.will, Self.willNot, Self.do, Self.doNot:
        if index + 2 < bytes.count { note(command, bytes[index + 2]) }
        index += 3
      case Self.subnegotiation:
        index += 2
        while index + 1 < bytes.count, bytes[index] != Self.iac || bytes[index + 1] != Self.end { index += 1 }
        index += 2
      default: index += 2
      }
    }
  }

  private mutating func note(_ command: UInt8, _ number: UInt8) {
    let name = TelnetOption(rawValue: number).map { "\($0)" }
    let option = name.map { "\($0) (\(number))" } ?? "option \(number)"
    let words: String
    switch command {
    case Self.will: words = "offers \(option)"
    case Self.do: words = "asks for \(option)"
    default: return
    }
    if options.count < Self.mostOptions, !options.contains(words) { options.append(words) }
  }

  // RFC 854.
  private static let iac: UInt8 = 255
  private static let doNot: UInt8 = 254
  private static let `do`: UInt8 = 253
  private static let willNot: UInt8 = 252
  private static let will: UInt8 = 251
  private static let subnegotiation: UInt8 = 250
  private static let end: UInt8 = 240
}

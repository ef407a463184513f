/// What the gate does with a message, from the frame's payload to telnet's bytes for the game, and how long that takes.
import Bytes
import Charsets
import Deflate
import SessionWire
import TelnetWire
import WebSocketWire

final class Reading {
  private let pool = ZlibPool()
  private let scratch = Scratch()
  private let clock = ContinuousClock()
  /// Of a charset that the C library converts to, which is the slowest way.
  private let encoder = CharsetLibrary(opening: [.gb18030]).encoder(for: .gb18030)

  /// Microseconds of the quickest of some readings, and the bytes that its frame has on the wire.
  func cost(of message: Message, rounds: Int) -> (microseconds: Double, wire: Int) {
    let payload = message.payload()
    let packed = deflated(payload)
    var best = Duration.seconds(10)
    for _ in 0..<rounds {
      let time = clock.measure { read(packed ?? payload, isPacked: packed != nil, message.frame.dialect) }
      best = min(best, time)
    }
    return (Double(best.components.attoseconds) / 1e12, (packed ?? payload).count + 8)
  }

  /// Nil where it would not get shorter.
  private func deflated(_ payload: [UInt8]) -> [UInt8]? {
    var packed = [UInt8](repeating: 0, count: payload.count)
    var output = packed.mutableSpan
    guard let count = pool.compress(payload.span, windowBits: 12, into: &output) else { return nil }
    return Array(packed.prefix(count))
  }

  private func read(_ payload: [UInt8], isPacked: Bool, _ speech: Speech) {
    let type = speech == .terminal ? MessageType.binary : .text
    if !isPacked { return handle(payload.span, type, speech) }
    var inflater = MessageInflater(windowBits: 12, messageBytes: Message.largest)
    scratch.withBytes { (room: inout MutableSpan<UInt8>) in
      var end = 0
      _ = inflater.take(payload.span, type: type, endsMessage: true, from: pool, into: &room, at: &end)
      handle(room.span.extracting(0..<end), type, speech)
    }
  }

  private func handle(_ text: Span<UInt8>, _ type: MessageType, _ speech: Speech) {
    var telnet = TelnetEngine(TelnetSettings(), client: nil)
    var output: [UInt8] = []
    let dialect: Dialect =
      switch speech {
      case .portcullis: .portcullis
      case .gmcp: .gmcp
      case .json: .json
      case .terminal: .terminal
      }
    switch try? dialect.read(type, text) {
    case .gmcp(let package, let data)?: _ = telnet.sendGMCP(package: package, data: data, into: &output)
    case .msdp(let data)?: _ = telnet.sendMSDP(data, into: &output)
    case .typed(let typed)?: enter(typed.span, &telnet, &output)
    case .input?: enter(text, &telnet, &output)
    case .client(let update)?: _ = update.applied(to: nil)
    case .size, .ack, .leave, .unknown, .refused, nil: break
    }
  }

  private func enter(_ text: Span<UInt8>, _ telnet: inout TelnetEngine, _ output: inout [UInt8]) {
    guard let encoder, !encoder.keeps(text) else {
      return telnet.type(text, endsLine: true, into: &output)
    }
    var encoded: [UInt8] = []
    encoder.encode(text, into: &encoded)
    telnet.type(encoded.span, endsLine: true, into: &output)
  }
}

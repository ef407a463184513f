/// A session as the gate runs one, of the real parts, with an app and a game that say anything: what it is made of again must
/// go on as if nothing had been.
import Charsets
import SessionWire
import System
import TelnetWire
import Time
import WebSocketWire

@testable import Keeping

struct Play: ~Copyable {
  /// What anybody has seen of it.
  enum Seen: Equatable {
    case game([UInt8])
    case message(MessageType, [UInt8])
    case gap(Int?, next: Int)
    case again([[UInt8]])
    case ack(Int)
    case refused
  }

  /// What happens to it from outside.
  enum Act {
    case hear([UInt8])
    case type([UInt8])
    case unknown
    case update(ClientDescription)
    case resize(TerminalSize)
    case say([UInt8], [UInt8])
    case report([UInt8])
    case gameTakes(Int)
    case attach(missing: Int)
    case detach
    case send(messages: Int)
    case acknowledge(behind: Int)
    case evict
    case pass(UInt64)
  }

  static let library = CharsetLibrary(opening: [])
  static let limit = 2000

  var telnet: TelnetEngine
  var decoder: CharsetDecoder
  var outgoing: OutgoingLedger
  var incoming: IncomingLedger
  var text: [UInt8] = []
  var unread: [UInt8] = []
  /// What waits for the game.
  var queue: [UInt8] = []
  var seen: [Seen] = []
  var address = "192.0.2.1"
  var now = MonotonicTime(nanoseconds: 100_000_000_000)

  init(client: ClientDescription?) {
    telnet = TelnetEngine(Self.settings, client: client)
    decoder = Self.decoder(.utf8)
    outgoing = OutgoingLedger(limit: Self.limit, again: Self.again)
    incoming = IncomingLedger()
    outgoing.attach()
  }

  static var again: AgainCache { AgainCache(.usual, bufferBytes: limit) }

  static func decoder(_ charset: Charset) -> CharsetDecoder {
    guard let decoder = library.decoder(for: charset) else { fatalError("no decoder") }
    return decoder
  }

  static var settings: TelnetSettings {
    var settings = TelnetSettings()
    settings.charset = named(.utf8)
    settings.charsetNamed = { Charset(named: $0).map(named) }
    settings.address = Array("192.0.2.1".utf8)
    return settings
  }

  private static func named(_ charset: Charset) -> TelnetCharset {
    TelnetCharset(
      name: Array(charset.name.utf8), isUTF8: charset.isUTF8,
      decode: { bytes in Array(String(decoding: bytes, as: UTF8.self).utf8) }, encode: { $0 })
  }

  // MARK: Acts

  mutating func play(_ act: Act) {
    switch act {
    case .hear(let bytes):
      unread += bytes
      read()
    case .type(let text): take { $0.type(text.span, into: &$1) }
    case .unknown: take { _, _ in }
    case .update(let client): say { $0.update(client, into: &$1) }
    case .resize(let size): say { $0.resize(size, into: &$1) }
    case .say(let name, let data): take { _ = $0.sendGMCP(package: name, data: data, into: &$1) }
    case .report(let body): take { _ = $0.sendMSDP(body, into: &$1) }
    case .gameTakes(let count):
      let taken = min(count, queue.count)
      seen.append(.game(Array(queue[..<taken])))
      queue.removeFirst(taken)
      incoming.accept(bytes: taken, now: now)
    case .attach(let missing): attach(after: max(0, outgoing.highestSent - missing))
    case .detach: detach()
    case .send(let messages): send(messages)
    case .acknowledge(let behind):
      let number = outgoing.highestSent - behind
      outgoing.acknowledge(number)
    case .evict: outgoing.evictOldest()
    case .pass(let nanoseconds):
      now = now.adding(nanoseconds)
      read()
    }
  }

  private mutating func say(_ body: (inout TelnetEngine, inout [UInt8]) -> Void) {
    let before = queue.count
    body(&telnet, &queue)
    incoming.enqueue(bytes: queue.count - before)
  }

  private mutating func take(_ body: (inout TelnetEngine, inout [UInt8]) -> Void) {
    let before = queue.count
    body(&telnet, &queue)
    incoming.take(bytes: queue.count - before, size: 1, now: now)
  }

  private mutating func attach(after number: Int) {
    if outgoing.isAttached { detach() }
    guard outgoing.attach(after: number) else { return seen.append(.refused) }
    address = "192.0.2.\(outgoing.highestSent % 4)"
    let bytes = Array(address.utf8)
    say { $0.link(isAttached: true, address: bytes, into: &$1) }
    incoming.schedule.demand(now: now)
    if incoming.schedule.isDue(at: now) { seen.append(.ack(incoming.handled)) }
    incoming.schedule.acknowledged()
  }

  mutating func detach() {
    guard outgoing.isAttached else { return }
    outgoing.detach()
    say { $0.link(isAttached: false, into: &$1) }
  }

  private mutating func send(_ messages: Int) {
    for _ in 0..<messages where outgoing.hasUnsent {
      if let gap = outgoing.takeGap() {
        seen.append(.gap(gap.messages, next: gap.next))
        seen.append(.again(outgoing.again.messages()))
        continue
      }
      var payload: [UInt8] = []
      guard let type = outgoing.copyUnsentMessage(into: &payload) else { return }
      outgoing.markMessageSent()
      seen.append(.message(type, payload))
    }
  }

  // MARK: The game

  private mutating func read() {
    let input = unread
    unread = []
    var position = 0
    var answers: [UInt8] = []
    reading: while true {
      let event = telnet.next(input.span, position: &position, now: now, into: &answers)
      switch event {
      case .needMore, .again, .waits: break reading
      case .text(let piece): decoder.decode(telnet.text(piece, in: input.span), into: &text)
      case .charset(let name):
        endText()
        if let charset = Charset(named: name) { decoder = Self.decoder(charset) }
      case .compressionStarted, .compressionEnded, .compressionFailed, .dropped: break
      case .gmcpAgreed, .msdpAgreed, .prompt, .echo, .gmcp, .msdp, .mssp:
        endText()
        outgoing.append(.text, Array("\(event)".utf8).span)
        outgoing.note(event)
      }
    }
    unread = Array(input[position...])
    queue += answers
    incoming.enqueue(bytes: answers.count)
    // Text waits here for a while, as it does while a compressed stream is read.
    if text.count > 20 { sendText() }
  }

  private mutating func endText() {
    decoder.finish(into: &text)
    sendText()
  }

  private mutating func sendText() {
    var said: [UInt8] = []
    swap(&said, &text)
    outgoing.append(text: said.span)
  }

  // MARK: Going over

  func snapshot() -> RestartSnapshot? {
    guard let snapshot = telnet.snapshot else { return nil }
    return RestartSnapshot(
      outgoing: outgoing.snapshot, incoming: incoming.snapshot, again: outgoing.again.snapshot,
      telnet: snapshot,
      held: decoder.heldWord, unread: unread, text: text, toGame: queue)
  }

  /// - Parameter address: where it was last played from, which its slot knows.
  init?(_ snapshot: RestartSnapshot, address: String, now: MonotonicTime) {
    var settings = Self.settings
    settings.address = Array(address.utf8)
    guard let engine = TelnetEngine(settings, restoring: snapshot.telnet) else { return nil }
    var again = Self.again
    again.restore(snapshot.again)
    telnet = engine
    decoder = Self.decoder(Charset(named: snapshot.telnet.charset) ?? .utf8)
    decoder.restore(heldWord: snapshot.held)
    outgoing = OutgoingLedger(limit: Self.limit, again: again, restoring: snapshot.outgoing)
    incoming = IncomingLedger(restoring: snapshot.incoming)
    text = snapshot.text
    unread = snapshot.unread
    queue = snapshot.toGame
    self.address = address
    self.now = now
  }
}

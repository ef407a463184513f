import TLSPeers
import Testing

@testable import Gateway

/// An app that speaks `portcullis.v1`, or a dialect, over one connection after the other: it counts as docs/sessions.md
/// says, and keeps what it was told.
final class TestApp {
  private let harness: LoopHarness
  let subprotocol: String
  private(set) var player: Player?
  private var bytes: [UInt8] = []
  private var isUpgraded = false
  /// Its connection is past the handshake, and has said nothing.
  private var isPrepared = false

  /// The answer to the last upgrade.
  private(set) var head = ""
  /// Text of the game, over all connections.
  private(set) var text = ""
  /// TEXT messages of the present connection.
  private(set) var events: [String] = []
  private(set) var closeCode: Int?
  private(set) var framesBehindClose = 0
  private(set) var id: String?
  /// How many counted messages of the gate it has.
  private(set) var count = 0
  /// What `session` said last.
  private(set) var wasResumed = false
  private(set) var taken = 0
  /// What the gate has handled, by its last `ack`.
  private(set) var handled = 0
  /// Payloads of counted messages, from the first on.
  var said: [String] = []

  init(_ harness: LoopHarness, subprotocol: String = "portcullis.v1") {
    self.harness = harness
    self.subprotocol = subprotocol
  }

  /// The same app over another connection, which knows nothing of the first one's later messages.
  init(_ harness: LoopHarness, as other: TestApp) {
    self.harness = harness
    subprotocol = other.subprotocol
    (id, count) = (other.id, other.count)
  }

  // MARK: Connections

  /// The handshake alone.
  func prepare(_ options: ClientOptions = ClientOptions(), at loop: Int = 0) throws {
    let player = try harness.arrive(options, at: loop)
    try player.handshake()
    self.player = player
    isPrepared = true
  }

  /// Sends the upgrade; nothing but the handshake has turned by then.
  func call(at loop: Int = 0, fields: [String] = [], resumes: Bool = true, state: Bool = false) throws {
    if !isPrepared { try prepare(at: loop) }
    isPrepared = false
    guard let player else { return }
    (bytes, isUpgraded, head, events, closeCode, framesBehindClose) = ([], false, "", [], nil, 0)
    var fields = fields + ["Sec-WebSocket-Protocol: \(subprotocol)"]
    if resumes, let id { fields.append("Portcullis-Resume: \(id);received=\(count)\(state ? ";state" : "")") }
    // Without the empty line, which is one character here.
    player.client.write(Player.upgrade.dropLast() + fields.map { $0 + "\r\n" }.joined() + "\r\n")
    player.sendOutput()
  }

  /// The same on the connection that was refused before.
  func callAgain(fields: [String]) throws {
    isPrepared = true
    try call(fields: fields)
  }

  /// The same, and turns until it is answered.
  func connect(
    at loop: Int = 0, fields: [String] = [], resumes: Bool = true, state: Bool = false
  ) throws {
    try call(at: loop, fields: fields, resumes: resumes, state: state)
    for _ in 0..<8 {
      harness.turn()
      hear()
      if isUpgraded, subprotocol != "portcullis.v1" || !events.isEmpty { return }
    }
    Issue.record("no session: \(head)")
  }

  func vanish() {
    player?.vanish()
    player = nil
  }

  var hasEnded: Bool { player?.hasEnded ?? true }

  // MARK: Saying

  func send(_ opcode: UInt8, _ payload: [UInt8]) {
    var frame: [UInt8] = [0x80 | opcode]
    if payload.count < 126 {
      frame.append(0x80 | UInt8(payload.count))
    } else {
      frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    }
    player?.client.write(frame + [0, 0, 0, 0] + payload)
    player?.sendOutput()
  }

  /// Counted input.
  func type(_ line: String) {
    said.append(line)
    send(2, Array(line.utf8))
  }

  func sendText(_ text: String) { send(1, Array(text.utf8)) }
  func acknowledge() { sendText("{\"type\":\"ack\",\"received\":\(count)}") }
  func leave() { sendText("{\"type\":\"leave\"}") }

  func close(_ code: Int?) { send(8, code.map { [UInt8($0 >> 8), UInt8($0 & 0xFF)] } ?? []) }

  // MARK: Hearing

  func hear() {
    bytes += player?.hearBytes() ?? []
    if !isUpgraded {
      guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
      head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
      guard head.hasPrefix("HTTP/1.1 101") else { return }
      bytes.removeFirst(end.upperBound)
      isUpgraded = true
    }
    while let (opcode, payload) = takeFrame() { receive(opcode, payload) }
  }

  private func takeFrame() -> (UInt8, [UInt8])? {
    guard bytes.count >= 2 else { return nil }
    var start = 2
    var length = Int(bytes[1])
    if length == 126 {
      guard bytes.count >= 4 else { return nil }
      (start, length) = (4, Int(bytes[2]) << 8 | Int(bytes[3]))
    } else if length == 127 {
      guard bytes.count >= 10 else { return nil }
      (start, length) = (10, bytes[2..<10].reduce(0) { $0 << 8 | Int($1) })
    }
    guard bytes.count >= start + length else { return nil }
    defer { bytes.removeFirst(start + length) }
    return (bytes[0] & 0x0F, Array(bytes[start..<start + length]))
  }

  private func receive(_ opcode: UInt8, _ payload: [UInt8]) {
    if closeCode != nil { framesBehindClose += 1 }
    switch opcode {
    case 2:
      count += 1
      text += String(decoding: payload, as: UTF8.self)
    case 1: receive(String(decoding: payload, as: UTF8.self))
    case 8: closeCode = payload.count >= 2 ? Int(payload[0]) << 8 | Int(payload[1]) : 1005
    default: break
    }
  }

  private func receive(_ event: String) {
    events.append(event)
    switch Self.member("type", of: event) {
    case "session": begin(event)
    case "ack": handled = Int(Self.member("received", of: event) ?? "") ?? -1
    case "gap": count = (Int(Self.member("next", of: event) ?? "") ?? 0) - 1
    case "closing", "approvals", "otp": break
    default: if Self.member("again", of: event) == nil { count += 1 }
    }
  }

  private func begin(_ event: String) {
    id = Self.member("id", of: event)
    wasResumed = Self.member("resumed", of: event) == "true"
    taken = Int(Self.member("received", of: event) ?? "") ?? -1
    if wasResumed { return }
    (count, handled, said, text) = (0, 0, [], "")
  }

  /// Says again what the gate has not taken, as an app has to after a resume.
  func sayAgain() { for line in said.dropFirst(taken) { send(2, Array(line.utf8)) } }

  /// Of an object as the gate writes it, without escapes.
  static func member(_ name: String, of object: String) -> String? {
    guard let start = object.firstRange(of: "\"\(name)\":")?.upperBound else { return nil }
    let rest = object[start...]
    if rest.hasPrefix("\"") { return String(rest.dropFirst().prefix { $0 != "\"" }) }
    return String(rest.prefix { $0 != "," && $0 != "}" })
  }

  func eventTypes() -> [String] { events.compactMap { Self.member("type", of: $0) } }
}

/// A phone's surroundings in memory: keys that sign with a hash, a store, a gate that answers by a script, and a clock that
/// stands still.
import FoundationEssentials
import PortcullisClient
import PortcullisProtocol
import Testing

@testable import PortcullisDevice

enum Sample {
  static let server = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
  static let device = "0f8fad5b-d9cb-469f-a165-70867728950e"
  static let pin = octets(7)
  static let uri =
    "PORTCULLIS:/1/AAAQEAYEAUDAOCAJBIFQYDIOB4/777P37H37L47R57W6X2PH4XR6A"
    + "/AAEBAGBAFAYDQQCIKBMGA2DQPCAIREEYUCULBOGAZDINRYHI6D4A/GATE.EXAMPLE.COM:8443"

  static func octets(_ byte: UInt8) -> Octets32 {
    SHA2.hash([byte])
  }

  static func points(_ byte: UInt8 = 1, approval: UInt8? = 2) throws -> DevicePoints {
    try #require(
      DevicePoints(
        device: [4] + [UInt8](repeating: byte, count: 64),
        approval: approval.map { [4] + [UInt8](repeating: $0, count: 64) }))
  }

  static func name() throws -> DeviceName { try #require(DeviceName("Anna's")) }
  static func serverID() throws -> ServerID { try #require(ServerID(server)) }
  static func deviceID() throws -> DeviceID { try #require(DeviceID(device)) }

  static func challenge(_ byte: UInt8 = 9) throws -> DeviceChallenge {
    DeviceChallenge(nonce: octets(byte), server: try serverID())
  }

  static func reply(_ body: String, status: Int = 200, code: String? = nil) -> DeviceReply {
    DeviceReply(status: status, code: code, body: Array(body.utf8))
  }

  static func signatures(_ byte: UInt8 = 3) -> Signatures {
    var signatures = Signatures()
    signatures.device = [byte]
    signatures.approval = [byte]
    return signatures
  }

  static let lost = DeviceFailure(.timeout, "the connection broke")

  static func summary(text: String = "to wizard") throws -> [UInt8] {
    try Summary(
      operation: "promote", target: .init([("player", "gandalf")]), text: text,
      requester: .init(id: "saruman"), service: "mud", subject: nil,
      policy: .init(level: .bare, userVerification: .app, quorum: 1, factors: ["device"]), lease: nil,
      createdAt: UnixSeconds(clamping: 1_800_000_000)
    ).bytes
  }

  static func item(
    _ summary: [UInt8], id: String = "11111111-2222-4333-8444-555555555555", digits: Int = 2,
    expires: Int64 = 1_800_000_060
  ) -> String {
    """
    {"id":"\(id)","summary":"\(ByteText.base64URL(summary))","match_digits":\(digits),\
    "created_at":1800000000,"expires_at":\(expires)}
    """
  }
}

/// Keys without secrets: a signature is a hash over the key's name and the bytes.
actor HashingKeys: DeviceKeys {
  private(set) var names: [KeyName] = []
  private(set) var removed: [KeyName] = []
  private(set) var signed: [(name: KeyName, bytes: [UInt8], reason: String)] = []
  var failures: [KeyRole: DeviceKeyError] = [:]

  func fail(_ role: KeyRole, _ error: DeviceKeyError?) { failures[role] = error }

  func make(_ role: KeyRole, challenge: Octets32?) throws -> KeyName {
    let name = KeyName("\(role.rawValue)-\(names.count)")
    names.append(name)
    return name
  }

  func point(_ name: KeyName) throws -> [UInt8] {
    guard names.contains(name), !removed.contains(name) else { throw DeviceKeyError.gone }
    return [4] + SHA2.hash(Array(name.text.utf8)).bytes + SHA2.hash(Array((name.text + "y").utf8)).bytes
  }

  func sign(_ bytes: [UInt8], by name: KeyName, reason: String) throws -> [UInt8] {
    let role: KeyRole = name.text.hasPrefix("approval") ? .approval : .device
    if let failure = failures[role] { throw failure }
    guard names.contains(name), !removed.contains(name) else { throw DeviceKeyError.gone }
    signed.append((name, bytes, reason))
    return SHA2.hash(Array(name.text.utf8) + bytes).bytes
  }

  func remove(_ name: KeyName) { removed.append(name) }
}

actor MemoryStore: DeviceStore {
  private(set) var record: DeviceRecord?
  private var failure: DeviceStoreError?
  private(set) var saves = 0

  init(_ record: DeviceRecord? = nil) {
    self.record = record
  }

  func fail(_ error: DeviceStoreError?) { failure = error }

  func load() throws -> DeviceRecord? {
    if let failure { throw failure }
    return record
  }

  func save(_ record: DeviceRecord) throws {
    if let failure { throw failure }
    saves += 1
    self.record = record
  }

  func erase() throws { record = nil }
}

/// Answers each path by what was put there, the last one again and again; `nil` is a lost connection.
actor ScriptedGate: GateTransport {
  struct Answer {
    var status = 200
    var code: String?
    var body: String
  }

  private var script: [String: [Answer?]] = [:]
  private(set) var asked: [(path: String, body: String, token: String?)] = []

  init() {
    script["/attest/challenge"] = [
      Answer(body: "{\"nonce\":\"\(Sample.octets(9).hex)\",\"server_id\":\"\(Sample.server)\"}")
    ]
    script["/device/token"] = [Answer(body: "{\"token\":\"t1\",\"pins\":[\"\(Sample.pin.base64URL)\"]}")]
  }

  func put(_ path: String, _ answers: [Answer?]) { script[path] = answers }
  func put(_ path: String, _ body: String) { script[path] = [Answer(body: body)] }

  func bodies(_ path: String) -> [String] { asked.filter { $0.path == path }.map(\.body) }

  func request(_ request: GateRequest) async throws -> GateAnswer {
    let path = request.url.path
    let token = request.fields.first { $0.name == "Authorization" }?.value
    asked.append((path, String(decoding: request.body ?? [], as: UTF8.self), token))
    guard var answers = script[path], let next = answers.first else {
      return GateAnswer(status: 404, code: "not_found", retryAfter: nil, body: [])
    }
    if answers.count > 1 { answers.removeFirst() }
    script[path] = answers
    guard let next else { throw Sample.lost }
    return GateAnswer(status: next.status, code: next.code, retryAfter: nil, body: Array(next.body.utf8))
  }

  func connect(_ upgrade: GateUpgrade) async throws -> any GateConnection { throw Sample.lost }
}

extension GameClock {
  /// Pauses are over at once.
  static func still(at seconds: Int64 = 1_800_000_010) -> GameClock {
    GameClock(
      now: { 0 },
      sleep: { seconds in if seconds > 5 { try await Task.sleep(nanoseconds: 1_000_000_000_000) } },
      wall: { Double(seconds) })
  }
}

extension MachineTurn {
  var step: DeviceStep? { if case .ask(let step) = self { step } else { nil } }
  var outcome: Outcome? { if case .done(let outcome) = self { outcome } else { nil } }
  var failure: DeviceFailure? { if case .failed(let failure) = self { failure } else { nil } }
}

extension DeviceCall {
  subscript(name: String) -> String? {
    body.flatMap { try? JSONTree(parsing: $0, depthLimit: 8) }?.object?[name]?.string
  }
}

extension DeviceStep {
  var call: DeviceCall? {
    switch self {
    case .send(let call), .show(_, let call): call
    default: nil
    }
  }
}

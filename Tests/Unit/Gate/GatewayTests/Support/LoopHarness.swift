import Addresses
import Bytes
import Charsets
import DeviceWire
import Glibc
import Kit
import Logging
import Registry
import Stores
import Synchronization
import System
import TLSPeers
import Testing

@testable import Admission
@testable import AppAttest
@testable import Configuration
@testable import Crypto
@testable import Gateway
@testable import KeyStore
@testable import Logs
@testable import Scheduling
@testable import Sockets
@testable import Telemetry
@testable import TLS
@testable import Upstream

/// Loops without threads, one unless the test asks for more, a clock that stands still, and players whose bytes the test moves
/// by hand: each turn is one call, and nothing happens between two of them.
final class LoopHarness {
  let clock: ManualClock
  let store: MemoryStore
  /// Nil where the loops ask `store` itself.
  let lateStore: LateStore?
  let loops: [Loop]
  let shared: Shared
  /// Nil in front of an echo.
  let game: TestGame?
  let devices: Devices?
  private var folder: TemporaryFolder?
  private let environment: [(String, String)]
  private var material: TLSMaterial
  private let log = KeptLines()
  /// Of the gate before.
  private let estate: Estate?

  /// - Parameters:
  ///   - settings: beside those that make a gate in front of an echo, or of a game.
  ///   - loops: how many.
  ///   - isStoreLate: whether loops ask `lateStore`, which is over `store`.
  ///   - clientCA: whose certificates let in; nil for none.
  ///   - doorLevel: from which level on devices come in. Their registry has none.
  ///   - keeping: who keeps descriptors for it; nil for nobody.
  ///   - listeners: the first loop's listeners.
  ///   - estate: of the gate before, whose clock, store of keys and game it has.
  init(
    _ settings: [(String, String)] = [], clock: ManualClock = ManualClock(), root: AttestationRoot = .apple(),
    loops count: Int = 1, hasGame: Bool = false, isStoreLate: Bool = false, clientCA: [UInt8]? = nil,
    doorLevel: Level? = nil,
    keeping: MemoryDescriptors? = nil, listeners: [LoopListener] = [], after estate: Estate? = nil
  ) throws {
    self.estate = estate
    let clock = estate?.clock ?? clock
    self.clock = clock
    store = estate?.store ?? MemoryStore()
    lateStore = isStoreLate ? LateStore(store) : nil
    let folder = try TemporaryFolder(prefix: "portcullis-loop-")
    let path = folder.path
    var environment = [
      ("LISTEN", "127.0.0.1:0"), ("BACKEND", "echo:"), ("WORKERS", "1"), ("REQUIRE_APP_AUTH", "false"),
      ("ATTESTED_KEYS_PATH", path + "/keys.json"), ("CONTROL_SOCKET", path + "/gate.sock"),
    ]
    game = try estate?.game ?? (hasGame ? TestGame(path: path + "/game") : nil)
    if let game { environment[1].1 = "unix:\(game.path)" }
    if let clientCA {
      try WholeFile.write(clientCA, to: path + "/clients.pem", mode: 0o600, overwriting: true)
      environment += [("ALLOW_MTLS_FALLBACK", "true"), ("MTLS_CLIENT_CA_PATH", path + "/clients.pem")]
    }
    self.environment = environment
    let configuration = try Self.configuration(environment, settings)
    let gateLog = GateLog(sink: log, clock: clock, level: .info, format: .text)
    devices = try doorLevel.map { try Self.devices(at: path, from: $0, clock, gateLog) }
    self.folder = consume folder
    let server = try SelfSignedCertificate.localhost()
    material = TLSMaterial(
      certificateChainPEM: Array(server.certificate.pem.utf8),
      privateKeyPEM: Array(try server.key.pem().utf8),
      clientCAPEM: clientCA)
    let tls = try TLSServerContext.make(material, tickets: TicketKeys())
    let mailboxes = try (0..<count).map { _ in try Mailbox() }
    let logger = GateLogger(gateLog)
    let kept = try keeping.flatMap { store in try KeptStart.make(configuration, store, estate, logger) }
    shared = Shared(
      clock: clock, entropy: SeededEntropy(1), store: lateStore ?? store,
      attestations: AttestationVerifier(root: root), pool: try RegistrationPool(threads: 1),
      backends: BackendDirectory(target: configuration.backend.target), receipts: nil,
      pseudonyms: nil, charsets: CharsetLibrary(opening: []), devices: devices,
      storeClient: kept?.storeClient,
      log: logger, mailboxes: mailboxes)
    let loopSettings = LoopSettings(configuration, policy: configuration.attestationPolicy, tls: tls)
    loops = try mailboxes.indices.map { [shared] index in
      try Loop(
        index: index, shared: shared, settings: loopSettings, mailbox: mailboxes[index],
        acceptor: Acceptor(index == 0 ? listeners : []))
    }
    kept?.takeUp(shared, loopSettings, loops)
  }

  deinit {
    for loop in loops {
      loop.connections.forEach { connection in loop.turn(of: connection) { $0.close() } }
      // Those that wait hold each other.
      loop.endAllDetached(.draining)
      // PendingQueue that are gone are passed over when their turn comes, so many in each.
      repeat { loop.turn(waiting: 0) } while !loop.pendingQueue.isEmpty
    }
    shared.pool.stop()
    devices?.registry.stop()
    folder.take()?.remove()
  }

  private static func devices(
    at path: String, from level: Level, _ clock: ManualClock, _ log: GateLog
  ) throws -> Devices {
    let admitted = AdmittedDevices(level: level, log: log)
    let registry = try Registry(
      RegistryDatabase(path + "/devices.db"), settings: RegistrySettings(publicURL: "https://gate.example"),
      clock: clock, entropy: SeededEntropy(2), listener: admitted)
    try registry.begin()
    return Devices(registry: registry, admitted: admitted)
  }

  private static func configuration(
    _ environment: [(String, String)], _ settings: [(String, String)]
  ) throws -> GateConfiguration {
    let rest = environment.filter { name, _ in !settings.contains { $0.0 == name } }
    return try ConfigurationLoader.load(
      environment: rest + settings, files: SystemFiles(), processors: 1, descriptorLimit: 4096
    ).configuration
  }

  /// Other settings from now on.
  /// - Parameter clientCA: from now on, where there was one.
  func reload(_ settings: [(String, String)] = [], clientCA: [UInt8]? = nil) throws {
    material.clientCAPEM = clientCA ?? material.clientCAPEM
    let tls = try TLSServerContext.make(material, tickets: TicketKeys())
    let configuration = try Self.configuration(environment, settings)
    let next = LoopSettings(configuration, policy: configuration.attestationPolicy, tls: tls)
    for loop in loops { loop.receive(.reload(next, LoopAcknowledgement(loops: loops.count))) }
  }

  /// The first.
  var loop: Loop { loops[0] }

  /// Words of the log's lines so far.
  var events: [String] { log.events }
  /// All of them.
  var logLines: [String] { log.all }

  /// A player whose connection is as the loop takes it from its listener.
  func arrive(_ options: ClientOptions = ClientOptions(), at loop: Int = 0) throws -> Player {
    try Player(self, options, at: loop)
  }

  /// Each loop turns once, and whoever keeps descriptors is told what is new.
  func turn() {
    for loop in loops { loop.turn(waiting: 0) }
    shared.storeClient?.carryOutWaiting()
  }

  func pass(_ duration: Duration) {
    clock.advance(duration)
    turn()
  }
}

/// The other end of one connection: TLS by hand over a socket of this process.
final class Player {
  let client: TestClient
  private let harness: LoopHarness
  private var socket: Socket?
  private(set) var hasEnded = false

  fileprivate init(_ harness: LoopHarness, _ options: ClientOptions, at loop: Int) throws {
    self.harness = harness
    client = try TestClient(options)
    let pair = try SocketPair()
    socket = consume pair.near
    harness.loops[loop].admit(
      Arrival(socket: pair.far, peer: Endpoint(address: .loopbackV4, port: 40_000)))
  }

  /// Sends what waits, lets the loop turn, and takes what came.
  func exchange() {
    let bytes = client.takeOutput()
    if !bytes.isEmpty { send(bytes) }
    for _ in 0..<4 {
      harness.turn()
      receive()
    }
  }

  func send(_ bytes: [UInt8]) { _ = socket?.send(bytes.span) }

  private func receive() {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while !hasEnded {
      var span = bytes.mutableSpan
      switch socket?.receive(into: &span) {
      case .bytes(let count)?: client.feed(Array(bytes.prefix(count)))
      case .ended?, .failed?: hasEnded = true
      case .wouldBlock?, nil: return
      }
    }
  }

  func handshake() throws {
    for _ in 0..<10 {
      let step = client.handshake()
      exchange()
      if step == .finished { return }
    }
    Issue.record("the handshake did not come to its end")
  }

  /// Sends `text`, and returns what came back as text.
  func say(_ text: String) -> String {
    client.write(text)
    exchange()
    return hear()
  }

  func hear() -> String { String(decoding: hearBytes(), as: UTF8.self) }

  func hearBytes() -> [UInt8] {
    receive()
    var heard: [UInt8] = []
    while case .bytes(let bytes) = client.read() { heard += bytes }
    return heard
  }

  /// Takes so much off its socket at most, and returns how much there was.
  func hearSome(_ count: Int) -> Int {
    var bytes = [UInt8](repeating: 0, count: count)
    var taken = 0
    while taken < count {
      var span = bytes.mutableSpan
      guard case .bytes(let count)? = socket?.receive(into: &span) else { break }
      taken += count
    }
    return taken
  }

  /// Sends what waits, and nothing turns.
  func sendOutput() {
    let bytes = client.takeOutput()
    if !bytes.isEmpty { send(bytes) }
  }

  /// The connection goes without a word.
  func vanish() { socket = nil }

  static let upgrade = """
    GET / HTTP/1.1\r\nHost: g\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n
    """

  /// A frame as clients send it, masked with zeros.
  static func frame(_ opcode: UInt8, _ text: String) -> [UInt8] {
    [0x80 | opcode, 0x80 | UInt8(text.utf8.count), 0, 0, 0, 0] + Array(text.utf8)
  }
}

/// Two ends of one connection.
private struct SocketPair: ~Copyable {
  var near: Socket
  var far: Socket

  init() throws {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    // The kernel writes two numbers into an array of two.
    guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError("socketpair") }
    near = Socket(owning: ends[0])
    far = Socket(owning: ends[1])
  }
}

/// The log's lines, in order.
private final class KeptLines: LogSink {
  private let lines = Mutex<[String]>([])

  func write(_ line: [UInt8]) { lines.withLock { $0.append(String(decoding: line, as: UTF8.self)) } }

  var all: [String] { lines.withLock { $0 } }

  var events: [String] {
    lines.withLock { lines in
      lines.compactMap { line in
        line.split(separator: " ").first { $0.hasPrefix("event=") }.map { String($0.dropFirst(6)) }
      }
    }
  }
}

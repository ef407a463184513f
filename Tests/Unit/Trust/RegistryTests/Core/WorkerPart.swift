/// The registry's thread without a thread: a test hands it groups, sets its clocks, and breaks its disk.
import Addresses
import DeviceWire
import FaultDisk
import Kit
import PortcullisProtocol
import Synchronization
import System
import Testing
import Time

@testable import Registry

final class WorkerPart {
  let disk: FaultDisk
  let clock = ManualClock(nanoseconds: SystemClock().monotonic().nanoseconds)
  let listener = Listener()
  let reserve: TestReserve
  var upkeep: [any Upkeep] = []
  var settings = RegistrySettings(publicURL: "https://gate.example")
  private(set) var worker: RegistryWorker?
  private var lastNumber: UInt64 = 0

  init(seed: UInt64 = 1) throws {
    disk = try FaultDisk(seed: seed)
    reserve = TestReserve(disk)
  }

  /// The disk outlives whoever uses it.
  deinit { kill() }

  /// As another process on the same disk.
  func start() throws(StoreFailure) {
    worker = nil
    let store = try RegistryDatabase("devices.db", fileSystem: disk.name, reserve: reserve)
    worker = try RegistryWorker(
      store, settings: settings, clock: clock, entropy: KernelEntropy(), listener: listener,
      inbox: Monitor(Registry.Inbox()), upkeep: upkeep)
  }

  func stop() {
    worker?.finish()
    worker = nil
  }

  /// The process is gone without a word.
  func kill() {
    if let worker { Statements.check(worker.store) }
    worker?.store.close()
    worker = nil
  }

  /// Serves the calls as one group.
  /// - Returns: what each was told; nil for one that was told nothing yet.
  @discardableResult
  func serve(_ calls: [any RegistryCall], from origin: Origin = .gate) -> [Reply?] {
    let replies = Replies(count: calls.count)
    let requests = calls.enumerated().map { index, call in
      lastNumber += 1
      return Registry.Request(
        handle: RequestHandle(number: lastNumber), call: call, origin: origin, wait: nil,
        completion: { replies.set($0, at: index) })
    }
    worker?.serve(requests)
    erase()
    return replies.all
  }

  func serve(_ call: any RegistryCall, from origin: Origin = .gate) -> Reply? {
    serve([call], from: origin)[0]
  }

  /// What a request comes to, at once or later.
  final class Answer: Sendable {
    private let said = Mutex<Reply?>(nil)
    var reply: Reply? { said.withLock { $0 } }

    func say(_ reply: Reply) {
      said.withLock { said in
        if said != nil { Issue.record("answered twice") }
        said = reply
      }
    }
  }

  func submit(_ call: any RegistryCall, _ answer: Answer, from origin: Origin = .gate, wait: Duration? = nil)
  {
    lastNumber += 1
    worker?.serve([
      Registry.Request(
        handle: RequestHandle(number: lastNumber), call: call, origin: origin, wait: wait,
        completion: { answer.say($0) })
    ])
  }

  /// What woken requests and those with more to do come to.
  func goOn() {
    while let worker, !worker.ready.isEmpty {
      let group = worker.ready
      worker.ready = []
      worker.serve(group)
    }
    erase()
  }

  /// Where somebody waits for it.
  func erase() {
    if worker?.erasure?.waiting.isEmpty == false { worker?.eraseIfDue() }
  }

  func values() throws -> [String: [UInt8]] {
    let store = try RegistryDatabase("devices.db", fileSystem: disk.name, reserve: reserve)
    defer { store.close() }
    var found: [String: [UInt8]] = [:]
    for number in 0..<200 { found["v\(number)"] = try store.value("v\(number)") }
    return found
  }

  /// The highest time that the store has.
  func storedTime() throws -> UnixTime {
    let store = try RegistryDatabase("devices.db", fileSystem: disk.name, reserve: reserve)
    defer { store.close() }
    return try RegistryWorker.time(of: store)
  }

  /// The chain is whole, and holds as many rows as are said.
  func auditRows() throws -> [AuditRow] {
    let store = try RegistryDatabase("devices.db", fileSystem: disk.name, reserve: reserve)
    defer { store.close() }
    let rows = try store.auditRows(after: 0, limit: 10_000)
    var verifier = AuditVerifier(from: try store.auditBeginning())
    for row in rows { try verifier.follow(row) }
    return rows
  }
}

final class Listener: RegistryListener {
  private let heard = Mutex((effects: [RegistryEffect](), events: [RegistryEvent]()))

  func hear(_ effect: RegistryEffect) { heard.withLock { $0.effects.append(effect) } }
  func note(_ event: RegistryEvent) { heard.withLock { $0.events.append(event) } }

  var effects: [RegistryEffect] { heard.withLock { $0.effects } }
  var events: [RegistryEvent] { heard.withLock { $0.events } }
  var heads: [AuditHead] {
    events.compactMap { if case .auditHead(let head) = $0 { head } else { nil } }
  }
}

/// Room on the test's disk that can be given up once it was kept.
final class TestReserve: StoreReserve {
  static let bytes = 300_000

  private struct State {
    var isKept = false
    var hasRoom = true
  }

  private let state = Mutex(State())
  private let disk: FaultDisk

  init(_ disk: FaultDisk) {
    self.disk = disk
  }

  /// Others have filled the disk, or have left it.
  func setFull(_ isFull: Bool) {
    state.withLock { $0.hasRoom = !isFull }
    disk.setRoom(isFull ? 0 : nil)
  }

  func keep() -> Bool {
    state.withLock { state in
      state.isKept = state.isKept || state.hasRoom
      return state.isKept
    }
  }

  func giveUp() -> Bool {
    state.withLock { state in
      guard state.isKept else { return false }
      state.isKept = false
      if !state.hasRoom { disk.setRoom(Self.bytes) }
      return true
    }
  }
}

private final class Replies: Sendable {
  private let replies: Mutex<[Reply?]>

  init(count: Int) {
    replies = Mutex(Array(repeating: nil, count: count))
  }

  func set(_ reply: Reply, at index: Int) {
    replies.withLock { replies in
      if replies[index] != nil { Issue.record("answered twice") }
      replies[index] = reply
    }
  }

  var all: [Reply?] { replies.withLock { $0 } }
}

// MARK: Calls

/// Sets a value, and says so in the audit.
struct Put: RegistryCall {
  let name: String
  var value: [UInt8] = [1]
  var urgency = Urgency.ordinary
  var immediate: [RegistryEffect] = []
  var effects: [RegistryEffect] = []
  var revokes = ""
  var refusal: RegistryRefusal?
  var knows: AuditEntry.Member?

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    if let knows { transaction.know(knows) }
    try transaction.store.setValue(name, value)
    if let refusal { throw .refused(refusal) }
    for effect in effects { transaction.announce(effect) }
    try transaction.record(.init("put"), .word("name", name))
    return .reply(.answered(Array(name.utf8)))
  }
}

extension Reply {
  var isAnswered: Bool {
    switch self {
    case .answered, .value: true
    case .keys, .created, .permitted, .refused: false
    }
  }
  var code: String? { if case .refused(let refusal) = self { refusal.code.rawValue } else { nil } }
}

extension Identifier {
  /// Sixteen times the same byte.
  static func test(_ byte: UInt8) -> Self {
    guard let identifier = Self([UInt8](repeating: byte, count: 16)) else {
      fatalError("sixteen bytes are an identifier")
    }
    return identifier
  }
}

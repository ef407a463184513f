/// A registry of many devices and a long audit: how large it is, how soon it serves, how fast a device is found, and what
/// sharing a sync is worth.
internal import Bytes
internal import Crypto
internal import DeviceTokens
internal import DeviceWire
internal import Gateway
internal import Glibc
internal import Logs
internal import Registry
internal import SQLite
internal import System
internal import Time

enum RegistryMeasure {
  /// So many devices have keys of their own, and rows of the audit that calls have written; the others' rows are theirs
  /// with other names, of the same length.
  private static let real = 20_000
  private static let settings = RegistrySettings(publicURL: "https://gate.example")
  private static let now = UnixTime(milliseconds: 1_771_286_400_000)

  private static func path(in folder: String) -> String { "\(folder)/devices.db" }

  // MARK: Making

  static func make(folder: String, rows: Int) throws -> Report {
    let path = path(in: folder)
    let store = try RegistryDatabase(path)
    store.close()
    let empty = try fileSize(path)
    let devices = try fill(path, rows) { transaction, number in _ = try insertDevice(number, transaction) }
    try multiply(path, rows, devicesSQL)
    let withDevices = try fileSize(path)
    _ = try fill(path, rows) { transaction, number in try recordApproval(number, &transaction) }
    try multiply(path, rows, auditSQL)
    let whole = try fileSize(path)
    return Report(
      ("rows", Double(rows)), ("made_by_calls", Double(devices)),
      ("bytes_per_device", Double(withDevices - empty) / Double(rows)),
      ("bytes_per_android_device", try androidBytes("\(folder)/android.db", rows)),
      ("bytes_per_audit_row", Double(whole - withDevices) / Double(rows)))
  }

  /// Of phones whose second certificate is their own and the others those of a thousand, which take the most.
  private static func androidBytes(_ path: String, _ rows: Int) throws -> Double {
    try RegistryDatabase(path).close()
    let empty = try fileSize(path)
    let count = try fill(path, rows) { transaction, number in
      let id = try insertDevice(number, transaction, platform: .android)
      let others = ["leaf", "server \(number / 1000)", "intermediate", "root"].map {
        SHA256.hash(Array($0.utf8).span).array
      }
      // As long as Google's are.
      let serials = ([transaction.entropy.bytes(16)] + others).map { AndroidSerial(Array($0.prefix(16))) }
      try transaction.store.insert(Set(serials), of: id)
    }
    return Double(try fileSize(path) - empty) / Double(count)
  }

  /// Runs `body` for the first of them, as calls would.
  private static func fill(
    _ path: String, _ rows: Int, _ body: (inout Transaction, Int) throws -> Void
  ) throws -> Int {
    let store = try RegistryDatabase(path)
    let verifier = P256Verifier()
    var transaction = Transaction(
      store: store, now: now, entropy: KernelEntropy(), settings: settings,
      server: ServerID(random: KernelEntropy()), verifier: verifier,
      tokens: try TokenMint(store, at: now, verifier), devices: DeviceMemory(), origin: .gate)
    let count = min(rows, real)
    try store.begin()
    for number in 0..<count { try body(&transaction, number) }
    try store.commit()
    store.close()
    return count
  }

  private static func insertDevice(
    _ number: Int, _ transaction: Transaction, platform: DevicePlatform = .ios
  ) throws -> DeviceID {
    let keys = try (0..<2).map { _ in
      DevicePublicKey(try TokenKey.generate().point, checkedBy: transaction.verifier)
    }
    guard let first = keys[0], let keys = DeviceKeys(device: first, approval: keys[1]),
      let subject = Subject("player-\(100_000 + number)")
    else { throw Broken("a device cannot be made") }
    var device = DeviceRecord(
      id: DeviceID(random: transaction.entropy), state: .active, subject: subject,
      name: DeviceName("iPhone 15 Pro"),
      platform: platform, keys: keys, level: platform == .ios ? .appAttested : .hardwareAttested,
      verification: .app, createdAt: now)
    if platform == .ios { device.attestedKey = KeyIdentifier(SHA256.hash(keys.device.hash)) }
    device.activatedAt = now
    device.seenAt = now
    device.attestedAt = now
    device.appVersion = "2.14.1"
    try transaction.store.insert(device)
    return device.id
  }

  /// A request, a vote and a use of the lease in turn.
  private static func recordApproval(_ number: Int, _ transaction: inout Transaction) throws {
    let approval = AuditEntry.Member.approval(ApprovalID(random: transaction.entropy))
    guard let subject = Subject("player-\(100_000 + number)") else { throw Broken("no subject") }
    switch number % 3 {
    case 0:
      try transaction.record(
        .init("approval_asked"), approval, .service(ServiceID(random: transaction.entropy)),
        .subject(subject),
        .summary(SHA256.hash(Bytes32())))
    case 1:
      try transaction.record(
        .init("approval_voted"), approval, .subject(subject), .device(DeviceID(random: transaction.entropy)),
        .decision(.approve), .word("state", "approved"))
    default:
      try transaction.record(
        .init("lease_used"), .lease(LeaseID(random: transaction.entropy)), approval, .count(3))
    }
  }

  /// Rows of others, in the same tables and indexes.
  private static func multiply(
    _ path: String, _ rows: Int, _ statements: (_ from: Int, _ to: Int) -> [String]
  ) throws {
    let database = try Database.open(path)
    for start in stride(from: min(rows, real), to: rows, by: 50_000) {
      try database.begin()
      for statement in statements(start, min(rows, start + 50_000)) { try database.execute(statement) }
      try database.commit()
    }
    try database.checkpoint()
  }

  private static func numbers(_ from: Int, _ to: Int) -> String {
    "WITH RECURSIVE n(i) AS (VALUES(\(from)) UNION ALL SELECT i + 1 FROM n WHERE i + 1 < \(to))"
  }

  private static func devicesSQL(_ from: Int, _ to: Int) -> [String] {
    let names = RegistryDatabase.deviceColumns
    let values = names.split { $0 == "," || $0 == " " }.map { name in
      switch name {
      case "id": "randomblob(16)"
      case "subject": "'player-' || (100000 + i)"
      case "device_key", "approval_key": "randomblob(64)"
      case "attested_key": "randomblob(32)"
      default: String(name)
      }
    }
    return [
      """
      \(numbers(from, to)) INSERT INTO devices (\(names)) SELECT \(values.joined(separator: ", ")) \
      FROM n JOIN devices ON number = 1 + i % \(min(from, real))
      """,
      // Nobody counted along, as a store would have done.
      "UPDATE tallies SET count = (SELECT count(*) FROM devices WHERE devices.state = tallies.state) WHERE kind = 0",
    ]
  }

  private static func auditSQL(_ from: Int, _ to: Int) -> [String] {
    [
      """
      \(numbers(from, to)) INSERT INTO audit (gate, seq, at, text, salt, hash) SELECT gate, i + 1, at, text, randomblob(16), randomblob(32)
      FROM n JOIN audit ON seq = 1 + i % \(min(from, real))
      """,
      // A request is about a subject, a vote about a device as well.
      "\(numbers(from, to)) INSERT INTO audit_about (block, about, seq) SELECT (i + 1) >> 10, randomblob(8), i + 1 FROM n WHERE i % \(min(from, real)) % 3 < 2",
      "\(numbers(from, to)) INSERT INTO audit_about (block, about, seq) SELECT (i + 1) >> 10, randomblob(8), i + 1 FROM n WHERE i % \(min(from, real)) % 3 = 1",
    ]
  }

  private static func fileSize(_ path: String) throws -> Int {
    var status = stat()
    // Closing the last connection has moved the log to the file; the structure is filled.
    guard unsafe stat(path, &status) == 0 else { throw SystemError("stat") }
    return status.st_size
  }

  // MARK: Measuring

  /// Opened as `serve` does: once empty, once as it is, once with the door's devices, each the best of three.
  static func run(folder: String) throws -> Report {
    // First, as memory that others have given back would hide what this takes.
    let memory = try doorBytes(path(in: folder))
    let empty = try start(folder + "/empty.db", at: nil)
    let full = try start(path(in: folder), at: nil)
    let admitted = try start(path(in: folder), at: .appAttested)
    let found = try lookups(path(in: folder))
    return Report(
      ("start_seconds", full.seconds - empty.seconds), ("door_seconds", admitted.seconds - empty.seconds),
      ("door_devices", Double(admitted.devices)), ("door_bytes", Double(memory)),
      ("lookup_p50_us", found.median),
      ("lookup_p99_us", found.p99))
  }

  /// What the gate's own door and a registry take that has told it of all devices.
  private static func doorBytes(_ path: String) throws -> Int {
    var settings = settings
    settings.doorLevel = .appAttested
    let before = try Memory.residentBytes()
    let log = GateLog(sink: Nowhere())
    let admitted = AdmittedDevices(level: .appAttested, log: log)
    let registry = try Registry(
      RegistryDatabase(path), settings: settings, clock: SystemClock(), entropy: KernelEntropy(),
      listener: admitted)
    try registry.begin()
    let taken = try Memory.residentBytes() - before
    registry.stop()
    return withExtendedLifetime(admitted) { taken }
  }

  private struct Nowhere: LogSink {
    func write(_ line: [UInt8]) {}
  }

  /// Keeps what the door is told; what the gate's own makes of it is not measured here.
  private final class Door: RegistryListener {
    let devices = Monitor<[ActiveDevice]>([])

    func hear(_ effect: RegistryEffect) {
      guard case .deviceActive(let device) = effect else { return }
      devices.withLock { devices, _ in devices.append(device) }
    }

    func note(_ event: RegistryEvent) {}
  }

  private static func start(_ path: String, at level: Level?) throws -> (seconds: Double, devices: Int) {
    var best = Double.infinity
    var devices = 0
    for _ in 0..<3 {
      var settings = settings
      settings.doorLevel = level
      let admitted = Door()
      let clock = WallClock()
      let registry = try Registry(
        RegistryDatabase(path), settings: settings, clock: SystemClock(), entropy: KernelEntropy(),
        listener: admitted)
      try registry.begin()
      best = min(best, clock.seconds)
      devices = admitted.devices.withLock { devices, _ in devices.count }
      registry.stop()
    }
    return (best, devices)
  }

  /// Each one timed by itself, of those with keys of their own; the second time that they are asked for.
  private static func lookups(_ path: String) throws -> (median: Double, p99: Double) {
    let store = try RegistryDatabase(path)
    defer { store.close() }
    let known = try store.devices(of: nil, in: nil, after: nil, limit: real).map(\.id).shuffled()
    let clock = SystemClock()
    var times: [UInt64] = []
    for round in 0..<2 {
      for id in known {
        let start = clock.monotonic().nanoseconds
        guard try store.device(id) != nil else { throw Broken("a device is not found") }
        if round == 1 { times.append(clock.monotonic().nanoseconds - start) }
      }
    }
    times.sort()
    return (Double(times[times.count / 2]) / 1000, Double(times[times.count * 99 / 100]) / 1000)
  }
}

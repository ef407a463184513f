/// A registry with a service and active phones, one of a subject, and for the load generator what each of them has: a
/// token, and the key that it decides with.
internal import ApprovalPolicy
internal import Bytes
internal import Crypto
internal import DeviceTokens
internal import DeviceWire
internal import Registry
internal import System
internal import Time

enum DecisionPhones {
  private static let token = "the-service-token-of-the-bench-and-of-none-"

  /// - Parameter path: of the file for the load generator. Its first line is the server's id and the service's token;
  ///   each other one is a device's id, its subject, its token, and its approval key's scalar and point.
  static func make(folder: String, count: Int, publicURL: String, path: String) throws -> Report {
    let database = "\(folder)/devices.db"
    let settings = RegistrySettings(publicURL: publicURL)
    // It names itself, and has a key for tokens, once it was there.
    let registry = try Registry(
      RegistryDatabase(database), settings: settings, clock: SystemClock(), entropy: KernelEntropy(),
      listener: Nobody())
    try registry.begin()
    registry.stop()
    let store = try RegistryDatabase(database)
    defer { store.close() }
    let now = SystemClock().wall()
    let verifier = P256Verifier()
    let mint = try TokenMint(store, at: now, verifier)
    var text = "\(Hex.encode(registry.server.bytes.span)) \(token)\n"
    try store.begin()
    try insertService(into: store, at: now)
    for number in 0..<count {
      let key = try TokenKey.generate()
      let device = try device(number, key, at: now, verifier)
      try store.insert(device)
      let issued = try mint.issue(
        for: device, audience: .gate, issuer: publicURL, now: now, entropy: KernelEntropy())
      text += "\(device.id.text) \(device.subject?.name ?? "") \(issued.text) "
      text += "\(try scalar(of: key)) \(Hex.encode(key.point.x963.span))\n"
    }
    try store.commit()
    try WholeFile.write(Array(text.utf8), to: path, mode: 0o600, overwriting: true)
    return Report(("phones", Double(count)))
  }

  private final class Nobody: RegistryListener {
    func hear(_ effect: RegistryEffect) {}
    func note(_ event: RegistryEvent) {}
  }

  private static func insertService(into store: RegistryDatabase, at now: UnixTime) throws {
    guard let name = ServiceName("mud") else { throw Broken("no name") }
    try store.insert(
      ServiceRecord(
        id: ServiceID(random: KernelEntropy()), name: name, tokenHash: ServiceToken.hash(token),
        scopes: .approvals, site: nil, subjects: Glob("*"), createdAt: now))
  }

  private static func device(
    _ number: Int, _ approval: TokenKey, at now: UnixTime, _ verifier: P256Verifier
  ) throws -> DeviceRecord {
    guard let first = DevicePublicKey(try TokenKey.generate().point, checkedBy: verifier),
      let second = DevicePublicKey(approval.point, checkedBy: verifier),
      let keys = DeviceKeys(device: first, approval: second),
      let subject = Subject("player-\(100_000 + number)")
    else { throw Broken("a device cannot be made") }
    var device = DeviceRecord(
      id: DeviceID(random: KernelEntropy()), state: .active, subject: subject,
      name: DeviceName("iPhone 15 Pro"),
      platform: .ios, keys: keys, level: .appAttested, verification: .app, createdAt: now)
    device.activatedAt = now
    device.seenAt = now
    device.attestedAt = now
    return device
  }

  private static func scalar(of key: TokenKey) throws -> String {
    let scalar = try key.scalar()
    // The pointer is good for `count` bytes while the closure runs, which copies them.
    let bytes = unsafe scalar.withPointer {
      unsafe Array(UnsafeBufferPointer(start: $0, count: scalar.count))
    }
    return Hex.encode(bytes.span)
  }
}

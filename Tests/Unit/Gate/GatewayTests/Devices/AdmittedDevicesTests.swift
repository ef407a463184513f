import Bytes
import Crypto
import DeviceWire
import Identity
import KeyStore
import Kit
import Logs
import Registry
import Stores
import System
import Testing
import Time

@testable import Admission
@testable import Gateway
@testable import Scheduling

/// Devices that come in by keys of their own (docs/protocol.md, "Admission"), and what ends with them.
@Suite struct AdmittedDevicesTests {
  private static let settings = [
    ("REQUIRE_APP_AUTH", "true"), ("APPATTEST_APP_IDS", "TEAM123456.a.b"), ("MAX_SESSIONS_PER_KEY", "2"),
  ]

  /// A device whose key is in software.
  private final class Handset {
    let harness: LoopHarness
    let id = DeviceID(random: KernelEntropy())
    let key: SigningKey

    init(_ harness: LoopHarness) throws {
      self.harness = harness
      key = try SigningKey.generate(.p256)
    }

    func active(
      _ level: Level = .appAttested, attestedBy keyID: KeyIdentifier? = nil, of subject: Subject? = nil
    ) throws -> ActiveDevice {
      ActiveDevice(
        id: id, key: try key.point(), level: level, attestedKey: keyID, subject: subject)
    }

    func nonce(_ purpose: ChallengePurpose = .device) throws -> Bytes32 {
      try #require(harness.shared.challenges.issue(loop: 0, for: .purpose(purpose))).nonce
    }

    /// - Parameter signed: what is signed in the place of the message.
    func fields(
      nonce: Bytes32? = nil, signed: ((ServerID, Bytes32) -> DeviceMessage)? = nil,
      by signer: Handset? = nil
    ) throws -> [String] {
      let nonce = try nonce ?? self.nonce()
      let server = try #require(harness.devices).registry.server
      let message =
        signed?(server, nonce) ?? .deviceAuth(server: server, device: id, nonce: nonce, for: .upgrade)
      let signature = try (signer ?? self).key.sign(message.bytes)
      return [
        "X-Device-Id: \(id)", "X-Device-Nonce: \(nonce.hex)",
        "X-Device-Signature: \(Base64.encodeURL(signature.span))",
      ]
    }
  }

  private func harness(_ level: Level? = .appAttested, loops: Int = 1) throws -> LoopHarness {
    try LoopHarness(Self.settings, loops: loops, hasGame: true, doorLevel: level)
  }

  /// The answer to an upgrade with these fields.
  private func answer(_ harness: LoopHarness, _ fields: [String]) throws -> String {
    let app = TestApp(harness)
    try app.call(fields: fields)
    // The registry's answer, where one is awaited, wakes the loop.
    for _ in 0..<500 where app.head.isEmpty {
      harness.loop.turn(waiting: 20)
      app.hear()
    }
    return app.head
  }

  // MARK: Coming in

  @Test func byItsKey() throws {
    let harness = try harness()
    let handset = try Handset(harness)
    harness.devices?.admitted.hear(.deviceActive(try handset.active()))
    let app = TestApp(harness)
    try app.connect(fields: try handset.fields())
    #expect(app.head.hasPrefix("HTTP/1.1 101 "))
    #expect(harness.shared.sessions.value == 1)
    // And again: another challenge, the same device.
    try app.connect(fields: try handset.fields())
    #expect(app.wasResumed)
  }

  @Test func whatIsRefused() throws {
    let harness = try harness()
    let (handset, other) = (try Handset(harness), try Handset(harness))
    let admitted = try #require(harness.devices).admitted
    admitted.hear(.deviceActive(try handset.active()))
    let used = try handset.nonce()
    #expect(try answer(harness, try handset.fields(nonce: used)).hasPrefix("HTTP/1.1 101 "))
    func refusal(_ fields: [String]) throws -> String? {
      let head = try answer(harness, fields)
      return head.split(separator: "\r\n").first { $0.hasPrefix("Portcullis-Error: ") }.map {
        String($0.dropFirst(18))
      }
    }
    #expect(try refusal(try handset.fields(nonce: used)) == "nonce_invalid")
    #expect(try refusal(try handset.fields(nonce: try handset.nonce(.attest))) == "nonce_invalid")
    let plain = try #require(harness.shared.challenges.issue(loop: 0)).nonce
    #expect(try refusal(try handset.fields(nonce: plain)) == "nonce_invalid")
    #expect(try refusal(try other.fields()) == "device_unknown")
    #expect(try refusal(try handset.fields(by: other)) == "signature_rejected")
    for purpose in [DeviceAuthPurpose.token(.gate), .heartbeat] {
      let fields = try handset.fields { server, nonce in
        .deviceAuth(server: server, device: handset.id, nonce: nonce, for: purpose)
      }
      #expect(try refusal(fields) == "signature_rejected")
    }
    let elsewhere = try handset.fields { _, nonce in
      .deviceAuth(server: ServerID(random: KernelEntropy()), device: handset.id, nonce: nonce, for: .upgrade)
    }
    #expect(try refusal(elsewhere) == "signature_rejected")
    for index in 0..<3 {
      var fields = try handset.fields()
      fields.remove(at: index)
      #expect(try refusal(fields) == "bad_request")
    }
    #expect(try refusal(try handset.fields() + ["X-App-Assert-Nonce: x"]) == "bad_request")
    #expect(try refusal([]) == "assertion_required")
    #expect(harness.shared.register.sessions(of: Credential.owner(handset.id)).count == 1)
  }

  @Test func whereNoneComeIn() throws {
    let harness = try harness(nil)
    #expect(harness.devices == nil)
    #expect(try answer(harness, ["X-Device-Id: x"]).contains("Portcullis-Error: assertion_required"))
  }

  // MARK: Going

  /// By its revocation, and by a level that is too low from now on.
  @Test(arguments: [true, false]) func aDeviceThatIsGone(isRevoked: Bool) throws {
    let harness = try harness(loops: 2)
    let (handset, other) = (try Handset(harness), try Handset(harness))
    let admitted = try #require(harness.devices).admitted
    for phone in [handset, other] { admitted.hear(.deviceActive(try phone.active())) }
    let apps = [TestApp(harness), TestApp(harness), TestApp(harness)]
    try apps[0].connect(at: 0, fields: try handset.fields())
    try apps[1].connect(at: 1, fields: try handset.fields())
    try apps[2].connect(at: 1, fields: try other.fields())
    apps[1].player?.vanish()
    harness.turn()
    admitted.hear(isRevoked ? .deviceGone(handset.id) : .deviceActive(try handset.active(.bare)))
    for _ in 0..<4 {
      harness.turn()
      for app in apps { app.hear() }
    }
    #expect(apps[0].closeCode == 1000)
    #expect(apps[2].closeCode == nil)
    #expect(harness.shared.register.sessions(of: Credential.owner(handset.id)).isEmpty)
    #expect(harness.shared.register.sessions(of: Credential.owner(other.id)).count == 1)
    #expect(try answer(harness, try handset.fields()).contains("Portcullis-Error: device_unknown"))
  }

  /// While the game is being called: nobody gets in by what was judged before.
  @Test(arguments: ["revoked", "lower", "another key", "its key revoked", "the same"])
  func aDeviceThatChangesOnItsWay(_ change: String) throws {
    let harness = try harness()
    let (handset, other, key) = (try Handset(harness), try Handset(harness), registeredKey(harness))
    let admitted = try #require(harness.devices).admitted
    admitted.hear(.deviceActive(try handset.active(attestedBy: key.identifier)))
    let app = TestApp(harness)
    try app.call(fields: try handset.fields())
    harness.turn()
    try #require(harness.shared.register.sessions(of: Credential.owner(handset.id)).count == 1)
    var code: String? = "device_revoked"
    switch change {
    // Told by the registry, which ends the upgrade; or not told yet.
    case "revoked": admitted.hear(.deviceGone(handset.id))
    case "lower": admitted.hear(.deviceActive(try handset.active(.bare)))
    case "another key":
      let active = ActiveDevice(
        id: handset.id, key: try other.key.point(), level: .appAttested, attestedKey: key.identifier)
      admitted.hear(.deviceActive(active))
      code = "signature_rejected"
    case "its key revoked": _ = harness.store.revoke(key.identifier, now: harness.clock.wall())
    default:
      admitted.hear(.deviceActive(try handset.active(attestedBy: key.identifier)))
      code = nil
    }
    for _ in 0..<8 {
      harness.turn()
      app.hear()
    }
    #expect(app.head.hasPrefix("HTTP/1.1 101 ") == (code == nil))
    if let code { #expect(app.head.contains("Portcullis-Error: \(code)")) }
    #expect(harness.shared.sessions.value == (code == nil ? 1 : 0))
    #expect(harness.shared.register.keyCount == (code == nil ? 2 : 0))
  }

  // MARK: Sessions of a device

  /// Those by its App Attest key count together with those by its own.
  @Test func sessionsAreCountedTogether() throws {
    let harness = try harness()
    let (handset, owner) = (try Handset(harness), KeyIdentifier(Bytes32(words: 1, 2, 3, 4)))
    let register = harness.shared.register
    harness.devices?.admitted.hear(.deviceActive(try handset.active(attestedBy: owner)))
    // One that came by the App Attest key, on a loop that is not here.
    let older = SessionReference(loop: 9, token: 1)
    #expect(register.admit(older, of: owner, limit: 2) == [])
    let app = TestApp(harness)
    try app.connect(fields: try handset.fields())
    #expect(register.sessions(of: owner).count == 2)
    let second = SessionReference(loop: 9, token: 2)
    #expect(register.admit(second, of: owner, limit: 2) == [older])
    #expect(register.sessions(of: Credential.owner(handset.id)).count == 1)
    harness.devices?.admitted.hear(.deviceGone(handset.id))
    for _ in 0..<4 {
      harness.turn()
      app.hear()
    }
    #expect(app.closeCode == 1000)
    #expect(register.sessions(of: owner) == [older, second])
  }

  /// Whichever App Attest keys it has had: the device has no more sessions than one key.
  @Test func sessionsOfADeviceAreBounded() throws {
    let harness = try harness()
    let handset = try Handset(harness)
    var apps: [TestApp] = []
    for number in 1...3 as ClosedRange<UInt64> {
      let keyID = KeyIdentifier(Bytes32(words: number, 2, 3, 4))
      harness.devices?.admitted.hear(.deviceActive(try handset.active(attestedBy: keyID)))
      let app = TestApp(harness)
      try app.connect(fields: try handset.fields())
      apps.append(app)
    }
    for _ in 0..<4 {
      harness.turn()
      for app in apps { app.hear() }
    }
    #expect(apps[0].closeCode != nil && apps[1].closeCode == nil && apps[2].closeCode == nil)
    #expect(harness.shared.register.sessions(of: Credential.owner(handset.id)).count == 2)
  }

  @Test func approvalsThatAreOpen() throws {
    let harness = try harness()
    let (handset, other) = (try Handset(harness), try Handset(harness))
    let admitted = try #require(harness.devices).admitted
    for phone in [handset, other] { admitted.hear(.deviceActive(try phone.active())) }
    let (app, stranger) = (TestApp(harness), TestApp(harness))
    try app.connect(fields: try handset.fields())
    try stranger.connect(fields: try other.fields())
    let counted = app.count
    admitted.hear(.approvalsOpen(handset.id, attestedBy: nil, count: 1))
    admitted.hear(.approvalsOpen(handset.id, attestedBy: nil, count: 2))
    for _ in 0..<4 {
      harness.turn()
      for app in [app, stranger] { app.hear() }
    }
    #expect(app.events.last == #"{"type":"approvals","open":2}"#)
    // However many logins wait: the phone asks which.
    for _ in 0..<2 { admitted.hear(.codeWanted(handset.id, attestedBy: nil)) }
    for _ in 0..<4 {
      harness.turn()
      for app in [app, stranger] { app.hear() }
    }
    #expect(app.events.suffix(2) == [#"{"type":"approvals","open":2}"#, #"{"type":"otp"}"#])
    #expect(app.count == counted)
    #expect(!stranger.events.contains { $0.contains("otp") })
    #expect(!stranger.events.contains { $0.contains("approvals") })
  }

  /// A session by an App Attest key is its device's.
  @Test func approvalsOfWhoCameByAssertion() throws {
    let harness = try LoopHarness(hasGame: true, doorLevel: .appAttested)
    let (handset, keyID) = (try Handset(harness), KeyIdentifier(Bytes32(words: 1, 2, 3, 4)))
    let app = TestApp(harness)
    try app.connect()
    var token: Token?
    harness.loop.sessions.forEach { token = $0.token }
    harness.shared.register.enter(harness.loop.reference(to: try #require(token)), of: keyID)
    harness.devices?.admitted.hear(.approvalsOpen(handset.id, attestedBy: keyID, count: 3))
    for _ in 0..<4 {
      harness.turn()
      app.hear()
    }
    #expect(app.events.last == #"{"type":"approvals","open":3}"#)
  }

  private func registeredKey(_ harness: LoopHarness, _ number: UInt64 = 1) -> NewKey {
    let key = NewKey(
      identifier: KeyIdentifier(Bytes32(words: number, 2, 3, 4)),
      publicKey: P256Point(x: Bytes32(), y: Bytes32()),
      appID: "TEAM123456.a.b", environment: .production, validationCategory: nil, bundleVersion: nil,
      registeredAt: UnixTime(milliseconds: 0))
    _ = harness.store.register(key) { _ in }
    return key
  }

  /// The key is revoked, and the registry has not heard of it yet.
  @Test func aDeviceWhoseKeyIsRevoked() throws {
    let harness = try harness()
    let (handset, key) = (try Handset(harness), registeredKey(harness))
    harness.devices?.admitted.hear(.deviceActive(try handset.active(attestedBy: key.identifier)))
    let device = try #require(harness.devices?.admitted.device(handset.id))
    #expect(!harness.shared.isShutOut(.device(device)))
    _ = harness.store.revoke(key.identifier, now: harness.clock.wall())
    #expect(harness.shared.isShutOut(.device(device)))
    #expect(try answer(harness, try handset.fields()).contains("Portcullis-Error: device_revoked"))
  }

  /// What went with a device is revoked where all App Attest keys are.
  @Test func theKeyOfADevice() throws {
    let harness = try harness()
    let key = registeredKey(harness)
    harness.devices?.admitted.hear(.attestedKeyRevoked(key.identifier))
    harness.turn()
    #expect(harness.store.isRevoked(key.identifier))
  }

  /// What went before there were loops is refused before one of them serves.
  @Test func keysThatWentBeforeTheLoops() throws {
    let harness = try harness()
    let admitted = AdmittedDevices(log: GateLog(sink: Nowhere()))
    let key = registeredKey(harness)
    admitted.hear(.attestedKeyRevoked(key.identifier))
    #expect(!harness.store.isRevoked(key.identifier))
    admitted.attach(to: harness.shared)
    #expect(harness.store.isRevoked(key.identifier))
  }

  // MARK: Ordered out, before the registry has looked into its store

  /// As the door is told of a device.
  enum Standing: CaseIterable {
    case active, tooWeak, waiting
  }

  private struct Nowhere: LogSink {
    func write(_ line: [UInt8]) {}
  }

  private static func effect(_ device: ActiveDevice, _ standing: Standing) -> RegistryEffect {
    standing == .waiting ? .deviceWaits(device) : .deviceActive(device)
  }

  /// Where devices come in, and where none does: whoever plays by its App Attest key ends, and does not come again.
  @Test(arguments: [Level.appAttested, nil], Standing.allCases)
  func theKeyGoesWithItsDevice(level: Level?, standing: Standing) throws {
    let harness = try harness()
    let admitted = AdmittedDevices(level: level, log: GateLog(sink: Nowhere()))
    admitted.attach(to: harness.shared)
    let subject = try #require(Subject("anna"))
    for byName in [false, true] {
      let (handset, other) = (try Handset(harness), try Handset(harness))
      let number: UInt64 = byName ? 3 : 1
      let (key, others) = (registeredKey(harness, number), registeredKey(harness, number + 1))
      let weak = standing == .tooWeak ? Level.bare : .appAttested
      admitted.hear(
        Self.effect(try handset.active(weak, attestedBy: key.identifier, of: subject), standing))
      admitted.hear(
        Self.effect(try other.active(weak, attestedBy: others.identifier, of: Subject("Anna")), standing))
      #expect((admitted.device(handset.id) != nil) == (level != nil && standing == .active))
      let app = TestApp(harness)
      try app.connect(fields: try fields(of: harness))
      var token: Token?
      harness.loop.sessions.forEach { if $0.state != .ended { token = $0.token } }
      harness.shared.register.enter(harness.loop.reference(to: try #require(token)), of: key.identifier)
      admitted.hear(byName ? .subjectRevoked(subject) : .deviceRevoked(handset.id))
      for _ in 0..<4 {
        harness.turn()
        app.hear()
      }
      #expect(app.closeCode != nil)
      #expect(harness.store.isRevoked(key.identifier) && admitted.device(handset.id) == nil)
      #expect(!harness.store.isRevoked(others.identifier))
      #expect((admitted.device(other.id) != nil) == (level != nil && standing == .active))
    }
  }

  /// Anybody who may come in.
  private func fields(of harness: LoopHarness) throws -> [String] {
    let handset = try Handset(harness)
    harness.devices?.admitted.hear(.deviceActive(try handset.active()))
    return try handset.fields()
  }

  /// Of a device that is known by nothing else as well.
  @Test(arguments: [true, false]) func earlierKeysGoWithTheirDevice(byName: Bool) throws {
    let harness = try harness()
    let admitted = try #require(harness.devices).admitted
    let (handset, anna) = (try Handset(harness), try #require(Subject("anna")))
    let keys = (1...3).map { registeredKey(harness, $0).identifier }
    admitted.hear(.formerKey(keys[0], of: handset.id, subject: Subject("bert")))
    admitted.hear(.formerKey(keys[1], of: handset.id, subject: Subject("bert")))
    admitted.hear(.formerKey(keys[2], of: DeviceID(random: KernelEntropy()), subject: Subject("bert")))
    admitted.hear(.deviceActive(try handset.active(.bare, of: anna)))
    admitted.hear(byName ? .subjectRevoked(anna) : .deviceRevoked(handset.id))
    harness.turn()
    #expect(keys.map(harness.store.isRevoked) == [true, true, false])
  }

  /// It is another's from then on, or nobody's: what was known of it is not.
  @Test func whatIsKnownOfADeviceIsItsLast() throws {
    let harness = try harness()
    let admitted = try #require(harness.devices).admitted
    let (handset, key, next) = (
      try Handset(harness), registeredKey(harness, 1).identifier, registeredKey(harness, 2).identifier
    )
    let (anna, bert) = (try #require(Subject("anna")), try #require(Subject("bert")))
    admitted.hear(.deviceActive(try handset.active(attestedBy: key, of: anna)))
    admitted.hear(.deviceActive(try handset.active(attestedBy: next, of: bert)))
    admitted.hear(.subjectRevoked(anna))
    harness.turn()
    #expect(admitted.device(handset.id) != nil && !harness.store.isRevoked(next))
    admitted.hear(.deviceWaits(try handset.active(attestedBy: key)))
    admitted.hear(.formerKey(next, of: handset.id, subject: nil))
    admitted.hear(.deviceExpired(handset.id))
    admitted.hear(.deviceRevoked(handset.id))
    harness.turn()
    #expect(!harness.store.isRevoked(key) && !harness.store.isRevoked(next))
  }
}

/// What a registry tells at its start.
import Bytes
import DeviceTokens
import DeviceWire
import FaultDisk
import Kit
import SQL
import SQLite
import Synchronization
import System
import Testing
import Time

@testable import Registry

@Suite struct StandingTests {
  private final class Ear: RegistryListener {
    let heard = Mutex<[RegistryEffect]>([])
    func hear(_ effect: RegistryEffect) { heard.withLock { $0.append(effect) } }
    func note(_ event: RegistryEvent) {}
  }

  let registry: RegistryHarness
  let part: DevicePart

  init() throws {
    registry = try RegistryHarness()
    part = DevicePart(registry)
  }

  private func start() throws -> [RegistryEffect] {
    let ear = Ear()
    _ = try RegistryWorker(
      registry.store, settings: registry.settings, clock: SystemClock(), entropy: KernelEntropy(),
      listener: ear, inbox: Monitor(Registry.Inbox()))
    return ear.heard.withLock { $0 }
  }

  @Test func keysServicesAndDevices() throws {
    let bare = try part.activePhone()
    let attested = try part.activePhone(evidence: appKey(1))
    let revoked = try part.activePhone(evidence: appKey(2))
    try part.revoke(revoked)
    let waiting = try TestPhone()
    _ = try part.enroll(waiting, evidence: appKey(3))
    #expect(try part.attest(attested, by: appKey(4)).code == nil)
    // Keys that went with their devices, whoever comes in: they have a store of their own.
    let always = [
      RegistryEffect.keySet(registry.tokens.ring.jwks), .services([:]), .attestedKeyRevoked(appKey(2)),
    ]
    // And those that would go with theirs.
    let standing = [
      RegistryEffect.deviceActive(try part.record(attested).active),
      .deviceWaits(try part.record(waiting).active),
      .formerKey(appKey(1), of: try attested.required, subject: nil),
    ]
    for level in [Level?.none, .appAttested] {
      registry.settings.doorLevel = level
      #expect(try start() == always + standing)
    }
    registry.settings.doorLevel = .hardwareAttested
    #expect(try start() == always + standing)
    registry.settings.doorLevel = .bare
    #expect(try start().count == 7)
    #expect(try start().contains(.deviceActive(part.record(bare).active)))
  }

  /// Whoever has the tables has the same, without the registry's thread.
  @Test func theDoorIsReadWithoutTheRegistry() throws {
    _ = try part.activePhone()
    _ = try part.activePhone(evidence: appKey(1))
    let revoked = try part.activePhone(evidence: appKey(2))
    try part.revoke(revoked)
    for level in [Level?.none, .bare] {
      registry.settings.doorLevel = level
      let told = try start()
      var read: [RegistryEffect] = []
      var reading = DoorReading(from: level)
      #expect(try reading.begin(registry.store) { read.append($0) } == level.map { _ in 2 })
      while try reading.goOn(registry.store, tell: { read.append($0) }) {}
      #expect([.keySet(registry.tokens.ring.jwks)] + read == told)
    }
  }

  /// Beyond some thousands of devices nobody waits for the rest, which is read between groups of requests, and on behind a
  /// store that has failed.
  @Test func keysOfManyDevicesAreReadInPieces() throws {
    let part = try WorkerPart()
    try part.start()
    var expected: [RegistryEffect] = []
    for number in 0..<3 {
      let device = try Self.insert(appKey(UInt64(number)), at: 40_000 * number + 2, part)
      expected.append(.deviceActive(device.active))
    }
    part.stop()
    try part.start()
    let worker = try #require(part.worker)
    var told: [RegistryEffect] {
      part.listener.effects.filter { if case .deviceActive = $0 { true } else { false } }
    }
    #expect(told == [expected[0]])
    part.disk.plan(.error, at: 0, count: 100)
    #expect(part.serve(Put(name: "v0"))?.code == "store_unavailable")
    for _ in 0..<100 { worker.goOnReadingDoor() }
    #expect(told == [expected[0]])
    part.disk.countCalls()
    part.clock.advance(.seconds(60))
    worker.recoverIfDue()
    for _ in 0..<100 { worker.goOnReadingDoor() }
    #expect(told == expected && worker.doorReading == nil)
    part.stop()
  }

  /// An active device with a row of this number.
  private static func insert(
    _ key: KeyIdentifier, at number: Int, _ part: WorkerPart
  ) throws -> DeviceRecord {
    let store = try #require(part.worker?.store)
    var device = DeviceRecord(
      id: DeviceID(random: KernelEntropy()), state: .active, subject: Subject("anna"), name: nil,
      platform: .ios, keys: try TestPhone().keys, level: .appAttested, verification: .app,
      createdAt: part.clock.wall())
    device.attestedKey = key
    try store.insert(device)
    _ = try store.run(
      "UPDATE devices SET number = ?2 WHERE id = ?1", [.id(device.id), .integer(Int64(number))])
    return try #require(try store.device(device.id))
  }
}

/// What a registry tells at its start.
import DeviceTokens
import DeviceWire
import Synchronization
import System
import Testing

@testable import Registry

@Suite struct StandingTests {
  private final class Ear: RegistryListener {
    let heard = Mutex<[RegistryEffect]>([])
    func hear(_ effect: RegistryEffect) { heard.withLock { $0.append(effect) } }
    func note(_ event: RegistryEvent) {}
  }

  let registry: RegistryHarness
  let room: DeviceRoom

  init() throws {
    registry = try RegistryHarness()
    room = DeviceRoom(registry)
  }

  private func start() throws -> [RegistryEffect] {
    let ear = Ear()
    _ = try RegistryWorker(
      registry.store, settings: registry.settings, clock: SystemClock(), entropy: KernelEntropy(),
      listener: ear, inbox: Monitor(Registry.Inbox()))
    return ear.heard.withLock { $0 }
  }

  @Test func keysServicesAndDevices() throws {
    let bare = try room.activePhone()
    let attested = try room.activePhone(evidence: appKey(1))
    let revoked = try room.activePhone(evidence: appKey(2))
    try room.revoke(revoked)
    _ = try room.enroll(TestPhone(), evidence: appKey(3))
    // Keys that went with their devices, whoever comes in: they have a store of their own.
    let always = [
      RegistryEffect.keySet(registry.tokens.ring.jwks), .services([:]), .attestedKeyRevoked(appKey(2)),
    ]
    #expect(try start() == always)
    registry.settings.doorLevel = .appAttested
    #expect(try start() == always + [.deviceActive(try room.record(attested).active)])
    registry.settings.doorLevel = .bare
    #expect(try start().count == 5)
    #expect(try start().contains(.deviceActive(room.record(bare).active)))
  }
}

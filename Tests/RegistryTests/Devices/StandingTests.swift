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
    _ = try part.enroll(TestPhone(), evidence: appKey(3))
    // Keys that went with their devices, whoever comes in: they have a store of their own.
    let always = [
      RegistryEffect.keySet(registry.tokens.ring.jwks), .services([:]), .attestedKeyRevoked(appKey(2)),
    ]
    #expect(try start() == always)
    registry.settings.doorLevel = .appAttested
    #expect(try start() == always + [.deviceActive(try part.record(attested).active)])
    registry.settings.doorLevel = .bare
    #expect(try start().count == 5)
    #expect(try start().contains(.deviceActive(part.record(bare).active)))
  }
}

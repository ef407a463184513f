/// A new phone in the place of an old one.
import Bytes
import DeviceWire
import PortcullisProtocol
import System
import Testing

@testable import Registry

@Suite struct ReplacingTests {
  let registry: RegistryHarness
  let room: DeviceRoom

  init() throws {
    registry = try RegistryHarness()
    room = DeviceRoom(registry)
  }

  /// - Parameter signer: whoever signs as the old phone.
  private func enroll(
    _ phone: TestPhone, inPlaceOf old: TestPhone, signedBy signer: TestPhone? = nil,
    evidence: KeyIdentifier? = nil
  ) throws -> Said {
    try room.enroll(phone, evidence: evidence) { body in
      let nonce = try #require(body["nonce"].flatMap { Bytes32(hex: $0) })
      let message = DeviceMessage.enroll(
        server: room.server, keys: try phone.keys, nonce: nonce, platform: .ios)
      body["replaces"] = try old.required.text
      body["replaces_signature"] = try (signer ?? old).sign(message)
    }
  }

  @Test func theOldOneEndsWhenTheNewOneIsConfirmed() throws {
    let (old, new) = (try room.activePhone("ada", evidence: appKey(1)), try TestPhone())
    let token = try #require(try room.token(old)["token"])
    registry.effects = []
    #expect(try enroll(new, inPlaceOf: old)["status"] == "pending")
    #expect(try room.read(token).code == nil)
    #expect(registry.effects.isEmpty)

    let confirmed = try room.confirm(new)
    #expect(confirmed["subject"] == "ada" && confirmed["device_name"] == "a phone")
    #expect(try room.read(token).code == .tokenRejected)
    #expect(try room.token(old).code == .deviceRevoked)
    // The app on the old phone is as genuine as before, and may be told of another device.
    #expect(
      room.doorEffects == [.deviceGone(try old.required), .deviceActive(try room.record(new).active)])
    #expect(try room.attest(new, by: appKey(1))["level"] == "app_attested")
  }

  @Test func withEvidenceAtOnce() throws {
    registry.settings.evidenceActivates = true
    let (old, new) = (try room.activePhone("ada", evidence: appKey(1)), try TestPhone())
    #expect(try enroll(new, inPlaceOf: old, evidence: appKey(2))["status"] == "active")
    #expect(try room.record(new).subject?.name == "ada")
    #expect(try room.record(old).state == .revoked)
  }

  @Test func theOneWhosePlaceItTakesMakesRoom() throws {
    let old = try room.activePhone("ada")
    for _ in 0..<4 { _ = try room.activePhone("ada") }
    let new = try TestPhone()
    _ = try enroll(new, inPlaceOf: old)
    #expect(try room.confirm(new)["status"] == "active")
  }

  /// Whoever had the old key as well loses what he has prepared with it.
  @Test func notWithAKeyThatHasEnded() throws {
    registry.settings.evidenceActivates = true
    let (old, thief, renewed) = (try room.activePhone("ada"), try TestPhone(), try TestPhone())
    #expect(try enroll(thief, inPlaceOf: old)["status"] == "pending")
    #expect(try room.rotate(old, to: renewed).code == nil)
    _ = try enroll(thief, inPlaceOf: old, evidence: appKey(7))
    #expect(try room.record(renewed).state == .active)
    #expect(try room.record(renewed).subject?.name == "ada")
    #expect(try room.record(thief).subject == nil)
  }

  @Test func onlyByTheOldOneItself() throws {
    let (old, other, new) = (try room.activePhone("ada"), try room.activePhone("eve"), try TestPhone())
    #expect(try enroll(new, inPlaceOf: old, signedBy: other).code == .signatureRejected)
    #expect(try enroll(new, inPlaceOf: old, signedBy: new).code == .signatureRejected)
    #expect(try registry.store.count(.pending) == 0)
    try room.revoke(old)
    #expect(try enroll(new, inPlaceOf: old).code == .deviceRevoked)
    let waiting = try TestPhone()
    _ = try room.enroll(waiting)
    #expect(try enroll(new, inPlaceOf: waiting).code == .devicePending)
    let unknown = try TestPhone()
    unknown.id = DeviceID(random: KernelEntropy())
    #expect(try enroll(new, inPlaceOf: unknown).code == .deviceUnknown)
  }
}

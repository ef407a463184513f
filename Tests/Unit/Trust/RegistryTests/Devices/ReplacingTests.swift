/// A new phone in the place of an old one.
import Addresses
import Bytes
import DeviceWire
import PortcullisProtocol
import Risk
import System
import Testing
import Time

@testable import Registry

@Suite struct ReplacingTests {
  let registry: RegistryHarness
  let part: DevicePart

  init() throws {
    registry = try RegistryHarness()
    part = DevicePart(registry)
  }

  /// - Parameter signer: whoever signs as the old phone.
  private func enroll(
    _ phone: TestPhone, inPlaceOf old: TestPhone, signedBy signer: TestPhone? = nil,
    evidence: KeyIdentifier? = nil
  ) throws -> Said {
    try part.enroll(phone, evidence: evidence) { body in
      let nonce = try #require(body["nonce"].flatMap { Bytes32(hex: $0) })
      let message = DeviceMessage.enroll(
        server: part.server, keys: try phone.keys, nonce: nonce, platform: .ios)
      body["replaces"] = try old.required.text
      body["replaces_signature"] = try (signer ?? old).sign(message)
    }
  }

  @Test func theOldOneEndsWhenTheNewOneIsConfirmed() throws {
    let (old, new) = (try part.activePhone("ada", evidence: appKey(1)), try TestPhone())
    let token = try #require(try part.token(old)["token"])
    registry.effects = []
    #expect(try enroll(new, inPlaceOf: old)["status"] == "pending")
    #expect(try part.read(token).code == nil)
    #expect(registry.effects.isEmpty)

    let confirmed = try part.confirm(new)
    #expect(confirmed["subject"] == "ada" && confirmed["device_name"] == "a phone")
    #expect(try part.read(token).code == .tokenRejected)
    #expect(try part.token(old).code == .deviceRevoked)
    // The app on the old phone is as genuine as before, and may be told of another device.
    #expect(
      part.doorEffects == [.deviceGone(try old.required), .deviceActive(try part.record(new).active)])
    #expect(try part.attest(new, by: appKey(1))["level"] == "app_attested")
  }

  /// The app is the same: what it played by before goes with the new device, as it went with the old one.
  @Test func theKeysOfTheOldOneGoWithTheNewOne() throws {
    let (old, new) = (try part.activePhone("ada", evidence: appKey(1)), try TestPhone())
    #expect(try part.attest(old, by: appKey(2)).code == nil)
    _ = try enroll(new, inPlaceOf: old, evidence: appKey(3))
    registry.effects = []
    try part.confirm(new)
    let id = try new.required
    let passed = registry.effects.filter { if case .formerKey = $0 { true } else { false } }
    #expect(passed == [1, 2].map { .formerKey(appKey($0), of: id, subject: Subject("ada")) })
    #expect(try part.enroll(TestPhone(), evidence: appKey(1)).code == .attestationRejected)
    registry.effects = []
    try part.revoke(new)
    #expect(part.doorEffects == [.deviceGone(id)] + [3, 1, 2].map { .attestedKeyRevoked(appKey($0)) })
  }

  @Test func withEvidenceAtOnce() throws {
    registry.settings.evidenceActivates = true
    let (old, new) = (try part.activePhone("ada", evidence: appKey(1)), try TestPhone())
    #expect(try enroll(new, inPlaceOf: old, evidence: appKey(2))["status"] == "active")
    #expect(try part.record(new).subject?.name == "ada")
    #expect(try part.record(old).state == .revoked)
  }

  /// Attack: whoever tampers with a phone would only have to enrol anew.
  @Test func whatStandsAgainstItGoesWithIt() throws {
    registry.settings.evidenceActivates = true
    let record = RiskRecord(
      at: UnixSeconds(registry.now), position: nil, place: Place(country: CountryCode("AT")))
    var wrong = WrongCodes()
    wrong.count = 100
    wrong.lockedAt = registry.now
    for subject in ["ada", nil] {
      let old = try part.activePhone(subject)
      var device = try part.record(old)
      device.attestationFailedAt = registry.now
      try registry.store.update(device)
      try registry.store.setRiskRecord(record, of: device.id)
      try registry.store.setWrongCodes(wrong, of: CodeHolder(of: device))

      let new = try TestPhone()
      #expect(try enroll(new, inPlaceOf: old, evidence: appKey(subject == nil ? 1 : 2))["status"] == "active")
      let replaced = try part.record(new)
      #expect(replaced.attestationFailedAt == registry.now)
      #expect(try registry.store.riskRecord(of: replaced.id) == record)
      #expect(try registry.store.wrongCodes(of: CodeHolder(of: replaced)) == wrong)
      #expect(try registry.store.wrongCodes(of: .device(device.id)) == WrongCodes())
    }
  }

  @Test func theOneWhosePlaceItTakesMakesRoom() throws {
    let old = try part.activePhone("ada")
    for _ in 0..<4 { _ = try part.activePhone("ada") }
    let new = try TestPhone()
    _ = try enroll(new, inPlaceOf: old)
    #expect(try part.confirm(new)["status"] == "active")
  }

  /// Whoever had the old key as well loses what he has prepared with it.
  @Test func notWithAKeyThatHasEnded() throws {
    registry.settings.evidenceActivates = true
    let (old, thief, renewed) = (try part.activePhone("ada"), try TestPhone(), try TestPhone())
    #expect(try enroll(thief, inPlaceOf: old)["status"] == "pending")
    #expect(try part.rotate(old, to: renewed).code == nil)
    _ = try enroll(thief, inPlaceOf: old, evidence: appKey(7))
    #expect(try part.record(renewed).state == .active)
    #expect(try part.record(renewed).subject?.name == "ada")
    #expect(try part.record(thief).subject == nil)
  }

  @Test func onlyByTheOldOneItself() throws {
    let (old, other, new) = (try part.activePhone("ada"), try part.activePhone("eve"), try TestPhone())
    #expect(try enroll(new, inPlaceOf: old, signedBy: other).code == .signatureRejected)
    #expect(try enroll(new, inPlaceOf: old, signedBy: new).code == .signatureRejected)
    #expect(try registry.store.count(.pending) == 0)
    try part.revoke(old)
    #expect(try enroll(new, inPlaceOf: old).code == .deviceRevoked)
    let waiting = try TestPhone()
    _ = try part.enroll(waiting)
    #expect(try enroll(new, inPlaceOf: waiting).code == .devicePending)
    let unknown = try TestPhone()
    unknown.id = DeviceID(random: KernelEntropy())
    #expect(try enroll(new, inPlaceOf: unknown).code == .deviceUnknown)
  }
}

/// A device's later life: attestation, rotation, heartbeats, and its end.
import Addresses
import ApprovalPolicy
import Bytes
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

@Suite struct LifeTests {
  let registry: RegistryHarness
  let part: DevicePart

  init() throws {
    registry = try RegistryHarness()
    part = DevicePart(registry)
  }

  private func token(_ phone: TestPhone) throws -> String { try #require(try part.token(phone)["token"]) }

  // MARK: Attestation

  @Test func attestationRaises() throws {
    let phone = try part.activePhone()
    registry.effects = []
    let said = try part.attest(phone, by: appKey(1))
    #expect(said["verdict"] == "pass" && said["level"] == "app_attested" && said["uv"] == "app")
    #expect(try part.read(#require(said["device_token"]))["level"] == "app_attested")
    #expect(registry.effects == [.deviceActive(try part.record(phone).active)])
    #expect(try part.record(phone).attestedKey == appKey(1))
  }

  @Test func evidenceConfirmsWhereThatIsSet() throws {
    let phone = try TestPhone()
    _ = try part.enroll(phone)
    _ = try part.attest(phone, by: appKey(1))
    #expect(try part.record(phone).state == .pending)
    registry.settings.evidenceActivates = true
    _ = try part.attest(phone, by: appKey(1))
    #expect(try part.record(phone).state == .active)
  }

  /// The keys that the evidence was found to name are not those that the device has by now.
  @Test func keysThatChangedMeanwhile() throws {
    let phone = try part.activePhone()
    let found = try registry.run(FindAttestedKeys(phone.required, on: .ios), from: DevicePart.home)
    guard case .reply(.keys(let keys)) = found else {
      Issue.record("no keys")
      return
    }
    #expect(keys.device == (try phone.keys.device.point))
    #expect(keys.approval == (try #require(phone.keys.approval).point) && keys.server == part.server)
    _ = try part.rotate(phone, to: TestPhone())
    let call = Attest(try phone.required, keys: keys, evidence: .appAttest(appKey(1)))
    #expect(try Said(registry.run(call, from: DevicePart.home)).code == .attestationRejected)
    #expect(try part.record(phone).level == .bare)
  }

  @Test func threeFailures() throws {
    let phone = try part.activePhone()
    let elsewhere = Origin.address(IPAddress(v4: 0x0A00_0002))
    func find(_ origin: Origin = DevicePart.home) throws -> Said? {
      let outcome = try registry.run(FindAttestedKeys(phone.required, on: .ios), from: origin)
      guard case .reply(.refused) = outcome else { return nil }
      return try Said(outcome)
    }
    func pass(_ seconds: Int64) {
      registry.now = UnixTime(milliseconds: registry.now.milliseconds + seconds * 1000)
    }
    for _ in 0..<3 {
      #expect(try find() == nil)
      try part.fail(phone)
      try part.fail(phone, from: .address(IPAddress(v6: 7, UInt64(registry.now.seconds))))
      pass(60)
    }
    // Anybody could have brought that.
    #expect(try part.record(phone).attestationFailedAt == nil)
    let refused = try find()
    #expect(refused?.code == .rateLimited && refused?.retryAfter == .seconds(14 * 60))
    // A stranger's failures keep the phone itself out nowhere else.
    #expect(try find(elsewhere) == nil)
    // One who takes a new address for each is one all the same.
    #expect(try find(.address(IPAddress(v6: 7, 0)))?.code == .rateLimited)
    pass(14 * 60 - 1)
    #expect(try find()?.code == .rateLimited)
    pass(1)
    #expect(try find() == nil)
    try part.fail(phone, at: "device_verdict", blaming: .device, from: elsewhere)
    let failed = try part.record(phone).attestationFailedAt
    #expect(failed == registry.now)
    // Whatever it shows later: nobody has a day of failures forgotten by one success.
    pass(60)
    #expect(try part.attest(phone, by: appKey(1)).code == nil)
    #expect(try part.record(phone).attestationFailedAt == failed)
  }

  /// By whichever way evidence comes: the ways count together.
  @Test func threeFailuresByEachWay() throws {
    let (phone, other) = (try part.activePhone(), try TestPhone())
    func calls(_ phone: TestPhone) throws -> [AskToAttest] {
      [
        AskToAttest(try EnrollForm(phone.enrollBody(part.server, nonce: part.nonce()).form)),
        AskToAttest(try RotateForm(phone.rotateBody(part.server, to: other, nonce: part.nonce()).form)),
      ]
    }
    func refusals(_ phone: TestPhone, from origin: Origin = DevicePart.home) throws -> [Said] {
      try calls(phone).map { try Said(registry.run($0, from: origin)) }.filter { $0.code != nil }
    }
    try part.fail(phone)
    let enrolment = try EnrollForm(phone.enrollBody(part.server, nonce: part.nonce()).form)
    let rotation = try RotateForm(phone.rotateBody(part.server, to: other, nonce: part.nonce()).form)
    for call in [NoteFailedAttestation(enrolment), NoteFailedAttestation(rotation)] {
      #expect(try refusals(phone).isEmpty)
      try registry.run(call.because("nonce", blaming: .sender), from: DevicePart.home)
    }
    let refused = try refusals(phone)
    #expect(refused.map(\.code) == [.rateLimited, .rateLimited])
    #expect(refused.allSatisfy { $0.step == "attest_failures" && $0.retryAfter == .seconds(900) })
    #expect(try refusals(phone, from: .address(IPAddress(v4: 0x0A00_0002))).isEmpty)
    // Nobody else waits for it, nor whoever is no device yet.
    let (neighbour, stranger) = (try part.activePhone(), try TestPhone())
    stranger.id = DeviceID(random: KernelEntropy())
    #expect(try refusals(neighbour).isEmpty && refusals(stranger).isEmpty)
    registry.now = registry.now.adding(.seconds(900))
    #expect(try refusals(phone).isEmpty)
  }

  /// Anybody can send bad evidence in a device's name: it is the device's where its key has signed beside it. What the gate
  /// lacks is no phone's fault.
  @Test func failuresUnderASignature() throws {
    let (phone, thief) = (try part.activePhone(), try TestPhone())
    #expect(try part.fail(phone).code == nil)
    #expect(try part.fail(phone, signedBy: thief).code == nil)
    #expect(try part.fail(phone, blaming: .gate, signedBy: phone).code == nil)
    #expect(try part.record(phone).attestationFailedAt == nil)
    let old = try phone.attestBody(part.server, nonce: part.nonce(), signedBy: phone)
    var later = try phone.attestBody(part.server, nonce: part.nonce(), signedBy: nil)
    later["signature"] = old["signature"]
    _ = try registry.run(NoteFailedAttestation(AttestForm(later.form)))
    #expect(try part.record(phone).attestationFailedAt == nil)
    #expect(try part.fail(phone, signedBy: phone).code == nil)
    #expect(try part.record(phone).attestationFailedAt == registry.now)
  }

  /// Keys that are enrolled once more are a device's, and it has signed.
  @Test func failuresWithAnEnrolment() throws {
    let (phone, other) = (try part.activePhone(), try TestPhone())
    func fail(_ phone: TestPhone, signedBy signer: TestPhone) throws -> Said {
      var body = try phone.enrollBody(part.server, nonce: part.nonce())
      if signer !== phone {
        body["signature"] = try signer.enrollBody(part.server, nonce: part.nonce())["signature"]
      }
      let call = try NoteFailedAttestation(EnrollForm(body.form)).because("nonce", blaming: .sender)
      return try Said(registry.run(call, from: DevicePart.home))
    }
    #expect(try fail(phone, signedBy: other).code == .signatureRejected)
    let unknown = try fail(other, signedBy: other)
    #expect(unknown.code == .attestationRejected && unknown.step == "nonce")
    #expect(try part.record(phone).attestationFailedAt == nil)
    #expect(try fail(phone, signedBy: phone).code == nil)
    #expect(try part.record(phone).attestationFailedAt == registry.now)
    try part.revoke(phone)
    #expect(try fail(phone, signedBy: phone).code == .attestationRejected)
  }

  /// One that nobody has confirmed has no rows of its own, however often its evidence is refused.
  @Test func failuresOfAPendingDeviceAreCounted() throws {
    let phone = try TestPhone()
    _ = try part.enroll(phone)
    let before = try registry.store.auditRows(after: 0, limit: 1000).count
    for _ in 0..<10 {
      let body = try phone.enrollBody(part.server, nonce: part.nonce())
      let call = try NoteFailedAttestation(EnrollForm(body.form)).because("nonce", blaming: .sender)
      #expect(try Said(registry.run(call, from: DevicePart.home)).code == .attestationRejected)
      #expect(try part.fail(phone, signedBy: phone).code == .attestationRejected)
    }
    #expect(try registry.store.auditRows(after: 0, limit: 1000).count == before)
    #expect(try part.record(phone).attestationFailedAt != nil)
  }

  /// An operator may have put the file into its place meanwhile.
  @Test func whatTheGateLacksKeepsNobodyWaiting() throws {
    let phone = try part.activePhone()
    for _ in 0..<5 { #expect(try part.fail(phone, blaming: .gate).code == nil) }
    #expect(try part.attest(phone, by: appKey(1)).code == nil)
  }

  /// The key store had judged it before the operator's word came to either.
  @Test func evidenceOnItsWayByAKeyThatIsRevoked() throws {
    let phone = try part.activePhone()
    _ = try registry.run(EndAttestedKeys([appKey(1)]), from: .gate)
    #expect(try part.attest(phone, by: appKey(1)).code == .attestationRejected)
    #expect(try part.record(phone).attestedKey == nil)
    #expect(try part.attest(phone, by: appKey(2)).code == nil)
    try part.revoke(phone)
    #expect(try part.attest(part.activePhone("bea"), by: appKey(2)).code == .attestationRejected)
  }

  /// With a rotation anybody can send bad evidence in a device's name: it is the device's when its key has signed.
  @Test func failuresWithARotation() throws {
    let (phone, thief) = (try part.activePhone(), try TestPhone())
    thief.id = phone.id
    func fail(_ signer: TestPhone) throws -> RefusalCode? {
      let body = try signer.rotateBody(part.server, to: TestPhone(), nonce: part.nonce())
      return try Said(registry.run(NoteFailedAttestation(RotateForm(body.form)), from: DevicePart.home)).code
    }
    #expect(try fail(thief) == .signatureRejected)
    #expect(try part.record(phone).attestationFailedAt == nil)
    #expect(try fail(phone) == nil)
    #expect(try part.record(phone).attestationFailedAt != nil)
  }

  // MARK: Rotation

  @Test func oldKeysEndAtOnce() throws {
    let (phone, next) = (try part.activePhone("ada"), try TestPhone())
    registry.effects = []
    let said = try part.rotate(phone, to: next)
    #expect(said["device_id"] == phone.id?.text && said["level"] == "bare" && said["uv"] == "app")
    #expect(try part.record(phone).keys == next.keys)
    #expect(try part.record(phone).subject?.name == "ada")
    #expect(registry.effects == [.deviceActive(try part.record(next).active)])
    #expect(try part.read(#require(said["token"])).code == nil)
    #expect(try part.token(phone).code == .signatureRejected)
    #expect(try part.token(next).code == nil)
    // The answer was lost, and the phone comes twice.
    #expect(try part.rotate(phone, to: next).code == .signatureRejected)
  }

  /// A level belongs to keys: new ones have none but their own.
  @Test func levelsAreNotTakenAlong() throws {
    let phone = try part.activePhone("ada", evidence: appKey(1))
    var next = try TestPhone()
    #expect(try part.rotate(phone, to: next)["level"] == "bare")
    #expect(try part.record(next).attestedAt == nil)
    // Nor is it had back without evidence, by whatever way.
    #expect(try part.enroll(next)["level"] == "bare")
    let third = try TestPhone(hasApprovalKey: false)
    let rotated = try part.rotate(next, to: third)
    #expect(rotated["level"] == "bare" && rotated["uv"] == "none")
    next = try TestPhone()
    #expect(try part.rotate(third, to: next, evidence: appKey(1))["level"] == "app_attested")
  }

  /// Nor is the app's key rid of its device so: it goes with it, and vouches for no other.
  @Test func theAppsKeyStaysTheDevices() throws {
    let (phone, next) = (try part.activePhone(evidence: appKey(1)), try TestPhone())
    _ = try part.rotate(phone, to: next)
    #expect(try part.enroll(TestPhone(), evidence: appKey(1)).code == .attestationRejected)
    #expect(try part.attest(next, by: appKey(1))["level"] == "app_attested")
    let last = try TestPhone()
    _ = try part.rotate(next, to: last)
    registry.effects = []
    try part.revoke(last)
    #expect(part.doorEffects == [.deviceGone(try last.required), .attestedKeyRevoked(appKey(1))])
  }

  /// An app that was installed again has another key: the one before is still the device's, and goes with it.
  @Test(arguments: ["attest", "enroll", "rotate"]) func anEarlierKeyStaysTheDevices(how: String) throws {
    var phone = try part.activePhone("ada", evidence: appKey(1))
    registry.effects = []
    switch how {
    case "attest": #expect(try part.attest(phone, by: appKey(2)).code == nil)
    case "enroll": #expect(try part.enroll(phone, evidence: appKey(2)).code == nil)
    default:
      let next = try TestPhone()
      #expect(try part.rotate(phone, to: next, evidence: appKey(2)).code == nil)
      phone = next
    }
    let id = try phone.required
    #expect(registry.effects.contains(.formerKey(appKey(1), of: id, subject: Subject("ada"))))
    #expect(try part.record(phone).attestedKey == appKey(2))
    // It vouches for no other, and again for this one.
    #expect(try part.enroll(TestPhone(), evidence: appKey(1)).step == "attested_key_of_another_device")
    #expect(try part.attest(phone, by: appKey(1)).code == nil)
    #expect(try registry.store.formerKeys(of: id) == [appKey(2)])
    let named = try part.order("devices-names", #"{"ids":[],"keys":["\#(appKey(2).base64)"]}"#)
    #expect(named.value.array?.first?.object?["device_id"]?.string == id.text)
    registry.effects = []
    try part.revoke(phone)
    let gone = [
      RegistryEffect.deviceGone(id), .attestedKeyRevoked(appKey(1)), .attestedKeyRevoked(appKey(2)),
    ]
    #expect(part.doorEffects == gone)
    // Nor do they come in with another device, and a start says so to the key store.
    for number in 1...2 as ClosedRange<UInt64> {
      registry.now = registry.now.adding(.seconds(3600))
      #expect(try part.enroll(TestPhone(), evidence: appKey(number)).code == .attestationRejected)
    }
    var told: [KeyIdentifier] = []
    try registry.store.forEachRevokedKey { told.append($0) }
    #expect(told == [appKey(1), appKey(2)])
    // Until both are forgotten.
    registry.effects = []
    _ = try part.order("devices-forget", #"{"id":"\#(id.text)"}"#)
    #expect(part.doorEffects == Array(gone.dropFirst()))
    #expect(try registry.store.deviceThatHad(appKey(2)) == nil)
  }

  /// What vouches for one that waits is revoked: it is there all the same, and so is the key that it had before.
  @Test func aKeyOfOneThatWaitsIsRevoked() throws {
    let phone = try TestPhone()
    for number in 1...2 as ClosedRange<UInt64> { _ = try part.enroll(phone, evidence: appKey(number)) }
    registry.effects = []
    try registry.run(EndAttestedKeys([appKey(2)]), from: .gate)
    #expect(registry.effects.contains(.deviceWaits(try part.record(phone).active)))
    #expect(!registry.effects.contains(.deviceExpired(try phone.required)))
    #expect(try part.record(phone).attestedKey == nil)
    #expect(try registry.store.formerKeys(of: phone.required) == [appKey(1)])
    // Once it is gone the door forgets both.
    registry.now = registry.now.adding(.seconds(90_000))
    registry.effects = []
    try registry.run(Tend(), from: .gate)
    #expect(registry.effects.contains(.deviceExpired(try phone.required)))
    #expect(try registry.store.deviceThatHad(appKey(1)) == nil)
  }

  private struct Tend: RegistryCall {
    func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
      _ = try DeviceUpkeep().tend(&transaction)
      return .reply(.answered([]))
    }
  }

  /// Each is a row, and what a revocation has to end.
  @Test func keysOfADeviceAreBounded() throws {
    let phone = try part.activePhone(evidence: appKey(1))
    let id = try phone.required
    for number in 0..<UInt64(Transaction.keysOfDevice) - 2 {
      try registry.store.insert(former: appKey(number + 10), of: id)
    }
    #expect(try part.attest(phone, by: appKey(2)).code == nil)
    let refused = try part.attest(phone, by: appKey(3))
    #expect(refused.code == .attestationRejected && refused.step == "attested_keys_of_device")
    #expect(try part.record(phone).attestedKey == appKey(2))
    // One that it had takes no more room.
    #expect(try part.attest(phone, by: appKey(1)).code == nil)
    #expect(try registry.store.formerKeys(of: id).count == Transaction.keysOfDevice - 1)
  }

  @Test func underAMinimumNothingChanges() throws {
    let phone = try part.activePhone("ada", evidence: appKey(1))
    registry.settings.minimumLevel = .appAttested
    let before = try part.record(phone)
    let token = try token(phone)
    #expect(try part.rotate(phone, to: TestPhone()).code == .levelTooLow)
    var after = try part.record(phone)
    after.seenAt = before.seenAt
    #expect(after == before)
    #expect(try part.read(token).code == nil)
    #expect(try part.rotate(phone, to: TestPhone(), evidence: appKey(1)).code == nil)
  }

  @Test func eachKeySigns() throws {
    let (phone, next, other) = (try part.activePhone(), try TestPhone(), try part.activePhone())
    let foreign = try other.rotateBody(part.server, to: next, nonce: Bytes32(words: 1, 2, 3, 99))
    for name in ["signature", "new_signature", "new_approval_signature"] {
      #expect(try part.rotate(phone, to: next) { $0[name] = foreign[name] }.code == .signatureRejected)
    }
    #expect(
      try part.rotate(phone, to: next) { $0["device_id"] = foreign["device_id"] }.code == .signatureRejected)
    #expect(throws: FormError("new_approval_signature")) {
      try part.rotate(phone, to: next) { $0["new_approval_signature"] = nil }
    }
    #expect(try part.record(phone).keys == phone.keys)
    // To keys that another device has, or its own.
    #expect(try part.rotate(phone, to: other).code == .keyKnown)
    #expect(try part.rotate(phone, to: phone).code == .keyKnown)
    #expect(try part.rotate(phone, to: TestPhone(approvalOf: other)).code == .keyKnown)
  }

  // MARK: Heartbeats

  @Test func onlyWhatIsSignedCounts() throws {
    let phone = try part.activePhone()
    let token = try token(phone)
    func otpAllowed(_ said: Said) -> Bool? { said.value.object?["policy"]?.object?["otp_allowed"]?.boolean }

    let unsigned = try part.beat(token, signedBy: nil, rooted: true)
    #expect(otpAllowed(unsigned) == true)
    #expect(try part.record(phone).appVersion == nil)
    let signed = try part.beat(token, signedBy: phone, rooted: true)
    #expect(otpAllowed(signed) == false)
    #expect(try part.record(phone).isRooted)
    #expect(try part.record(phone).appVersion == "2.10")
    // That it is not any more is believed to the same signature, or to a new attestation.
    _ = try part.beat(token, signedBy: nil, rooted: false)
    #expect(try part.record(phone).isRooted)
    _ = try part.beat(token, signedBy: phone)
    #expect(try part.record(phone).isRooted)
    _ = try part.beat(token, signedBy: phone, rooted: false)
    #expect(try !part.record(phone).isRooted)
    _ = try part.beat(token, signedBy: phone, rooted: true)
    _ = try part.attest(phone, by: appKey(1))
    #expect(try !part.record(phone).isRooted)
  }

  /// The audit has a row where something has become different, and none for a phone that says the same again.
  @Test func whatChangesIsOnRecord() throws {
    let phone = try part.activePhone()
    let token = try token(phone)
    func reports() throws -> [String] {
      try registry.store.auditRows(after: 0, limit: 1000).compactMap { row in
        guard case .text(let bytes, _) = row.content else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains(#""event":"device_reported""#) ? text : nil
      }
    }
    _ = try part.beat(token, signedBy: nil, patchLevel: "2026-01-05")
    #expect(try reports().isEmpty)
    for patchLevel in [nil, nil, "2026-01-05", "2026-01-05"] {
      _ = try part.beat(token, signedBy: phone, patchLevel: patchLevel)
    }
    for _ in 0..<2 { _ = try part.beat(token, signedBy: phone, rooted: true) }
    // No text of a phone's own.
    _ = try part.beat(token, signedBy: phone, patchLevel: "12 Bag End")
    #expect(try reports().last?.contains(#""os_patch_level":"changed""#) == true)
    #expect(try !reports().contains { $0.contains("Bag End") })
    let found = try reports().dropLast()
    try #require(found.count == 3, "\(found)")
    let id = try phone.required.text
    holds(found.allSatisfy { $0.contains(#""device_id":"\#(id)""#) })
    for (index, change) in [#""app_version":"2.10""#, #""os_patch_level":"2026-01-05""#, #""rooted":"true""#]
      .enumerated()
    {
      #expect(found.indices.filter { found[$0].contains(change) } == [index], "\(change): \(found)")
    }
  }

  @Test func policyIsThatOfTheSubject() throws {
    let text = #"""
      {"classes":[{"name":"wizards","match":{"subject":["wiz-*"]},"level":"app_attested","uv":"app","presence":true,
        "reattest_after":3600,"next_heartbeat":60,"min_app_version":"2.1"}]}
      """#
    let bytes = Array(text.utf8)
    registry.settings.assurance = try AssurancePolicy(parsing: bytes.span)
    func policy(_ phone: TestPhone) throws -> JSONObject {
      let said = try part.beat(token(phone), signedBy: nil)
      return try #require(said.value.object?["policy"]?.object)
    }
    let (wizard, player) = (try part.activePhone("wiz-1"), try part.activePhone("ada"))
    var found = try policy(wizard)
    #expect(found["require_presence"]?.boolean == true && found["otp_allowed"]?.boolean == false)
    #expect(found["reattest_after_s"]?.integer == 3600 && found["next_heartbeat_s"]?.integer == 60)
    #expect(found["min_app_version"]?.string == "2.1")
    found = try policy(player)
    #expect(found["require_presence"]?.boolean == false && found["otp_allowed"]?.boolean == true)
    #expect(found["min_app_version"] == nil)

    // An exception, until its end.
    let until = UnixSeconds(registry.now).value + 300
    let id = try wizard.required.text
    let said = try part.order("devices-except", #"{"id":"\#(id)","until":\#(until),"reason":"no BLE"}"#)
    #expect(said.value.object?["except"]?.object?["reason"]?.string == "no BLE")
    found = try policy(wizard)
    #expect(found["require_presence"]?.boolean == false && found["otp_allowed"]?.boolean == true)
    _ = try part.beat(token(wizard), signedBy: wizard, rooted: true)
    #expect(try policy(wizard)["otp_allowed"]?.boolean == false)
    registry.now = UnixTime(milliseconds: registry.now.milliseconds + 300_000)
    #expect(try policy(wizard)["require_presence"]?.boolean == true)

    // What the gate asks of every device no class forgives.
    registry.settings.minimumLevel = .hardwareAttested
    #expect(try policy(player)["otp_allowed"]?.boolean == false)
  }

  /// What an operator calls a phone tells it from the others of its subject.
  @Test func namesOfASubjectsPhonesDiffer() throws {
    let (one, two) = (try part.activePhone("ada"), try part.activePhone("ada"))
    let other = try part.activePhone("bob")
    func rename(_ phone: TestPhone, _ name: String) throws -> Said {
      try part.order("devices-rename", #"{"id":"\#(phone.required.text)","name":"\#(name)"}"#)
    }
    #expect(try rename(one, "Phone 1").code == nil && rename(one, "Phone 1").code == nil)
    for name in ["Phone 1", "phone l", "Ph\u{043E}ne 1"] {
      #expect(try rename(two, name).step == "device_name_alike", "\(name)")
    }
    #expect(try rename(two, "Phone 2").code == nil && rename(other, "Phone 1").code == nil)
  }

  /// In the order in which asking for a code would find it.
  @Test func aPhoneHearsWhatItLacks() throws {
    func lacks(_ phone: TestPhone) throws -> [String?]? {
      let said = try part.beat(token(phone), signedBy: nil)
      return said.value.object?["policy"]?.object?["otp_lacks"]?.array?.map(\.string)
    }
    let phone = try part.activePhone("ada", evidence: appKey(1))
    #expect(try lacks(phone) == nil)
    registry.now = UnixTime(milliseconds: registry.now.milliseconds + 601_000)
    #expect(try lacks(phone) == ["attestation"])
    let text = #"{"classes":[{"name":"all","match":{"subject":["*"]},"uv":"hardware","presence":true}]}"#
    let bytes = Array(text.utf8)
    registry.settings.assurance = try AssurancePolicy(parsing: bytes.span)
    registry.settings.minimumLevel = .hardwareAttested
    #expect(try lacks(phone) == ["level", "uv", "attestation", "presence"])
    _ = try part.beat(token(phone), signedBy: phone, rooted: true)
    #expect(try lacks(phone)?.contains("rooted") == true)
  }

  /// A phone that says each minute something else has ten rows an hour of it, and what it said last is kept.
  @Test func heartbeatsFillNoAudit() throws {
    let phone = try part.activePhone()
    let token = try token(phone)
    let before = try registry.store.count("SELECT count(*) FROM audit")
    for number in 0..<40 { _ = try part.beat(token, signedBy: phone, rooted: number.isMultiple(of: 2)) }
    #expect(try registry.store.count("SELECT count(*) FROM audit") == before + DeviceMemory.reportsAnHour)
    #expect(try !part.record(phone).isRooted)
    registry.now = UnixTime(milliseconds: registry.now.milliseconds + 3_600_001)
    _ = try part.beat(self.token(phone), signedBy: phone, rooted: true)
    #expect(try registry.store.count("SELECT count(*) FROM audit") == before + DeviceMemory.reportsAnHour + 1)
  }

  /// What an exception names it is for, and for nothing else.
  @Test(arguments: ["level", "uv", "presence", "attestation", "play"])
  func anExceptionFromOneThing(lack: String) throws {
    let text =
      #"{"classes":[{"name":"all","match":{"subject":["*"]},"level":"app_attested","presence":true}]}"#
    let bytes = Array(text.utf8)
    registry.settings.assurance = try AssurancePolicy(parsing: bytes.span)
    let phone = try part.activePhone("ada")
    let (id, until) = (try phone.required.text, UnixSeconds(registry.now).value + 300)
    let said = try part.order(
      "devices-except", #"{"id":"\#(id)","until":\#(until),"reason":"why","lacks":["\#(lack)"]}"#)
    #expect(said.value.object?["except"]?.object?["lacks"]?.array?.map(\.string) == [lack])
    #expect(try part.record(phone).exception?.lacks.words == [lack])
    let policy = try #require(try part.beat(token(phone), signedBy: nil).value.object?["policy"]?.object)
    #expect(policy["otp_allowed"]?.boolean == (lack == "level"))
    #expect(policy["require_presence"]?.boolean == (lack != "presence"))
  }

  // MARK: The end

  /// Whatever a revoked device sends, and whatever is sent in its name.
  @Test func revoked() throws {
    let (phone, other) = (try part.activePhone("ada", evidence: appKey(1)), try part.activePhone())
    let token = try token(phone)
    registry.effects = []
    #expect(try part.revoke(phone)["status"] == "revoked")
    #expect(part.doorEffects == [.deviceGone(try phone.required), .attestedKeyRevoked(appKey(1))])
    holds(part.doorEffects.allSatisfy(\.isUrgent))
    for topic in [Topic.approvals(of: try phone.required), .codes(of: try phone.required)] {
      #expect(registry.effects.contains(.wake(topic)))
    }

    #expect(try part.read(token).code == .tokenRejected)
    #expect(try part.beat(token, signedBy: phone).code == .tokenRejected)
    #expect(try part.token(phone).code == .deviceRevoked)
    #expect(try part.rotate(phone, to: TestPhone()).code == .deviceRevoked)
    #expect(try part.enroll(phone).code == .deviceRevoked)
    #expect(try part.enroll(phone, evidence: appKey(2)).code == .deviceRevoked)
    #expect(try part.attest(phone, by: appKey(1)).code == .deviceRevoked)
    // Its keys come in with no other device.
    #expect(try part.rotate(other, to: phone).code == .keyKnown)
    #expect(try part.enroll(TestPhone(approvalOf: phone)).code == .keyKnown)
    #expect(try part.attest(other, by: appKey(1)).code == .attestationRejected)
    // Nobody makes it alive again.
    let id = try phone.required.text
    #expect(try part.confirm(phone).code == .deviceRevoked)
    #expect(try part.order("devices-assign", #"{"id":"\#(id)","subject":"eve"}"#).code == .deviceRevoked)
    registry.effects = []
    #expect(try part.revoke(phone).code == nil)
    #expect(part.doorEffects.isEmpty)
  }

  @Test func forgotten() throws {
    let (phone, other) = (try part.activePhone("ada"), try part.activePhone("ada"))
    let third = try part.activePhone("eve")
    let said = try part.order("devices-forget", #"{"id":"\#(try phone.required.text)"}"#)
    #expect(said.value.object?["forgotten"]?.integer == 1)
    #expect(try registry.store.device(phone.required) == nil)
    #expect(try part.token(phone).code == .deviceUnknown)
    let all = try part.order("devices-forget", #"{"subject":"ada"}"#)
    #expect(all.value.object?["forgotten"]?.integer == 1)
    #expect(try registry.store.device(other.required) == nil)
    #expect(try part.record(third).subject?.name == "eve")
  }

  // MARK: Orders

  @Test func lists() throws {
    let phones = try (0..<3).map { try part.activePhone($0 == 1 ? "eve" : "ada") }
    let ids = try phones.map { try $0.required.text }
    func listed(_ arguments: String) throws -> [String] {
      try part.order("devices-list", arguments).value.array?.compactMap { $0.object?["device_id"]?.string }
        ?? []
    }
    #expect(try listed("{}") == ids)
    #expect(try listed(#"{"subject":"ada"}"#) == [ids[0], ids[2]])
    #expect(try listed(#"{"limit":2}"#) == [ids[0], ids[1]])
    #expect(try listed(#"{"limit":2,"after":"\#(ids[1])"}"#) == [ids[2]])
    #expect(try listed(#"{"state":"pending"}"#) == [])
    try part.revoke(phones[0])
    #expect(try listed(#"{"state":"revoked"}"#) == [ids[0]])
    let shown = try part.order("devices-show", #"{"id":"\#(ids[1])"}"#)
    #expect(shown["subject"] == "eve" && shown["status"] == "active")
    let renamed = try part.order("devices-rename", #"{"id":"\#(ids[1])","name":"the red one"}"#)
    #expect(renamed["device_name"] == "the red one")
  }

  @Test(arguments: [
    ("devices-list", #"{"state":"gone"}"#), ("devices-list", #"{"limit":0}"#),
    ("devices-list", #"{"limit":1001}"#),
    ("devices-list", #"{"all":"yes"}"#), ("devices-show", "{}"), ("devices-show", #"{"id":"x"}"#),
    ("devices-assign", #"{"id":"6f9619ff-8b86-4011-b42d-00cf4fc964ff"}"#), ("devices-forget", "{}"),
    ("devices-forget", #"{"id":"6f9619ff-8b86-4011-b42d-00cf4fc964ff","subject":"ada"}"#),
    ("devices-rename", #"{"id":"6f9619ff-8b86-4011-b42d-00cf4fc964ff","name":"a\u202Eb"}"#),
    ("devices-except", #"{"id":"6f9619ff-8b86-4011-b42d-00cf4fc964ff","until":1,"reason":""}"#),
    ("devices-except", #"{"id":"6f9619ff-8b86-4011-b42d-00cf4fc964ff","until":1,"reason":"x","lacks":[]}"#),
    (
      "devices-except", #"{"id":"6f9619ff-8b86-4011-b42d-00cf4fc964ff","until":1,"reason":"x","lacks":["x"]}"#
    ),
  ])
  func wrongOrders(verb: String, arguments: String) throws {
    #expect(throws: FormError.self) { try part.order(verb, arguments) }
  }

  @Test(arguments: ["show", "confirm", "revoke", "forget"]) func unknownDevices(verb: String) throws {
    let said = try part.order("devices-\(verb)", #"{"id":"6f9619ff-8b86-4011-b42d-00cf4fc964ff"}"#)
    #expect(said.code == .deviceUnknown)
  }
}

/// Enrolment: who comes in, as what, and who does not.
import Addresses
import Bytes
import Crypto
import DeviceWire
import PortcullisProtocol
import SQL
import SQLite
import System
import Testing
import Time

@testable import Registry

@Suite struct EnrolTests {
  let registry: RegistryHarness
  let part: DevicePart

  init() throws {
    registry = try RegistryHarness()
    part = DevicePart(registry)
  }

  @Test func waitsForAnOperator() throws {
    let phone = try TestPhone()
    let said = try part.enroll(phone)
    #expect(said["status"] == "pending" && said["level"] == "bare" && said["uv"] == "app")
    #expect(said["server_id"] == part.server.text)
    let token = try #require(said["token"])
    // It may read itself, and nothing else.
    #expect(try part.read(token)["status"] == "pending")
    #expect(try part.beat(token, signedBy: nil).code == .devicePending)
    #expect(try part.rotate(phone, to: TestPhone()).code == .devicePending)
    #expect(registry.effects.isEmpty)

    #expect(try part.confirm(phone, subject: "ada")["status"] == "active")
    #expect(try part.read(token)["subject"] == "ada")
    #expect(try part.beat(token, signedBy: nil).code == nil)
    #expect(registry.effects == [.deviceActive(try part.record(phone).active)])
  }

  @Test func evidenceMakesItActiveWhereThatIsSet() throws {
    let waiting = try part.enroll(TestPhone(), evidence: appKey(1))
    #expect(waiting["status"] == "pending" && waiting["level"] == "app_attested")
    registry.settings.evidenceActivates = true
    let said = try part.enroll(TestPhone(), evidence: appKey(2))
    #expect(said["status"] == "active" && said["level"] == "app_attested")
    #expect(try part.enroll(TestPhone())["status"] == "pending")
  }

  @Test func withoutApprovalKeyNobodyIsAsked() throws {
    let said = try part.enroll(TestPhone(hasApprovalKey: false), evidence: appKey(1))
    #expect(said["uv"] == "none" && said["level"] == "app_attested")
  }

  /// The answer was lost, and the phone comes twice.
  @Test func theSameKeyIsTheSameDevice() throws {
    let phone = try TestPhone()
    let first = try part.enroll(phone)
    let again = try part.enroll(phone)
    #expect(first["device_id"] == again["device_id"] && again["status"] == "pending")
    try part.confirm(phone)
    #expect(try part.enroll(phone)["status"] == "active")
    // Evidence that it had not brought the first time.
    #expect(try part.enroll(phone, evidence: appKey(1))["level"] == "app_attested")
    #expect(try part.enroll(phone)["level"] == "app_attested")
    #expect(try registry.store.count(.active) == 1)
    #expect(try registry.store.count(.pending) == 0)
  }

  /// Of each signature and key, one that is another's or is over something else.
  @Test func signaturesAndKeys() throws {
    let other = try TestPhone()
    func code(_ change: (inout Body) throws -> Void) throws -> RefusalCode? {
      try part.enroll(TestPhone(), change).code
    }
    let foreign = try other.enrollBody(part.server, nonce: Bytes32(words: 1, 2, 3, 1))
    #expect(try code { $0["signature"] = foreign["signature"] } == .signatureRejected)
    #expect(try code { $0["approval_signature"] = foreign["approval_signature"] } == .signatureRejected)
    #expect(try code { $0["signature"] = $0["approval_signature"] } == .signatureRejected)
    #expect(try code { $0["approval_pubkey"] = foreign["approval_pubkey"] } == .signatureRejected)
    #expect(try code { $0["device_pubkey"] = foreign["device_pubkey"] } == .signatureRejected)
    #expect(try code { $0["platform"] = "android" } == .signatureRejected)
    #expect(try code { $0["device_name"] = "another" } == nil)
    #expect(try registry.store.count(.pending) == 1)
  }

  /// Challenges of another server, or signed for another one.
  @Test func anotherServer() throws {
    let phone = try TestPhone()
    let nonce = Bytes32(words: 1, 2, 3, 1)
    let foreign = try phone.enrollBody(ServerID(random: KernelEntropy()), nonce: nonce)
    let said = try part.enroll(phone) { $0 = foreign }
    #expect(said.code == .signatureRejected)
    #expect(try registry.store.count(.pending) == 0)
  }

  @Test(
    arguments: [
      ("platform", "windows"), ("platform", nil), ("device_pubkey", nil), ("device_pubkey", "AAAA"),
      ("approval_pubkey", "AAAA"), ("nonce", nil), ("nonce", "00"), ("signature", nil), ("signature", "AAAA"),
      ("approval_signature", nil), ("device_name", ""), ("device_name", "a\u{202E}b"),
      ("replaces", "6f9619ff-8b86-4011-b42d-00cf4fc964ff"), ("replaces_signature", "AAAA"), ("evidence", "x"),
    ] as [(String, String?)])
  func forms(name: String, text: String?) throws {
    let phone = try TestPhone()
    #expect(throws: FormError.self) { try part.enroll(phone) { $0[name] = text } }
  }

  /// Nothing is made of them, and `null` is no value of theirs either.
  @Test(arguments: ["os_version", "build_fingerprint", "app_sig_digest", "device_fingerprint"])
  func membersThatAreIgnored(name: String) throws {
    let body = try TestPhone().enrollBody(part.server, nonce: Bytes32(words: 7, 7, 7, 7))
    let members = body.members.map { #""\#($0)":"\#($1)""# }.joined(separator: ",")
    func read(_ value: String) throws -> EnrollForm {
      let bytes = Array(#"{\#(members),"\#(name)":\#(value)}"#.utf8)
      return try EnrollForm(Form(body: bytes.span, checkedBy: registry.verifier))
    }
    for value in [#""26.1""#, "26", "[]", "{}", "true"] { #expect(try read(value).platform == .ios) }
    #expect(throws: FormError(name)) { try read("null") }
  }

  @Test func oneKeyForBothIsNone() throws {
    let phone = try TestPhone()
    #expect(throws: FormError("approval_pubkey")) {
      try part.enroll(phone) { $0["approval_pubkey"] = $0["device_pubkey"] }
    }
  }

  @Test func evidenceForms() throws {
    func evidence(_ json: String) throws -> EvidenceForm? {
      let bytes = Array(#"{"evidence":\#(json)}"#.utf8)
      return try Form(body: bytes.span, checkedBy: registry.verifier).evidence()
    }
    let key = appKey(1)
    let named = #""attestation_type":"app_attest","key_id":"\#(key.base64)""#
    #expect(try evidence(#"{\#(named),"att_obj":"AAEC"}"#) == .attestation(key, [0, 1, 2]))
    #expect(try evidence(#"{\#(named),"assertion":"AAEC"}"#) == .assertion(key, [0, 1, 2]))
    for wrong in [
      "{}", "[]", "null", "{\(named)}", #"{\#(named),"att_obj":"A"}"#,
      #"{\#(named),"att_obj":"AAEC","assertion":"AAEC"}"#, #"{\#(named),"att_obj":null}"#,
      #"{"attestation_type":"safetynet","jws_token":"x"}"#,
      #"{"attestation_type":"app_attest","key_id":"AAEC","att_obj":"AAEC"}"#,
    ] {
      #expect(throws: FormError.self, "\(wrong)") { _ = try evidence(wrong) }
    }
    for other in ["safetynet", "device_check"] {
      #expect(throws: FormError("attestation_type_\(other)")) {
        _ = try evidence(#"{"attestation_type":"\#(other)"}"#)
      }
    }
  }

  /// A key is one device's in one role: a second device with the same approval key would be a second vote of one key.
  @Test func keysOfAnotherDevice() throws {
    let phone = try part.activePhone()
    let second = try TestPhone(approvalOf: phone)
    #expect(try part.enroll(second).code == .keyKnown)
    // The device key is known, and the approval key another one.
    let other = try TestPhone()
    let nonce = Bytes32(words: 7, 7, 7, 7)
    let keys = try #require(DeviceKeys(device: phone.keys.device, approval: other.keys.approval))
    let message = DeviceMessage.enroll(server: part.server, keys: keys, nonce: nonce, platform: .ios)
    let body = Body([
      ("platform", "ios"), ("device_pubkey", TestPhone.text(keys.device.spki)),
      ("approval_pubkey", TestPhone.text(try #require(keys.approval).spki)), ("nonce", nonce.hex),
      ("signature", try phone.sign(message)),
      ("approval_signature", try #require(other.approval).sign(message)),
    ])
    let call = Enroll(try EnrollForm(body.form), nonce: SpentNonce(spent: nonce), evidence: nil)
    #expect(try Said(registry.run(call, from: DevicePart.home)).code == .keyKnown)
    #expect(try part.record(phone).keys == phone.keys)
  }

  /// An App Attest key vouches for one device.
  @Test func attestedKeyOfAnotherDevice() throws {
    let phone = try part.activePhone(evidence: appKey(1))
    let second = try TestPhone()
    #expect(try part.enroll(second, evidence: appKey(1)).code == .attestationRejected)
    #expect(try part.enroll(second, evidence: appKey(2)).code == nil)
    #expect(try part.attest(second, by: appKey(1)).code == .attestationRejected)
    #expect(try part.rotate(phone, to: TestPhone(), evidence: appKey(2)).code == .attestationRejected)
    #expect(try part.record(phone).attestedKey == appKey(1))
  }

  @Test func minimumLevel() throws {
    registry.settings.minimumLevel = .appAttested
    let phone = try TestPhone()
    #expect(try part.enroll(phone).code == .levelTooLow)
    #expect(try registry.store.count(.pending) == 0)
    #expect(try part.enroll(phone, evidence: appKey(1)).code == nil)
    // It counts at the confirmation, too.
    registry.settings.minimumLevel = .hardwareAttested
    #expect(try part.confirm(phone).code == .levelTooLow)
    #expect(try part.record(phone).state == .pending)
  }

  // MARK: How many

  @Test func twentyAnHourOfAnAddress() throws {
    for _ in 0..<DeviceMemory.enrolmentsAnHour { #expect(try part.enroll(TestPhone()).code == nil) }
    let phone = try TestPhone()
    let said = try part.enroll(phone)
    #expect(said.code == .rateLimited && said.retryAfter == .seconds(3600))
    // Not others', not who is known, not who needs no operator, and not for ever.
    #expect(try part.enroll(phone, from: .address(IPAddress(v4: 0x0A00_0002))).code == nil)
    #expect(try part.enroll(phone).code == nil)
    #expect(try part.enroll(TestPhone(), from: .address(IPAddress(v6: 1, 2))).code == nil)
    registry.settings.evidenceActivates = true
    #expect(try part.enroll(TestPhone(), evidence: appKey(1))["status"] == "active")
    registry.now = UnixTime(milliseconds: registry.now.milliseconds + 3_600_000)
    #expect(try part.enroll(TestPhone()).code == nil)
  }

  /// Who has a /64 takes a new address for each.
  @Test func addressesOfOneSubscriberCountTogether() throws {
    func enroll(_ subscriber: UInt64, _ number: Int) throws -> RefusalCode? {
      try part.enroll(TestPhone(), from: .address(IPAddress(v6: subscriber, UInt64(number)))).code
    }
    for number in 1...DeviceMemory.enrolmentsAnHour { #expect(try enroll(7, number) == nil) }
    #expect(try enroll(7, 99) == .rateLimited)
    #expect(try enroll(8, 99) == nil)
  }

  @Test func fiveOfASubject() throws {
    for _ in 0..<5 { _ = try part.activePhone("ada") }
    let phone = try TestPhone()
    _ = try part.enroll(phone)
    #expect(try part.confirm(phone, subject: "ada").code == .tooManyOpen)
    #expect(try part.record(phone).state == .pending)
    #expect(try part.confirm(phone, subject: "Ada")["subject"] == "Ada")
    let assigned = try part.order(
      "devices-assign", #"{"id":"\#(try phone.required.text)","subject":"ada"}"#)
    #expect(assigned.code == .tooManyOpen)
  }

  /// Addresses are cheap: what waits for an operator is bounded in all.
  @Test func soManyWaitAndNoMore() throws {
    func add(_ count: Int) throws {
      try registry.store.run(
        """
        WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
        INSERT INTO devices (id, state, platform, device_key, level, verification, created_at, is_rooted, token_series)
        SELECT randomblob(16), 0, 0, randomblob(64), 0, 0, ?2, 0, 0 FROM numbers
        """, [.integer(Int64(count)), .time(registry.now)])
    }
    try add(Enroll.pendingLimit - 1)
    let (last, beyond) = (try TestPhone(), try TestPhone())
    #expect(try part.enroll(last)["status"] == "pending")
    #expect(try registry.store.count(.pending) == 10_000)
    let said = try part.enroll(beyond)
    #expect(said.code == .tooManyOpen && said.step == "pending_devices" && said.retryAfter == .seconds(3600))
    // Who is known already is not one more.
    #expect(try part.enroll(last).code == nil)
    try part.confirm(last)
    #expect(try part.enroll(beyond)["status"] == "pending")
  }

  @Test func pendingOnesGoAfterADay() throws {
    let (phone, confirmed) = (try TestPhone(), try TestPhone())
    let token = try #require(try part.enroll(phone)["token"])
    _ = try part.enroll(confirmed)
    try part.confirm(confirmed)
    let day: Int64 = 86_400_000
    let start = registry.now.milliseconds
    registry.now = UnixTime(milliseconds: start + day - 1)
    #expect(try tend() == UnixTime(milliseconds: start + day))
    #expect(try registry.store.count(.pending) == 1)
    registry.now = UnixTime(milliseconds: start + day)
    _ = try tend()
    #expect(try registry.store.count(.pending) == 0)
    #expect(try registry.store.count(.active) == 1)
    #expect(try part.read(token).code == .tokenRejected)
    // Its keys are free again.
    let former = phone.id
    #expect(try part.enroll(phone).code == nil)
    #expect(phone.id != former)
  }

  /// When it will be due again.
  private func tend() throws -> UnixTime? {
    final class Due: @unchecked Sendable { var time: UnixTime? }
    struct Tend: RegistryCall {
      let due: Due
      func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
        due.time = try DeviceUpkeep().tend(&transaction)
        return .reply(.answered(Array("{}".utf8)))
      }
    }
    let due = Due()
    _ = try registry.run(Tend(due: due), from: .gate)
    return due.time
  }
}

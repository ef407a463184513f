/// What the evidence of Android phones makes of their devices, and what becomes of them when their certificates are revoked.
import Addresses
import ApprovalPolicy
import Bytes
import Crypto
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

@Suite struct AndroidTests {
  let registry: RegistryHarness
  let part: DevicePart

  init() throws {
    registry = try RegistryHarness()
    part = DevicePart(registry)
  }

  private static let apple = VerifiedEvidence.appAttest(appKey(1))

  private static func chains(_ serials: [UInt8]..., votes: Bool = false) -> VerifiedEvidence {
    .androidKey(
      AndroidKeyEvidence(attestsApprovalKey: votes, serials: Set(serials.map { AndroidSerial($0) })))
  }

  /// Confirmed, and of a house of its own, as many as a test wants.
  private func active(_ evidence: VerifiedEvidence?) throws -> TestPhone {
    let phone = try TestPhone(platform: .android)
    let house = UInt64.random(in: .min ... .max)
    _ = try part.enroll(phone, verified: evidence, from: .address(IPAddress(v6: house, 1)))
    try part.confirm(phone)
    return phone
  }

  private func token(_ phone: TestPhone) throws -> String { try #require(try part.token(phone)["token"]) }

  // MARK: Levels

  @Test func whatEachKindMakesOfKeys() throws {
    let cases: [(VerifiedEvidence?, hasApprovalKey: Bool, level: String, uv: String, vote: Level)] = [
      (nil, true, "bare", "app", .bare), (.playIntegrity(.device), true, "app_attested", "app", .appAttested),
      (.playIntegrity(.device), false, "app_attested", "none", .appAttested),
      (Self.chains([1]), false, "hardware_attested", "none", .appAttested),
      // The approval key may be any that the app has made.
      (Self.chains([1]), true, "hardware_attested", "app", .appAttested),
      (Self.chains([1], votes: true), true, "hardware_attested", "hardware", .hardwareAttested),
    ]
    for (evidence, hasApprovalKey, level, uv, vote) in cases {
      let phone = try TestPhone(hasApprovalKey: hasApprovalKey, platform: .android)
      let said = try part.enroll(phone, verified: evidence)
      #expect(said["level"] == level && said["uv"] == uv, "\(String(describing: evidence))")
      let record = try part.record(phone)
      #expect(record.voteLevel == vote && (record.attestedAt != nil) == (evidence != nil))
      #expect((record.playAttestedAt != nil) == (evidence == .playIntegrity(.device)))
    }
  }

  @Test func aPhoneBringsItsOwnMakersEvidence() throws {
    let pairs: [(DevicePlatform, VerifiedEvidence)] = [
      (.ios, .playIntegrity(.device)), (.ios, Self.chains([1])), (.android, Self.apple),
    ]
    for (platform, evidence) in pairs {
      let phone = try TestPhone(platform: platform)
      #expect(try part.enroll(phone, verified: evidence).code == .badRequest)
      _ = try part.enroll(phone)
      #expect(try part.attest(phone, verified: evidence).code == .badRequest)
      try part.confirm(phone)
      #expect(
        try part.rotate(phone, to: TestPhone(platform: platform), verified: evidence).code == .badRequest)
      #expect(try part.record(phone).level == .bare && part.record(phone).keys == phone.keys)
    }
  }

  /// Play says nothing against hardware, and the next app nothing for it.
  @Test func levelsRiseAndDoNotFall() throws {
    let phone = try active(Self.chains([1], votes: true))
    let said = try part.attest(phone, verified: .playIntegrity(.device))
    #expect(said["level"] == "hardware_attested" && said["uv"] == "hardware")
    #expect(try part.record(phone).playAttestedAt == registry.now)
  }

  @Test func newKeysBeginAnew() throws {
    let phone = try active(Self.chains([1], [2], votes: true))
    _ = try part.attest(phone, verified: .playIntegrity(.device))
    let bare = try TestPhone(platform: .android)
    let said = try part.rotate(phone, to: bare, verified: nil)
    #expect(said["level"] == "bare" && said["uv"] == "app")
    #expect(try part.record(bare).playAttestedAt == nil && registry.store.serials(of: bare.required).isEmpty)
    let next = try TestPhone(platform: .android)
    let again = try part.rotate(bare, to: next, verified: Self.chains([3]))
    #expect(again["level"] == "hardware_attested" && again["uv"] == "app")
    #expect(try registry.store.serials(of: next.required) == [AndroidSerial([3])])
  }

  /// The class asks for Play, and hardware is not it.
  @Test func playIsAskedFor() throws {
    let bytes = Array(
      #"{"classes":[{"name":"all","match":{"subject":["*"]},"level":"bare","uv":"none","play":true}]}"#.utf8)
    registry.settings.assurance = try AssurancePolicy(parsing: bytes.span)
    func allowed(_ phone: TestPhone) throws -> Bool? {
      let said = try part.beat(token(phone), signedBy: nil)
      return said.value.object?["policy"]?.object?["otp_allowed"]?.boolean
    }
    let phone = try active(Self.chains([1], votes: true))
    #expect(try allowed(phone) == false)
    _ = try part.attest(phone, verified: .playIntegrity(.device))
    #expect(try allowed(phone) == true)
    #expect(try allowed(part.activePhone()) == true)
  }

  /// A class may ask for more than the gate does, and what was vouched for before that was kept is the least.
  @Test func aClassHasItsMinimum() throws {
    let bytes = Array(#"{"classes":[{"name":"all","match":{"subject":["*"]},"play":"strong"}]}"#.utf8)
    registry.settings.assurance = try AssurancePolicy(parsing: bytes.span)
    func lacks(_ phone: TestPhone) throws -> [String?]? {
      let said = try part.beat(token(phone), signedBy: nil)
      return said.value.object?["policy"]?.object?["otp_lacks"]?.array?.map(\.string)
    }
    let phone = try active(.playIntegrity(.device))
    #expect(try lacks(phone) == ["play"])
    _ = try part.attest(phone, verified: .playIntegrity(.strong))
    #expect(try lacks(phone) == nil)
    #expect(try part.record(phone).playTrust == .strong)
    var record = try part.record(phone)
    record.playTrust = nil
    try registry.store.update(record)
    #expect(try lacks(phone) == ["play"])
    _ = try part.attest(phone, verified: .playIntegrity(.strong))
    _ = try part.attest(phone, verified: .playIntegrity(.device))
    #expect(try lacks(phone) == ["play"])
  }

  @Test func reasonsAreOnRecord() throws {
    let phone = try active(nil)
    try part.fail(phone, at: "cert_digest", blaming: .device)
    #expect(try texts().last?.contains(#""step":"cert_digest""#) == true)
  }

  // MARK: Revocation

  private func list(_ number: UInt64, _ serials: [UInt8]...) -> RevokedSerials {
    let revoked = Set(serials.map { AndroidSerial($0) })
    return RevokedSerials(
      digest: Bytes32(words: number, 0, 0, 7), contains: { revoked.contains($0) }, all: { Array(revoked) })
  }

  /// Until nothing is left to do; how many pieces it took.
  @discardableResult
  private func judge(_ list: RevokedSerials) throws -> Int {
    var call: any RegistryCall = JudgeSerials(list)
    for piece in 1... {
      guard case .goOn(let next) = try registry.run(call, from: .gate) else { return piece }
      call = next
    }
    return 0
  }

  private func texts() throws -> [String] {
    try registry.store.auditRows(after: 0, limit: 1000).map { row in
      guard case .text(let text, _) = row.content else { return "" }
      return String(decoding: text, as: UTF8.self)
    }
  }

  @Test func aRevokedCertificateEndsWhatItVouchedFor() throws {
    let (phone, other) = (try active(Self.chains([0, 0x0A], [2], votes: true)), try active(Self.chains([2])))
    _ = try part.attest(phone, verified: .playIntegrity(.device))
    let (token, otherToken) = (try token(phone), try token(other))
    registry.effects = []
    try judge(list(1, [3]))
    #expect(part.doorEffects == [])
    #expect(try part.read(token).code == nil)

    try judge(list(2, [3], [0x0A]))
    let record = try part.record(phone)
    #expect(record.level == .bare && record.verification == .app && record.state == .active)
    #expect(record.attestedAt == nil && record.playAttestedAt == nil)
    #expect(try part.read(token).code == .tokenRejected)
    #expect(part.doorEffects == [.deviceGone(record.id), .deviceActive(record.active)])
    let row = try #require(try texts().last)
    #expect(
      row.contains("device_unattested") && row.contains(#""serial":"0a""#) && row.contains(record.id.text))
    // Who has only another certificate in common has nothing to do with it.
    #expect(try part.read(otherToken)["level"] == "hardware_attested")
    #expect(try registry.store.serials(of: record.id).isEmpty)
  }

  @Test func thoseWhoWaitAndThoseWhoAreGone() throws {
    let waiting = try TestPhone(platform: .android)
    _ = try part.enroll(waiting, verified: Self.chains([1]))
    let gone = try active(Self.chains([1]))
    try part.revoke(gone)
    registry.effects = []
    try judge(list(1, [1]))
    #expect(try part.record(waiting).level == .bare && part.record(waiting).state == .pending)
    #expect(try part.record(gone).state == .revoked)
    #expect(part.doorEffects == [.deviceGone(try waiting.required)])
  }

  /// It was verified by the list before.
  @Test func nobodyComesInBehindTheList() throws {
    try judge(list(1, [1]))
    let phone = try TestPhone(platform: .android)
    #expect(try part.enroll(phone, verified: Self.chains([5], [0, 1])).step == "revoked")
    _ = try part.enroll(phone)
    try part.confirm(phone)
    let next = try TestPhone(platform: .android)
    #expect(try part.rotate(phone, to: next, verified: Self.chains([1])).step == "revoked")
    #expect(try part.rotate(phone, to: next, verified: Self.chains([2])).code == nil)
  }

  /// A factory's certificate: many phones, and others have their turn in between.
  @Test func manyWithOne() throws {
    let phones = try (0..<70).map { _ in try active(Self.chains([9], [8])) }
    #expect(try judge(list(1, [9])) == 2)
    for phone in phones { #expect(try part.record(phone).level == .bare) }
    // By that list they are judged; by the same after a restart nobody is looked for.
    registry.effects = []
    let late = try active(Self.chains([7]))
    #expect(try judge(list(1, [7])) == 1)
    #expect(try part.record(late).level == .hardwareAttested)
    try judge(list(2, [7]))
    #expect(try part.record(late).level == .bare)
  }

  /// Many serials of which nobody has one, and others have their turn in between; those who have two end once.
  @Test func aLongList() throws {
    let phone = try active(Self.chains([1], [0x0F, 0xFF]))
    let long = (0..<5000).map { [UInt8($0 >> 8), UInt8($0 & 255)] }
    let serials = Set(long.map { AndroidSerial($0) })
    registry.effects = []
    let list = RevokedSerials(
      digest: Bytes32(words: 3, 0, 0, 7), contains: { serials.contains($0) },
      all: { long.map { AndroidSerial($0) } })
    #expect(try judge(list) == 10)
    let record = try part.record(phone)
    #expect(
      record.level == .bare && part.doorEffects == [.deviceGone(record.id), .deviceActive(record.active)])
    #expect(try texts().count { $0.contains("device_unattested") } == 1)
  }

  /// Whom the older list has found it ends, and it does not come back behind the newer one.
  @Test func aListThatChangesInBetween() throws {
    let phones = try (0..<70).map { _ in try active(Self.chains([9])) }
    guard case .goOn(let rest) = try registry.run(JudgeSerials(list(1, [9])), from: .gate) else {
      Issue.record("it was all done at once")
      return
    }
    try judge(list(2, [4]))
    #expect(try !registry.run(rest, from: .gate).goesOn)
    #expect(try phones.allSatisfy { try part.record($0).level == .bare })
    #expect(try part.enroll(TestPhone(platform: .android), verified: Self.chains([4])).step == "revoked")
    #expect(try part.enroll(TestPhone(platform: .android), verified: Self.chains([9])).code == nil)
    // By the newer one all are judged.
    #expect(try judge(list(2, [4])) == 1)
  }

  /// Found by the certificates of keys that are over when its turn comes, and sent away until then.
  @Test func newKeysInBetween() throws {
    let phones = try (0..<66).map { _ in try active(Self.chains([9])) }
    registry.effects = []
    guard case .goOn(let rest) = try registry.run(JudgeSerials(list(1, [9])), from: .gate) else {
      Issue.record("it was all done at once")
      return
    }
    #expect(try phones.allSatisfy { part.doorEffects.contains(.deviceGone(try $0.required)) })
    let next = try TestPhone(platform: .android)
    #expect(try part.rotate(phones[65], to: next, verified: Self.chains([8])).code == nil)
    registry.effects = []
    #expect(try !registry.run(rest, from: .gate).goesOn)
    let (bare, well) = (try part.record(phones[64]), try part.record(next))
    #expect(bare.level == .bare && well.level == .hardwareAttested)
    #expect(part.doorEffects == [.deviceActive(bare.active), .deviceActive(well.active)])
  }

  @Test func serialsGoWithTheirDevice() throws {
    let phone = try active(Self.chains([1], [2]))
    let id = try phone.required
    for serial in [[1], [2]] as [[UInt8]] {
      #expect(try registry.store.devices(of: AndroidSerial(serial)) == [id])
    }
    _ = try part.order("devices-forget", #"{"id":"\#(id.text)"}"#)
    for serial in [[1], [2]] as [[UInt8]] {
      #expect(try registry.store.devices(of: AndroidSerial(serial)).isEmpty)
    }
  }

  @Test func serialsAreNumbers() {
    #expect(AndroidSerial([0, 0, 1, 0]).bytes == [1, 0])
    #expect(AndroidSerial([0, 0]).bytes == [0] && AndroidSerial([]).bytes == [0])
  }

  // MARK: Forms

  @Test func forms() throws {
    let x5c = #""x5c":["MAA","MAE"]"#
    let good: [(String, EvidenceForm)] = [
      (#"{"attestation_type":"play_integrity","jws_token":"a.b"}"#, .playIntegrity([0x61, 0x2E, 0x62])),
      (#"{"attestation_type":"android_key",\#(x5c)}"#, .androidKey([[0x30, 0], [0x30, 1]], approval: nil)),
      (
        #"{"attestation_type":"android_key","approval_x5c":["MAA="],\#(x5c)}"#,
        .androidKey([[0x30, 0], [0x30, 1]], approval: [[0x30, 0]])
      ),
    ]
    for (text, form) in good { #expect(try read(text) == form) }
    let many = Array(repeating: #""MAA""#, count: 17).joined(separator: ",")
    let bad: [(String, String)] = [
      (#"{"attestation_type":"safetynet"}"#, "attestation_type_safetynet"),
      (#"{"attestation_type":"safety_net"}"#, "attestation_type"), ("{}", "attestation_type"),
      (#"{"attestation_type":"play_integrity"}"#, "jws_token"),
      (#"{"attestation_type":"play_integrity","jws_token":["a"]}"#, "jws_token"),
      (#"{"attestation_type":"android_key"}"#, "x5c"),
      (#"{"attestation_type":"android_key","x5c":[]}"#, "x5c"),
      (#"{"attestation_type":"android_key","x5c":"MAA"}"#, "x5c"),
      (#"{"attestation_type":"android_key","x5c":["MAA",1]}"#, "x5c"),
      (#"{"attestation_type":"android_key","x5c":["MAB"]}"#, "x5c"),
      (#"{"attestation_type":"android_key","x5c":[\#(many)]}"#, "x5c"),
      (#"{"attestation_type":"android_key","approval_x5c":null,\#(x5c)}"#, "approval_x5c"),
    ]
    for (text, member) in bad { #expect(throws: FormError(member), "\(text)") { try read(text) } }
  }

  /// As they go into an answer without being escaped.
  @Test(arguments: UnjudgedEvidence.allCases) func sentences(evidence: UnjudgedEvidence) {
    #expect(UnjudgedEvidence(step: evidence.step) == evidence)
    #expect((20...200).contains(evidence.sentence.utf8.count))
    #expect(evidence.sentence.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C })
  }

  private func read(_ text: String) throws -> EvidenceForm {
    let bytes = Array(text.utf8)
    return try EvidenceForm(Form(body: bytes.span, checkedBy: P256Verifier()))
  }

  /// Only keys that are made at the moment have a challenge to show; what is there already is Play's to attest.
  @Test func keysAreAttestedWithTheirMaking() throws {
    let id = DeviceID(random: KernelEntropy())
    let text = #"{"device_id":"\#(id.text)","nonce":"\#(part.nonce().hex)","attestation_type":"#
    let key = Array((text + #""android_key","x5c":["MAA"]}"#).utf8)
    #expect(throws: FormError("attestation_type")) {
      try AttestForm(Form(body: key.span, checkedBy: P256Verifier()))
    }
    let play = Array((text + #""play_integrity","jws_token":"a"}"#).utf8)
    let form = try AttestForm(Form(body: play.span, checkedBy: P256Verifier()))
    #expect(form.evidence == .playIntegrity([0x61]))
  }
}

extension Outcome {
  fileprivate var goesOn: Bool {
    if case .goOn = self { true } else { false }
  }
}

/// Codes for phones that something speaks against: what is kept, what is told, what a policy refuses, and the ways around it.
import Addresses
import Bytes
import DeviceWire
import PortcullisProtocol
import Risk
import Time
import Testing

@testable import Registry

/// Austria and its network at one address, New York's at another; elsewhere nothing is known.
private struct Atlas: PlaceDirectory {
  static let vienna = IPAddress(v4: 0xC000_0201)
  static let newYork = IPAddress(v4: 0xC633_6401)

  func place(of address: IPAddress) -> Place {
    switch address {
    case Self.vienna: Place(country: CountryCode("AT"), timeZone: "Europe/Vienna", network: 64_496)
    case Self.newYork: Place(country: CountryCode("US"), timeZone: "America/New_York", network: 64_500)
    default: .unknown
    }
  }
}

/// A service that asks for codes of one phone, which says what a test has it say, and is where that puts it.
private final class RiskPart {
  let part: DevicePart
  let phone: TestPhone
  private let service: String

  static let athome = #"{"tz":"Europe/Vienna","lat_e1":482,"lon_e1":164,"mcc_mnc":"23201"}"#
  static let away = #"{"tz":"America/New_York","lat_e1":407,"lon_e1":-740,"mcc_mnc":"23201"}"#

  init(policy: String? = nil, subject: String? = "frodo") throws {
    part = DevicePart(try RegistryHarness())
    part.registry.settings.places = Atlas()
    if let policy { part.registry.settings.risk = try RiskPolicy(parsing: Array(policy.utf8).span) }
    phone = try part.activePhone(subject, evidence: appKey(1))
    var record = try part.record(phone)
    record.attestedAt = part.registry.now
    try part.registry.store.update(record)
    let said = try part.order("services-add", #"{"name":"web","scopes":["codes"]}"#)
    service = try #require(said["token"])
  }

  func wait(_ seconds: Int64) throws {
    part.registry.now = UnixTime(milliseconds: part.registry.now.milliseconds + seconds * 1000)
    var record = try part.record(phone)
    record.attestedAt = part.registry.now
    try part.registry.store.update(record)
  }

  /// A login, and the phone's answer to it.
  func issue(_ signals: String, from address: IPAddress = Atlas.vienna) throws -> Said {
    let whom = try part.record(phone).subject.map { #""subject":"\#($0.name)""# }
    let challenge = Array(
      #"{\#(try whom ?? #""device_id":"\#(phone.required.text)""#),"login_id":"a","text":"Login"}"#.utf8)
    let asked = try Said(
      part.registry.run(
        ChallengeCode(bearer: service, form: Form(body: challenge.span, checkedBy: part.registry.verifier))))
    let id = try #require(asked["challenge_id"].flatMap { CodeChallengeID($0) })
    let nonce = try #require(
      try part.registry.store.nonce(of: id, for: phone.required))
    let signals = try #require(Signals(Array(signals.utf8)))
    let at = UnixSeconds(part.registry.now)
    let message = DeviceMessage.otpIssue(
      server: part.server, device: try phone.required, challenge: id, nonce: nonce, signedAt: at,
      signalsHash: signals.hash)
    let body = Array(
      #"""
      {"device_id":"\#(try phone.required.text)","challenge_id":"\#(id.text)","nonce":"\#(nonce.hex)",
       "signed_at":\#(at.value),"signals":"\#(Base64.encodeURL(signals.bytes.span))",
       "signature":"\#(try phone.device.sign(message))"}
      """#.utf8)
    let token = try #require(try part.token(phone)["token"])
    let form = try IssueCodeForm(Form(body: body.span, checkedBy: part.registry.verifier))
    let said = try Said(
      part.registry.run(IssueCode(bearer: token, form, nonce: nil), from: .address(address)))
    // The next one is another login.
    try part.registry.store.deleteChallenges(of: CodeHolder(of: part.record(phone)))
    return said
  }

  var record: RiskRecord? {
    get throws { try part.registry.store.riskRecord(of: phone.required) }
  }

  var reports: [RiskReport] {
    part.registry.effects.compactMap { if case .doubted(let report) = $0 { report } else { nil } }
  }

  /// The rows of the audit that hold this.
  func rows(_ text: String) throws -> [String] {
    try part.registry.store.auditRows(after: 0, limit: 1000).map { row in
      if case .text(let bytes, _) = row.content { String(decoding: bytes, as: UTF8.self) } else { "" }
    }.filter { $0.contains(text) }
  }
}

@Suite struct RiskIssueTests {
  private static let enforced = #"""
    {"weights":{"impossible_travel":50,"rooted":50,"mock_location":100},"unknown":{"rooted":1},
     "bands":{"presence":50,"deny":100},"enforce":true}
    """#

  /// Of each phone once, by how many; those that other designs have with what to write here.
  @Test func membersThatNobodyKnowsAreTold() throws {
    let part = try RiskPart()
    var told: [StrangeMembers] {
      part.part.registry.effects.compactMap { effect in
        if case .strangeMembers(_, let found) = effect { found } else { nil }
      }
    }
    _ = try part.issue(RiskPart.athome)
    #expect(told.isEmpty)
    let signals = #"{"bssid_hash":"x","coarse_geo":[1,2],"ip_asn":1,"favourite":"blue"}"#
    for _ in 0..<2 { #expect(try part.issue(signals)["otp_code"] != nil) }
    #expect(told.count == 1 && told.first?.count == 4 && told.first?.place == .signals)
    #expect(told.first?.remedies == "bssid_hash=wifi,coarse_geo=lat_e1+lon_e1+acc_m,ip_asn=GEO_PATH")
  }

  @Test func nothingToSay() throws {
    let part = try RiskPart()
    #expect(try part.issue(RiskPart.athome)["otp_code"]?.utf8.count == 6)
    #expect(part.reports.isEmpty)
    #expect(
      try part.record
        == RiskRecord(
          at: UnixSeconds(part.part.registry.now),
          position: Position(latitude: 482, longitude: 164, accuracy: 0),
          place: Place(country: CountryCode("AT"), network: 64_496)))
    #expect(try part.rows("reasons").isEmpty)
  }

  /// By default a code is issued all the same: log and audit say what there was, and neither says where.
  @Test func loggedOnly() throws {
    let part = try RiskPart()
    _ = try part.issue(RiskPart.athome)
    try part.wait(3600)
    #expect(try part.issue(RiskPart.away, from: Atlas.newYork).code == nil)
    let report = try #require(part.reports.last)
    let reasons = "impossible_travel,asn_change,country_change,country_mismatch"
    #expect(report.reasons == reasons && report.band == "allow" && report.score == 0 && !report.isEnforced)
    let row = try #require(try part.rows("code_issued").last)
    #expect(row.contains(#""reasons":"\#(reasons)""#))
    // Identifiers are drawn, and have any digits.
    let told = row.split(separator: ",").filter { !$0.contains(#"_id":"#) }.joined(separator: ",")
    for secret in ["407", "740", "New_York", "64500", "198.51"] { #expect(!told.contains(secret)) }
    #expect(try part.record?.network?.value == 64_500)
  }

  @Test func refused() throws {
    let part = try RiskPart(policy: Self.enforced)
    let said = try part.issue(#"{"mock_location":true,"rooted":false}"#)
    #expect(said.code == .riskDenied && said.step == "code_risk" && said["otp_code"] == nil)
    let row = try #require(try part.rows("risk_denied").last)
    #expect(row.contains(#""reasons":"mock_location,position_unknown""#) && row.contains(#""score":100"#))
    #expect(part.reports.last?.isEnforced == true && part.reports.last?.band == "deny")
    #expect(try part.record == nil)
  }

  /// One signed request, sent again and again, fills no audit: it is counted as any other refusal.
  @Test func refusedAllTheTime() throws {
    let part = try RiskPart(policy: Self.enforced)
    let most = RefusalTally.rowsOfOne
    for _ in 0..<most + 5 { #expect(try part.issue(#"{"mock_location":true}"#).code == .riskDenied) }
    #expect(try part.rows("risk_denied").count == most)
    #expect(part.reports.count == most + 5)
    #expect(try part.issue(#"{"rooted":false}"#).code == nil)
  }

  @Test func belowAtAndWithPresence() throws {
    let part = try RiskPart(policy: Self.enforced)
    #expect(try part.issue(#"{"rooted":false}"#).code == nil)
    #expect(try part.issue(#"{"rooted":true}"#).code == .presenceRequired)
    let desktop = try part.part.desktop()
    #expect(try part.part.prove(part.phone, to: desktop).code == nil)
    #expect(try part.issue(#"{"rooted":true}"#).code == nil)
    // Nearness is no answer to what is denied.
    #expect(try part.issue(#"{"rooted":true,"mock_location":true}"#).code == .riskDenied)
    try part.wait(61)
    #expect(try part.issue(#"{"rooted":true}"#).code == .presenceRequired)
  }

  /// Whoever comes from too far away is refused again however often he asks, also by way of leaving the position out.
  @Test func askingAgainHelpsNobody() throws {
    let part = try RiskPart(policy: Self.enforced)
    let away = RiskPart.away.dropLast() + #","rooted":false}"#
    let home = RiskPart.athome.dropLast() + #","rooted":false}"#
    #expect(try part.issue(String(home)).code == nil)
    try part.wait(600)
    for _ in 0..<3 { #expect(try part.issue(String(away), from: Atlas.newYork).code == .presenceRequired) }
    #expect(try part.issue(#"{"rooted":false}"#, from: Atlas.newYork).code == nil)
    #expect(try part.issue(String(away), from: Atlas.newYork).code == .presenceRequired)
    // An airliner later it may be true.
    try part.wait(9 * 3600)
    #expect(try part.issue(String(away), from: Atlas.newYork).code == nil)
    #expect(try part.record?.position?.value == Position(latitude: 407, longitude: -740, accuracy: nil))
  }

  /// For a day, whatever good evidence comes behind it; what anybody has sent in its name is no mark on a phone.
  @Test func failedAttestation() throws {
    let part = try RiskPart(policy: #"{"weights":{"attest_failed":1},"bands":{"deny":1},"enforce":true}"#)
    try part.part.fail(part.phone)
    #expect(try part.issue(RiskPart.athome).code == nil)
    try part.part.fail(part.phone, at: "level", blaming: .device)
    #expect(try part.part.attest(part.phone, by: appKey(1)).code == nil)
    #expect(try part.issue(RiskPart.athome).code == .riskDenied)
    #expect(part.reports.last?.reasons == "attest_failed")
    try part.wait(86_399)
    #expect(try part.issue(RiskPart.athome).code == .riskDenied)
    try part.wait(1)
    #expect(try part.issue(RiskPart.athome).code == nil)
  }

  @Test func ofNobody() throws {
    let part = try RiskPart(policy: Self.enforced, subject: nil)
    #expect(try part.issue(#"{"mock_location":true}"#).code == .riskDenied)
    #expect(try part.issue(#"{"rooted":false}"#).code == nil)
  }

  @Test func withoutADatabase() throws {
    let part = try RiskPart()
    part.part.registry.settings.places = nil
    #expect(try part.issue(RiskPart.away, from: Atlas.newYork).code == nil)
    #expect(part.reports.isEmpty)
    #expect(try part.record?.country == nil && part.record?.network == nil)
  }

  // MARK: What is kept

  @Test func forgotten() throws {
    let part = try RiskPart()
    _ = try part.issue(RiskPart.athome)
    let id = try part.phone.required
    _ = try part.part.order("devices-forget", #"{"id":"\#(id.text)"}"#)
    #expect(try part.part.registry.store.oldestRiskRecord() == nil)
    // As a number: an id may have these digits, too.
    for number in [":482", ",482", "[482", " 482", "48.2"] { #expect(try part.rows(number).isEmpty) }
  }

  @Test func retention() throws {
    let part = try RiskPart()
    let registry = part.part.registry
    registry.settings.retention = .seconds(86_400)
    _ = try part.issue(RiskPart.athome)
    let end = UnixTime(milliseconds: UnixSeconds(registry.now).value * 1000 + 86_400_000)
    registry.now = end
    let next = try registry.tend(SignalUpkeep())
    #expect(next == end.adding(.milliseconds(1)))
    #expect(try part.record != nil)
    registry.now = end.adding(.milliseconds(1))
    #expect(try registry.tend(SignalUpkeep()) == nil)
    #expect(try part.record == nil)
  }

  /// Each part has its own time: what is new does not go with what is old, and does not keep it.
  @Test func partsGoOneByOne() throws {
    let part = try RiskPart()
    let registry = part.part.registry
    registry.settings.retention = .seconds(86_400)
    _ = try part.issue(RiskPart.athome)
    let first = UnixSeconds(registry.now)
    try part.wait(80_000)
    let withoutPosition = RiskPart.athome.replacing(#""lat_e1":482,"#, with: "")
    #expect(withoutPosition != RiskPart.athome)
    _ = try part.issue(withoutPosition)
    let second = UnixSeconds(registry.now)
    #expect(try part.record?.position?.at == first && part.record?.country?.at == second)
    registry.now = UnixTime(first).adding(.seconds(86_400) + .milliseconds(1))
    #expect(try registry.tend(SignalUpkeep()) == UnixTime(second).adding(.seconds(86_400) + .milliseconds(1)))
    #expect(try part.record?.position == nil && part.record?.country?.at == second)

    // The other way round: nobody knows any more where its address is.
    registry.settings.places = nil
    try part.wait(80_000)
    _ = try part.issue(RiskPart.athome)
    let third = UnixSeconds(registry.now)
    #expect(try part.record?.position?.at == third && part.record?.country?.at == second)
    registry.now = UnixTime(second).adding(.seconds(86_400) + .milliseconds(1))
    #expect(try registry.tend(SignalUpkeep()) == UnixTime(third).adding(.seconds(86_400) + .milliseconds(1)))
    #expect(try part.record?.position?.at == third && part.record?.country == nil)
  }

  @Test func rowsOfEveryForm() throws {
    let part = try RiskPart()
    let store = part.part.registry.store
    let id = try part.phone.required
    for record in [
      RiskRecord(at: try #require(UnixSeconds(0)), position: nil, place: Place(country: CountryCode("AT"))),
      RiskRecord(
        position: RiskRecord.Part(
          try #require(Position(latitude: 1, longitude: 2, accuracy: 3)),
          at: try #require(UnixSeconds(UnixSeconds.largest))),
        country: nil, network: RiskRecord.Part(7, at: try #require(UnixSeconds(9)))),
      RiskRecord(
        at: try #require(UnixSeconds(1_800_000_000)),
        position: Position(latitude: -900, longitude: 1800, accuracy: 100_000),
        place: Place(country: CountryCode("XK"), network: .max)),
      RiskRecord(
        at: try #require(UnixSeconds(5)), position: Position(latitude: 0, longitude: 0, accuracy: 0),
        place: Place(network: 0)),
    ] {
      try store.setRiskRecord(record, of: id)
      #expect(try store.riskRecord(of: id) == record)
    }
    // One that says nothing is none.
    try store.setRiskRecord(RiskRecord(position: nil, country: nil, network: nil), of: id)
    #expect(try store.riskRecord(of: id) == nil && store.oldestRiskRecord() == nil)
    try store.setRiskRecord(
      RiskRecord(at: try #require(UnixSeconds(5)), position: nil, place: Place(network: 1)),
      of: DeviceID(random: KernelEntropy()))
    #expect(try store.oldestRiskRecord() == nil)
  }
}

extension RegistryHarness {
  fileprivate func tend(_ part: some Upkeep) throws -> UnixTime? {
    var transaction = Transaction(
      store: store, now: now, entropy: KernelEntropy(), settings: settings, server: server,
      verifier: verifier,
      tokens: tokens, devices: DeviceMemory(), origin: .gate)
    return try part.tend(&transaction)
  }
}

/// One-time codes of those who are expected to have their phone at hand.
import ApprovalPolicy
import Bytes
import Crypto
import DeviceWire
import JSON
import PortcullisProtocol
import Time
import Testing

@testable import Registry

@Suite struct PresenceCodeTests {
  let registry: RegistryHarness
  let part: DevicePart
  let service: String

  init() throws {
    registry = try RegistryHarness()
    part = DevicePart(registry)
    let classes = Array(#"{"classes":[{"name":"all","match":{"subject":"*"},"presence":true}]}"#.utf8)
    registry.settings.assurance = try AssurancePolicy(parsing: classes.span)
    service = try part.desktop("login", scopes: "codes").token
  }

  /// Of a login of ada's.
  private func code(_ phone: TestPhone) throws -> Said {
    let asked = try Said(
      registry.run(
        ChallengeCode(
          bearer: service, form: form(#"{"subject":"ada","login_id":"1","text":"Log in?"}"#))))
    let challenge = try #require(asked["challenge_id"].flatMap { CodeChallengeID($0) })
    let (nonce, at) = (part.nonce(), UnixSeconds(registry.now))
    let signals = Array("{}".utf8)
    let message = DeviceMessage.otpIssue(
      server: part.server, device: try phone.required, challenge: challenge, nonce: nonce, signedAt: at,
      signalsHash: SHA256.hash(signals.span))
    let body = """
      {"device_id":"\(try phone.required.text)","challenge_id":"\(challenge.text)","nonce":"\(nonce.hex)",
       "signed_at":\(at.value),"signals":"\(TestPhone.text(signals))","signature":"\(try phone.sign(message))"}
      """
    let token = try #require(try part.token(phone)["token"])
    return try Said(
      registry.run(
        IssueCode(bearer: token, IssueCodeForm(form(body)), nonce: SpentNonce(spent: nonce)),
        from: DevicePart.home))
  }

  private func form(_ text: String) throws -> Form {
    let bytes = Array(text.utf8)
    return try Form(body: bytes.span, checkedBy: P256Verifier())
  }

  @Test func onlyNear() throws {
    let phone = try part.activePhone("ada", evidence: appKey(1))
    let other = try part.activePhone("ada", evidence: appKey(2))
    let desktop = try part.desktop()
    #expect(try code(phone).code == .presenceRequired)
    #expect(try part.prove(other, to: desktop).code == nil)
    #expect(try code(phone).code == .presenceRequired)
    #expect(try part.prove(phone, to: desktop).code == nil)
    let said = try code(phone)
    #expect(said.code == nil && said["otp_code"]?.utf8.count == 6)
    registry.now = UnixTime(milliseconds: registry.now.milliseconds + 60_001)
    #expect(try code(phone).code == .presenceRequired)

    // Whoever has no Bluetooth, for as long as an operator says so.
    let until = UnixSeconds(registry.now).value + 300
    let id = try phone.required.text
    _ = try part.order("devices-except", #"{"id":"\#(id)","until":\#(until),"reason":"no BLE"}"#)
    #expect(try code(phone).code == nil)
  }
}

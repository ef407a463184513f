import Bytes
import Crypto
import DeviceWire
import JSON
import Testing

@testable import Device

/// Each request against what a gate builds from its own record (docs/devices-messages.md, "Messages").
@Suite struct PhoneRequestTests {
  private let keys: PhoneKeys
  private let challenge: PhoneChallenge
  private let device: DeviceID

  init() throws {
    keys = try PhoneKeys.generate(withApproval: true)
    challenge = try Sample.challenge()
    device = try Sample.deviceID()
  }

  @Test func aChallengeIsForSomething() {
    #expect(PhoneRequest.challenge(for: .rotate).path == "/attest/challenge?purpose=rotate")
    #expect(!PhoneRequest.challenge(for: .device).needsToken)
  }

  @Test func enrolmentIsSignedByBothKeys() throws {
    let request = try PhoneRequest.enroll(
      keys, platform: .ios, name: DeviceName("Anna's"), challenge, evidence: nil)
    #expect(request.method == "POST" && request.path == "/device/enroll" && !request.needsToken)
    let form = try SentForm(request)
    #expect(
      form.names == [
        "platform", "device_pubkey", "approval_pubkey", "nonce", "signature", "approval_signature",
        "device_name",
      ])
    #expect(form["platform"] == "ios" && form["device_name"] == "Anna's" && form["nonce"] == Sample.nonce.hex)
    let message = DeviceMessage.enroll(
      server: challenge.server, keys: keys.names, nonce: Sample.nonce, platform: .ios)
    #expect(try form.isSigned("signature", message, by: form.key("device_pubkey")))
    #expect(try form.isSigned("approval_signature", message, by: form.key("approval_pubkey")))
  }

  @Test func aPhoneWithoutApprovalKeyNamesNone() throws {
    let keys = try PhoneKeys.generate(withApproval: false)
    let form = try SentForm(.enroll(keys, platform: .android, name: nil, challenge, evidence: nil))
    #expect(form.names == ["platform", "device_pubkey", "nonce", "signature"])
  }

  @Test func evidenceIsOfTheAppsKey() throws {
    let key = KeyIdentifier(Bytes32(words: 9, 8, 7, 6))
    let first = PhoneEvidence(.attestation([1, 2, 3], by: key))
    let form = try SentForm(.attest(device, keys, challenge, first))
    #expect(
      form.names == ["attestation_type", "key_id", "att_obj", "device_id", "nonce", "signature"])
    let message = DeviceMessage.deviceAuth(
      server: challenge.server, device: device, nonce: challenge.nonce, for: .token(.gate))
    #expect(try form.isSigned("signature", message, by: keys.names.device))
    #expect(form["key_id"] == key.base64 && form["att_obj"] == "AQID" && form["device_id"] == Sample.device)
    let later = PhoneEvidence(.assertion([4], by: key), nonce: Sample.nonce)
    let enrolment = try SentForm(.enroll(keys, platform: .ios, name: nil, challenge, evidence: later))
    let evidence = SentForm(try #require(enrolment.object["evidence"]?.object))
    #expect(evidence.names == ["attestation_type", "key_id", "assertion", "nonce"])
  }

  @Test func evidenceOfAndroid() throws {
    let play = try SentForm(.attest(device, keys, challenge, PhoneEvidence(.playToken("a.b.c.d.e"))))
    #expect(play.names == ["attestation_type", "jws_token", "device_id", "nonce", "signature"])
    #expect(play["attestation_type"] == "play_integrity" && play["jws_token"] == "a.b.c.d.e")
    let chains = PhoneEvidence(.keyChains(device: [[1], [2, 3]], approval: [[4]]), nonce: Sample.nonce)
    let enrolment = try SentForm(.enroll(keys, platform: .android, name: nil, challenge, evidence: chains))
    let evidence = SentForm(try #require(enrolment.object["evidence"]?.object))
    #expect(evidence.names == ["attestation_type", "x5c", "approval_x5c", "nonce"])
    #expect(evidence["attestation_type"] == "android_key")
    #expect(evidence.object["x5c"]?.array?.map(\.string) == ["AQ", "AgM"])
    #expect(evidence.object["approval_x5c"]?.array?.map(\.string) == ["BA"])
    let alone = PhoneEvidence(.keyChains(device: [[1]], approval: nil))
    let without = try SentForm(.enroll(keys, platform: .android, name: nil, challenge, evidence: alone))
    #expect(without.object["evidence"]?.object?["approval_x5c"] == nil)
  }

  @Test(arguments: ["", "https://game.example.com"])
  func aTokenIsForAnAudience(text: String) throws {
    let audience = try #require(Audience(text))
    let form = try SentForm(.token(device, keys, challenge, audience: audience))
    #expect(form["audience"] == (text.isEmpty ? nil : text))
    let message = DeviceMessage.deviceAuth(
      server: challenge.server, device: device, nonce: Sample.nonce, for: .token(audience))
    #expect(try form.isSigned("signature", message, by: keys.device.name))
  }

  @Test func aRotationIsSignedByOldAndNew() throws {
    let new = try PhoneKeys.generate(withApproval: true)
    let form = try SentForm(.rotate(device, from: keys, to: new, challenge, evidence: nil))
    let message = DeviceMessage.rotate(
      server: challenge.server, device: device, newKeys: new.names, nonce: Sample.nonce)
    #expect(try form.isSigned("signature", message, by: keys.device.name))
    #expect(try form.isSigned("new_signature", message, by: form.key("device_pubkey")))
    #expect(try form.isSigned("new_approval_signature", message, by: form.key("approval_pubkey")))
    #expect(try form.key("device_pubkey") != keys.device.name)
  }

  @Test func aHeartbeatIsSignedWhereItHasToBe() throws {
    let plain = try PhoneRequest.heartbeat(device, keys, appVersion: "1.2", rooted: nil, nil)
    #expect(plain.needsToken)
    #expect(try SentForm(plain).names == ["app_version"])
    let form = try SentForm(.heartbeat(device, keys, appVersion: nil, rooted: true, challenge))
    #expect(form.object["rooted"]?.boolean == true)
    let message = DeviceMessage.deviceAuth(
      server: challenge.server, device: device, nonce: Sample.nonce, for: .heartbeat)
    #expect(try form.isSigned("signature", message, by: keys.device.name))
  }

  @Test(arguments: [(Decision.approve, "42"), (.deny, ""), (.report, ""), (.approve, "")])
  func aVoteIsOverWhatWasShown(decision: Decision, code: String) throws {
    let json = try Sample.approval()
    let open = try #require(OpenApproval(JSONValue(parsing: Array(json.json.utf8).span, depthLimit: 4)))
    let matchCode = try #require(MatchCode(code))
    let vote = try #require(Vote(decision, matchCode: matchCode))
    let issuedAt = try #require(UnixSeconds(1_800_000_010))
    let key = try #require(keys.approval)
    let request = try PhoneRequest.vote(
      vote, on: open, by: device, at: challenge.server, with: key, issuedAt: issuedAt)
    #expect(request.path == "/approvals/\(open.id.text)/decision" && request.needsToken)
    let form = try SentForm(request)
    #expect(form["decision"] == decision.rawValue && form["match_code"] == (code.isEmpty ? nil : code))
    #expect(form.object["issued_at"]?.integer == 1_800_000_010 && form["device_id"] == Sample.device)
    let message = DeviceMessage.approval(
      server: challenge.server, request: open.id, device: device, vote: vote, summaryHash: json.summary.hash,
      issuedAt: issuedAt, expiresAt: try #require(UnixSeconds(1_800_000_060)))
    #expect(try form.isSigned("signature", message, by: key.name))
    #expect(try !form.isSigned("signature", message, by: keys.device.name))
  }

  @Test func waitingComesWithACursor() {
    let first = PhoneRequest.approvals()
    #expect(first.path == "/approvals" && first.waitSeconds == 0 && first.needsToken)
    let later = PhoneRequest.approvals(after: "a.b")
    #expect(later.path == "/approvals?after=a.b&wait=25" && later.waitSeconds == 25)
  }
}

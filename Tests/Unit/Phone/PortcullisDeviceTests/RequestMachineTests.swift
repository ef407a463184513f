/// Enrolment, attestation, tokens and rotation, with each message lost, doubled and late.
import PortcullisClient
import PortcullisProtocol
import Testing

@testable import PortcullisDevice

@Suite struct RequestMachineTests {
  private static let enrolled = """
    {"device_id":"\(Sample.device)","server_id":"\(Sample.server)","status":"pending","level":"bare","uv":"app",\
    "token":"t","pins":["\(Sample.pin.base64URL)"]}
    """
  private static let rotated = "{\"level\":\"bare\",\"uv\":\"app\",\"token\":\"t2\"}"

  @Test func enrolment() throws {
    var machine = EnrollmentMachine(
      try Sample.points(), platform: .android, name: nil, vouches: false, isKnown: false)
    #expect(machine.take(.answered(Sample.reply(Self.enrolled))) == nil)
    #expect(machine.take(.begun)?.step == .challenge(.enroll))
    #expect(machine.take(.begun) == nil)
    let message = DeviceMessage.enroll(
      server: try Sample.serverID(), keys: try Sample.points().hashes, nonce: Sample.octets(9),
      platform: .android)
    #expect(
      machine.take(.challenged(try Sample.challenge()))?.step == .sign(message, by: [.device, .approval]))
    // A second challenge comes too late.
    #expect(machine.take(.challenged(try Sample.challenge(1))) == nil)
    let call = try #require(machine.take(.signed(Sample.signatures()))?.step?.call)
    #expect(
      call.path == "/device/enroll" && call["nonce"] == Sample.octets(9).hex && call["device_name"] == nil)
    let outcome = machine.take(.answered(Sample.reply(Self.enrolled)))?.outcome
    #expect(outcome?.assurance.status == "pending" && outcome?.token?.text == "t")
    #expect(machine.take(.answered(Sample.reply(Self.enrolled))) == nil)
  }

  @Test func aChallengeThatIsTooOldIsRenewedOnce() throws {
    var machine = TokenMachine(try Sample.deviceID())
    let old = Sample.reply("{}", status: 401, code: "nonce_invalid")
    _ = machine.take(.begun)
    for byte in [1, 2] as [UInt8] {
      _ = machine.take(.challenged(try Sample.challenge(byte)))
      let call = machine.take(.signed(Sample.signatures()))?.step?.call
      #expect(call?["nonce"] == Sample.octets(byte).hex)
      if byte == 1 { #expect(machine.take(.answered(old))?.step == .challenge(.device)) }
    }
    #expect(machine.take(.answered(old))?.failure?.code == .nonceInvalid)
    #expect(machine.take(.answered(old)) == nil)
  }

  @Test func tokens() throws {
    let audience = try #require(Audience("forum"))
    var machine = TokenMachine(try Sample.deviceID(), audience: audience)
    _ = machine.take(.begun)
    let message = DeviceMessage.deviceAuth(
      server: try Sample.serverID(), device: try Sample.deviceID(), nonce: Sample.octets(9),
      for: .token(audience))
    #expect(machine.take(.challenged(try Sample.challenge()))?.step == .sign(message, by: [.device]))
    #expect(machine.take(.signed(Sample.signatures()))?.step?.call?["audience"] == "forum")
    let outcome = machine.take(.answered(Sample.reply("{\"token\":\"a.b\",\"expires_at\":100}")))?.outcome
    #expect(outcome?.token.text == "a.b" && outcome?.pins == nil)
    #expect(outcome?.token.isGood(at: 89) == true && outcome?.token.isGood(at: 90) == false)
    for text in ["", "a b", "é", String(repeating: "a", count: 4097)] {
      #expect(DeviceToken(text, expiresAt: nil) == nil)
    }
  }

  @Test func anAnswerThatIsLostIsAFailure() throws {
    for isChallenge in [true, false] {
      var machine = AttestationMachine(try Sample.deviceID(), try Sample.points(), isKnown: true)
      _ = machine.take(.begun)
      if !isChallenge {
        _ = machine.take(.challenged(try Sample.challenge()))
        _ = machine.take(.vouched(.assertion([1], keyID: "k")))
        #expect(machine.take(.signed(Sample.signatures()))?.step?.call?.path == "/mobile/attest")
      }
      #expect(machine.take(.unanswered(Sample.lost))?.failure == Sample.lost)
      #expect(machine.take(.unanswered(Sample.lost)) == nil)
      #expect(machine.take(.answered(Sample.reply(Self.rotated))) == nil)
    }
  }

  // MARK: Rotation

  private func rotation(_ new: DevicePoints?) throws -> RotationMachine {
    RotationMachine(try Sample.deviceID(), newPoints: new, withApproval: true, vouches: false, isKnown: false)
  }

  @Test func newKeysAreMadeFirst() throws {
    var machine = try rotation(nil)
    #expect(machine.take(.begun)?.step == .makeKeys(approval: true))
    let new = try Sample.points(5, approval: 6)
    #expect(machine.take(.made(new))?.step == .challenge(.rotate))
    let message = DeviceMessage.rotate(
      server: try Sample.serverID(), device: try Sample.deviceID(), newKeys: new.hashes,
      nonce: Sample.octets(9))
    #expect(
      machine.take(.challenged(try Sample.challenge()))?.step
        == .sign(message, by: [.device, .newDevice, .newApproval]))
    #expect(machine.take(.signed(Sample.signatures()))?.step?.call?.path == "/device/rotate")
    guard
      case .rotated(let assurance, let token, nil) = machine.take(.answered(Sample.reply(Self.rotated)))?
        .outcome
    else {
      Issue.record("not rotated")
      return
    }
    #expect(assurance.level == .bare && token?.text == "t2")
  }

  /// The gate has the new keys, and the phone has not heard it.
  @Test func aLostAnswerIsFoundOut() throws {
    var machine = try rotation(try Sample.points(5, approval: 6))
    #expect(machine.take(.begun)?.step == .challenge(.device))
    guard case .sign(_, by: [.newDevice]) = machine.take(.challenged(try Sample.challenge()))?.step else {
      Issue.record("the new key is not tried")
      return
    }
    #expect(machine.take(.signed(Sample.signatures()))?.step?.call?.path == "/device/token")
    let token = try #require(DeviceToken("t", expiresAt: nil))
    #expect(machine.take(.answered(Sample.reply("{\"token\":\"t\"}")))?.outcome == .wasRotated(token, nil))
    #expect(machine.take(.begun) == nil)
  }

  /// The request was lost, and so the gate has the old keys: the same new ones are offered again.
  @Test func aLostRequestIsMadeAgain() throws {
    let new = try Sample.points(5, approval: 6)
    var machine = try rotation(new)
    _ = machine.take(.begun)
    _ = machine.take(.challenged(try Sample.challenge()))
    _ = machine.take(.signed(Sample.signatures()))
    let refused = Sample.reply("{}", status: 401, code: "signature_rejected")
    #expect(machine.take(.answered(refused))?.step == .challenge(.rotate))
    _ = machine.take(.challenged(try Sample.challenge(8)))
    #expect(
      machine.take(.signed(Sample.signatures()))?.step?.call?["device_pubkey"]
        == ByteText.base64URL(new.device))
  }

  /// Whether the gate has them is not known: they stay.
  @Test func aGateThatIsAwaySaysNothingOfTheKeys() throws {
    var machine = try rotation(try Sample.points(5, approval: 6))
    _ = machine.take(.begun)
    #expect(machine.take(.unanswered(Sample.lost))?.failure == Sample.lost)
    #expect(machine.take(.challenged(try Sample.challenge())) == nil)
  }
}

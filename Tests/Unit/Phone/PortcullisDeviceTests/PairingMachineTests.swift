/// A pairing step by step, with each message lost, doubled and late.
import PortcullisClient
import PortcullisProtocol
import Testing

@testable import PortcullisDevice

@Suite struct PairingMachineTests {
  private static let secretPart = Sample.octets(5)
  private static let offered =
    "{\"device_id\":\"\(Sample.device)\",\"server_id\":\"\(Sample.server)\",\"s\":\"\(Sample.octets(6).hex)\"}"
  private static let active = "{\"status\":\"active\",\"pins\":[\"\(Sample.pin.base64URL)\"]}"

  private func machine(vouches: Bool = false) throws -> PairingMachine {
    PairingMachine(
      try PairingURI(parsing: Sample.uri), try Sample.points(), name: try #require(DeviceName("Anna's")),
      platform: .ios, secretPart: Self.secretPart, vouches: vouches)
  }

  private func message() throws -> DeviceMessage {
    let uri = try PairingURI(parsing: Sample.uri)
    return .pair(
      pairing: uri.pairingID, serverKeyHash: uri.pin, keys: try Sample.points().hashes,
      commit: SHA2.hash(Self.secretPart.bytes), name: try #require(DeviceName("Anna's")))
  }

  @Test func inGoodOrder() throws {
    var machine = try machine()
    #expect(machine.take(.begun)?.step == .sign(try message(), by: [.device, .approval]))
    let offer = try #require(machine.take(.signed(Sample.signatures()))?.step?.call)
    #expect(offer.method == "POST" && offer.path == "/pair/00010203-0405-0607-0809-0a0b0c0d0e0f")
    #expect(offer["commit"] == SHA2.hash(Self.secretPart.bytes).hex)
    let uri = try PairingURI(parsing: Sample.uri)
    #expect(offer["mac"] == uri.secret.authenticate(try message()).hex)
    #expect(!offer.needsToken)
    guard case .show(let digits, let reveal) = machine.take(.answered(Sample.reply(Self.offered)))?.step
    else {
      Issue.record("no digits")
      return
    }
    #expect(
      digits
        == PairingDigits(
          of: .pairSAS(pairMessageHash: try message().digest, s: Sample.octets(6), r: Self.secretPart)))
    #expect(reveal.wait == 25 && reveal.path.contains("reveal=\(Self.secretPart.hex)&wait=25"))
    #expect(machine.take(.answered(Sample.reply("{\"status\":\"pending\"}")))?.step == .send(reveal))
    let paired = machine.take(.answered(Sample.reply(Self.active)))?.outcome
    #expect(paired?.device.text == Sample.device && paired?.pins.hashes == [Sample.pin.bytes])
    // Said twice, or late.
    #expect(machine.take(.answered(Sample.reply(Self.active))) == nil)
    #expect(machine.take(.unanswered(Sample.lost)) == nil && machine.take(.begun) == nil)
  }

  /// The secret part is told only when the gate's part is there.
  @Test func theSecretPartIsNotToldBefore() throws {
    var machine = try machine()
    _ = machine.take(.begun)
    let offer = try #require(machine.take(.signed(Sample.signatures()))?.step?.call)
    #expect(!String(decoding: offer.body ?? [], as: UTF8.self).contains(Self.secretPart.hex))
    #expect(machine.take(.answered(Sample.reply(Self.active)))?.failure?.kind == .protocolViolation)
  }

  @Test func aLostOfferIsMadeAgain() throws {
    var machine = try machine()
    _ = machine.take(.begun)
    let offer = machine.take(.signed(Sample.signatures()))?.step
    #expect(machine.take(.unanswered(Sample.lost))?.step == .pause(1, because: Sample.lost))
    // The answer to the first one comes after all: nobody waits for it now.
    #expect(machine.take(.answered(Sample.reply(Self.offered))) == nil)
    #expect(machine.take(.paused)?.step == .sign(try message(), by: [.device, .approval]))
    #expect(machine.take(.signed(Sample.signatures()))?.step == offer)
  }

  @Test func aGateThatWasNeverThereIsNotWaitedFor() throws {
    var machine = try machine()
    _ = machine.take(.begun)
    _ = machine.take(.signed(Sample.signatures()))
    let away = DeviceFailure(.unreachable, "nobody listens")
    #expect(machine.take(.unanswered(away))?.failure == away)
  }

  @Test func aLostWordOfTheOperatorIsAskedForAgain() throws {
    var machine = try machine()
    _ = machine.take(.begun)
    _ = machine.take(.signed(Sample.signatures()))
    let reveal = machine.take(.answered(Sample.reply(Self.offered)))?.step?.call
    let away = DeviceFailure(.unreachable, "the gate starts again")
    #expect(machine.take(.unanswered(away))?.step == .pause(1, because: away))
    #expect(machine.take(.paused)?.step?.call == reveal)
    #expect(
      machine.take(.answered(Sample.reply("{}", status: 503, code: "overloaded")))?.step?.call == nil)
    #expect(machine.take(.paused)?.step?.call == reveal)
    #expect(machine.take(.answered(Sample.reply(Self.active)))?.outcome != nil)
  }

  @Test func evidenceCarriesItsOwnNonce() throws {
    var machine = try machine(vouches: true)
    #expect(machine.take(.begun)?.step == .challenge(.enroll))
    #expect(
      machine.take(.challenged(try Sample.challenge()))?.step
        == .vouch(try Sample.points(), try Sample.challenge(), isKnown: false))
    _ = machine.take(.vouched(.attestation([1, 2, 3], keyID: "key")))
    let offer = try #require(machine.take(.signed(Sample.signatures()))?.step?.call)
    let body = String(decoding: offer.body ?? [], as: UTF8.self)
    #expect(body.contains("\"att_obj\":\"AQID\"") && body.contains("\"nonce\":\"\(Sample.octets(9).hex)\""))
    // The gate knows the app's key: once more, by an assertion, for another challenge.
    #expect(
      machine.take(.answered(Sample.reply("{}", status: 409, code: "key_known")))?.step == .challenge(.enroll)
    )
    #expect(
      machine.take(.challenged(try Sample.challenge(8)))?.step
        == .vouch(try Sample.points(), try Sample.challenge(8), isKnown: true))
    _ = machine.take(.vouched(.assertion([1], keyID: "key")))
    _ = machine.take(.signed(Sample.signatures()))
    // Not for ever.
    #expect(
      machine.take(.answered(Sample.reply("{}", status: 409, code: "key_known")))?.failure?.code == .keyKnown)
  }

  private static let refusals: [(String, Int, String?, DeviceFailure.Kind, RefusalCode?)] = [
    ("{}", 410, "pairing_rejected", .rejected, .pairingRejected),
    ("{}", 403, "attestation_rejected", .refused, .attestationRejected),
    ("<html>", 200, nil, .protocolViolation, nil), ("{}", 200, nil, .protocolViolation, nil),
    ("", 404, nil, .interference, nil),
  ]

  @Test(arguments: refusals)
  func ends(body: String, status: Int, code: String?, kind: DeviceFailure.Kind, refusal: RefusalCode?) throws
  {
    var machine = try machine()
    _ = machine.take(.begun)
    _ = machine.take(.signed(Sample.signatures()))
    let failure = machine.take(.answered(Sample.reply(body, status: status, code: code)))?.failure
    #expect(failure?.kind == kind && failure?.code == refusal)
    #expect(machine.take(.signed(Sample.signatures())) == nil)
  }

  @Test func theOperatorSaysNo() throws {
    var machine = try machine()
    _ = machine.take(.begun)
    _ = machine.take(.signed(Sample.signatures()))
    _ = machine.take(.answered(Sample.reply(Self.offered)))
    let failure = machine.take(.answered(Sample.reply("{\"status\":\"refused\"}")))?.failure
    #expect(failure?.kind == .rejected && failure?.code == nil)
  }

  /// A phone without pins would believe anybody.
  @Test(arguments: ["[]", "[\"x\"]", "\"x\"", "[1]", "null"])
  func noPins(pins: String) throws {
    var machine = try machine()
    _ = machine.take(.begun)
    _ = machine.take(.signed(Sample.signatures()))
    _ = machine.take(.answered(Sample.reply(Self.offered)))
    let failure = machine.take(.answered(Sample.reply("{\"status\":\"active\",\"pins\":\(pins)}")))?.failure
    #expect(failure?.kind == .protocolViolation)
  }
}

import Bytes
import Crypto
import DeviceWire
import JSON
import Time
import Testing

@testable import Device

/// A phone's side of a pairing against a gate that keeps its own record.
@Suite struct PairingMachineTests {
  private static let gatesPart = Bytes32(words: 5, 6, 7, 8)
  private let uri: PairingURI
  private let keys: PhoneKeys
  private let name: DeviceName

  init() throws {
    let entropy = KernelEntropy()
    uri = try #require(
      PairingURI(
        pairingID: PairingID(random: entropy), secret: PairingSecret(random: entropy),
        serverKeyHash: Bytes32(words: 1, 1, 1, 1), host: "gate.example.com", port: 8443))
    keys = try PhoneKeys.generate(withApproval: true)
    name = try #require(DeviceName("Anna's phone"))
  }

  private var accepted: [UInt8] {
    Array(
      """
      {"device_id":"\(Sample.device)","server_id":"\(Sample.server)","s":"\(Self.gatesPart.hex)","expires_at":1}
      """.utf8)
  }

  /// What the gate builds from the form and what it knows of the pairing.
  private func message(_ form: SentForm) throws -> DeviceMessage {
    DeviceMessage.pair(
      pairing: uri.pairingID, serverKeyHash: uri.serverKeyHash,
      keys: try #require(
        DeviceKeys(device: form.key("device_pubkey"), approval: form.key("approval_pubkey"))),
      commit: try #require(form["commit"].flatMap { Bytes32(hex: $0) }),
      name: try #require(form["device_name"].flatMap { DeviceName($0) }))
  }

  @Test func anOfferIsUnderTheSecretAndSigned() throws {
    let machine = PairingMachine(uri, keys, name: name)
    let request = try machine.offer(nil)
    #expect(request.path == "/pair/\(uri.pairingID.text)" && !request.needsToken)
    let form = try SentForm(request)
    #expect(form["platform"] == "ios")
    let android = try SentForm(PairingMachine(uri, keys, name: name, platform: .android).offer(nil))
    #expect(android["platform"] == "android")
    let message = try message(form)
    #expect(uri.secret.isValid(try #require(form["mac"].flatMap { Bytes32(hex: $0) }), for: message))
    #expect(try form.isSigned("signature", message, by: form.key("device_pubkey")))
    #expect(try form.isSigned("approval_signature", message, by: form.key("approval_pubkey")))
    // Said again, it is the same message.
    let again = try SentForm(machine.offer(nil))
    #expect(again["mac"] == form["mac"] && again["commit"] == form["commit"])
  }

  @Test func bothSidesHaveTheSameDigits() throws {
    var machine = PairingMachine(uri, keys, name: name)
    let form = try SentForm(machine.offer(nil))
    guard case .show(let digits, then: let reveal) = machine.take(status: 200, code: nil, body: accepted)
    else {
      Issue.record("no digits")
      return
    }
    let query = try #require(reveal.path.split(separator: "=").dropFirst().first?.prefix(64))
    let revealed = try #require(Bytes32(hex: String(query)))
    #expect(
      reveal.path == "/pair/\(uri.pairingID.text)?reveal=\(revealed.hex)&wait=25" && reveal.waitSeconds == 25)
    #expect(SHA256.hash(revealed.array.span).hex == form["commit"])
    let gates = PairingDigits(
      of: .pairSAS(pairMessageHash: try message(form).hash, s: Self.gatesPart, r: revealed))
    #expect(digits.isEqual(to: gates) && digits.text.utf8.count == 6)
  }

  @Test func waitsUntilTheOperatorHasDecided() throws {
    var machine = PairingMachine(uri, keys, name: name)
    _ = machine.take(status: 200, code: nil, body: accepted)
    for _ in 0..<3 {
      guard case .send = machine.take(status: 200, code: nil, body: Array(#"{"status":"pending"}"#.utf8))
      else {
        Issue.record("gave up")
        return
      }
    }
    let pin = Base64.encodeURL(Bytes32(words: 2, 2, 2, 2).array.span)
    let active = Array("{\"status\":\"active\",\"pins\":[\"\(pin)\"]}".utf8)
    guard case .paired(let paired) = machine.take(status: 200, code: nil, body: active) else {
      Issue.record("not paired")
      return
    }
    #expect(paired.device.text == Sample.device && paired.server.text == Sample.server)
    #expect(paired.pins == [Bytes32(words: 2, 2, 2, 2)])
    let later: PairingMachine.Action? = machine.take(status: 200, code: nil, body: active)
    #expect(later == nil)
  }

  @Test func aKnownAppHasToAssert() throws {
    var machine = PairingMachine(uri, keys, name: name)
    guard case .askForAssertion = machine.take(status: 409, code: "key_known", body: []) else {
      Issue.record("not asked")
      return
    }
    guard case .show = machine.take(status: 200, code: nil, body: accepted) else {
      Issue.record("no digits")
      return
    }
  }

  @Test(arguments: [false, true]) func whoComesTooLateIsTold(isOffered: Bool) {
    var machine = PairingMachine(uri, keys, name: name)
    if isOffered { _ = machine.take(status: 200, code: nil, body: accepted) }
    guard case .ended(.rejected) = machine.take(status: 410, code: "pairing_rejected", body: []) else {
      Issue.record("went on")
      return
    }
  }

  @Test func aRefusalIsTheEnd() {
    var machine = PairingMachine(uri, keys, name: name)
    _ = machine.take(status: 200, code: nil, body: accepted)
    guard
      case .ended(.refused) = machine.take(status: 200, code: nil, body: Array(#"{"status":"refused"}"#.utf8))
    else {
      Issue.record("went on")
      return
    }
  }

  /// A gate that is none, and one that gives no pins to know it by.
  @Test(arguments: [
    (false, 200, "{}"), (false, 200, "x"), (false, 403, "{}"), (true, 200, #"{"status":"active"}"#),
    (true, 200, #"{"status":"active","pins":[]}"#), (true, 200, #"{"status":"open"}"#), (true, 409, "{}"),
  ])
  func otherAnswers(isOffered: Bool, status: Int, body: String) {
    var machine = PairingMachine(uri, keys, name: name)
    if isOffered { _ = machine.take(status: 200, code: nil, body: accepted) }
    let action: PairingMachine.Action? = machine.take(status: status, code: nil, body: Array(body.utf8))
    #expect(action == nil)
  }
}

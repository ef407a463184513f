/// The part of pairings on a fixed clock, with a phone that says what a test has it say.
import Addresses
import Bytes
import Crypto
import DeviceWire
import JSON
import PortcullisProtocol
import System
import Testing
import Time

@testable import Registry

final class PairingPart {
  let registry: RegistryHarness

  init() throws {
    registry = try RegistryHarness()
    registry.settings.pins = [PublicKeyPin(bytes32(0x51)), PublicKeyPin(bytes32(0x52))]
  }

  static let home = Origin.address(IPAddress(v4: 0x0A00_0001))
  static let `operator` = Origin.process(user: 0, process: 1)

  func pass(_ seconds: Int64) { registry.now.milliseconds += seconds * 1000 }

  // MARK: Who shows the code

  func open(_ subject: String? = "frodo", name: String? = nil) throws -> PairingURI {
    let said = try Said(
      registry.run(
        OpenPairing(subject: subject.flatMap { Subject($0) }, name: name.flatMap { DeviceName($0) }),
        from: Self.operator))
    let uri = try #require(said["uri"].flatMap { PairingURI($0) })
    #expect(said["pairing_id"] == uri.pairingID.text)
    #expect(said.value.object?["expires_at"]?.integer == registry.now.seconds + 300)
    return uri
  }

  func status(_ id: PairingID) throws -> Said {
    try Said(registry.run(PairingStatus(id, of: .host), from: Self.operator))
  }

  func confirm(_ id: PairingID, _ digits: String) throws -> Said {
    let digits = try #require(PairingDigits(typed: digits))
    return try Said(registry.run(ConfirmPairing(id, of: .host, digits: digits), from: Self.operator))
  }

  /// By its name, in the place of its digits.
  func confirmDevice(_ id: DeviceID, subject: String?) throws -> Said {
    let subject = subject.map { #","subject":"\#($0)""# } ?? ""
    let bytes = Array(#"{"id":"\#(id.text)"\#(subject)}"#.utf8)
    let arguments = try #require(try JSONValue(parsing: bytes.span, depthLimit: 2).object)
    return try Said(registry.run(OperatorOrder.call("devices-confirm", arguments), from: Self.operator))
  }

  func burn(_ id: PairingID) throws -> Said {
    try Said(registry.run(BurnPairing(id), from: Self.operator))
  }

  // MARK: The phone

  /// - Parameter change: of the body, before it is sent.
  func answer(
    _ phone: PairingPhone, evidence: KeyIdentifier? = nil, from origin: Origin = home,
    _ change: (inout Body) throws -> Void = { _ in }
  ) throws -> Said {
    var body = try phone.body()
    try change(&body)
    let form = try body.form
    let said = try Said(
      registry.run(
        AnswerPairing(phone.uri.pairingID, form: form, evidence: evidence.map { .appAttest($0) }),
        from: origin))
    if let s = said["s"] { phone.s = Bytes32(hex: s) }
    return said
  }

  /// Whether evidence that comes with it is to be judged.
  func ask(_ phone: PairingPhone) throws -> Reply? {
    let call = AskToAnswer(
      try AnswerPairing(phone.uri.pairingID, form: try phone.body().form, evidence: nil))
    guard case .reply(let reply) = try registry.run(call, from: Self.home) else { return nil }
    return reply
  }

  func reveal(_ phone: PairingPhone, _ r: Bytes32? = nil) throws -> Said {
    try Said(registry.run(RevealPairing(phone.uri.pairingID, r: r ?? phone.r), from: Self.home))
  }

  /// Up to the digits.
  func revealed(_ subject: String? = "frodo", name: String? = nil) throws -> PairingPhone {
    let phone = try PairingPhone(open(subject, name: name))
    #expect(try answer(phone).code == nil)
    #expect(try reveal(phone)["status"] == "pending")
    return phone
  }

  func record(_ id: PairingID) throws -> PairingRecord { try #require(try registry.store.pairing(id)) }

  func device(_ said: Said) throws -> DeviceRecord {
    let id = try #require(said["device_id"].flatMap { DeviceID($0) })
    return try #require(try registry.store.device(id))
  }
}

/// A phone in front of a QR code.
final class PairingPhone {
  let phone: TestPhone
  var uri: PairingURI
  var name = "Zo\u{EB}\u{2019}s phone"
  var r = bytes32(0x77)
  /// The gate's part, once it has said it.
  var s: Bytes32?

  init(_ uri: PairingURI, _ phone: TestPhone? = nil) throws {
    self.uri = uri
    self.phone = try phone ?? TestPhone()
  }

  var message: DeviceMessage {
    get throws {
      guard let name = DeviceName(name) else { fatalError("no name") }
      return .pair(
        pairing: uri.pairingID, serverKeyHash: uri.serverKeyHash, keys: try phone.keys,
        commit: SHA256.hash(r), name: name)
    }
  }

  /// What it shows.
  var digits: String {
    get throws {
      guard let s else { fatalError("no answer yet") }
      return PairingDigits(of: .pairSAS(pairMessageHash: try message.hash, s: s, r: r)).text
    }
  }

  /// Six digits that it does not show.
  var wrongDigits: String {
    get throws { try digits == "000000" ? "000001" : "000000" }
  }

  func body() throws -> Body {
    let message = try message
    var body = Body([
      ("device_pubkey", TestPhone.text(try phone.keys.device.spki)), ("device_name", name),
      ("commit", SHA256.hash(r).hex), ("mac", uri.secret.mac(of: message).hex),
      ("signature", try phone.sign(message)),
    ])
    if let approval = phone.approval {
      body["approval_pubkey"] = TestPhone.text(try approval.publicKey.point.x963)
      body["approval_signature"] = try approval.sign(message)
    }
    return body
  }
}

func bytes32(_ byte: UInt8) -> Bytes32 { Bytes32(InlineArray(repeating: byte)) }

/// Desktops beside the part of devices, and phones that answer them.
import Bytes
import Crypto
import DeviceWire
import PortcullisProtocol
import Time
import Testing

@testable import Registry

/// A service that phones come near to, and its token.
struct Desktop {
  let name: String
  let token: String
  let id: ServiceID

  var desktop: DesktopID {
    get throws { try #require(DesktopID(id.bytes)) }
  }
}

/// What a phone signs, and what is sent of it.
struct SignedPresence {
  var server: ServerID
  var device: DeviceID
  var desktop: DesktopID
  var nonce: Bytes32
  var signedAt: UnixSeconds

  var message: DeviceMessage {
    .presence(server: server, device: device, desktop: desktop, nonce: nonce, signedAt: signedAt)
  }
}

extension DevicePart {
  func desktop(
    _ name: String = "reception", scopes: String = "presence", site: String? = nil, subjects: String = "*"
  ) throws -> Desktop {
    let site = site.map { #","site":"\#($0)""# } ?? ""
    let said = try order(
      "services-add", #"{"name":"\#(name)","scopes":["\#(scopes)"],"subjects":"\#(subjects)"\#(site)}"#)
    return Desktop(
      name: name, token: try #require(said["token"]),
      id: try #require(said["id"].flatMap { ServiceID($0) }))
  }

  func ask(_ desktop: Desktop, about device: DeviceID) throws -> Said {
    let json = Array(#"{"device_id":"\#(device.text)"}"#.utf8)
    let form = try PresenceChallengeForm(Form(body: json.span, checkedBy: P256Verifier()))
    let expires = UnixTime(milliseconds: registry.now.milliseconds + 10_000)
    return try Said(
      registry.run(
        AskPresence(bearer: desktop.token, form, nonce: nonce(), expires: expires), from: Self.home))
  }

  /// - Parameters:
  ///   - forge: changes what is signed.
  ///   - send: changes what is sent of it.
  ///   - rssi: JSON.
  func prove(
    _ phone: TestPhone, to desktop: Desktop, rssi: String? = nil, by signer: PhoneKey? = nil,
    forge: (inout SignedPresence) -> Void = { _ in }, send: (inout SignedPresence) -> Void = { _ in }
  ) throws -> Said {
    var sent = SignedPresence(
      server: server, device: try phone.required, desktop: try desktop.desktop, nonce: nonce(),
      signedAt: UnixSeconds(registry.now))
    var signed = sent
    forge(&signed)
    let signature = try (signer ?? phone.device).sign(signed.message)
    send(&sent)
    let form = try Self.form(sent, signature: signature, rssi: rssi)
    return try Said(
      registry.run(
        ProvePresence(bearer: desktop.token, form, nonce: SpentNonce(spent: sent.nonce)), from: Self.home))
  }

  static func form(_ sent: SignedPresence, signature: String, rssi: String?) throws -> PresenceForm {
    let json = Array(
      """
      {"device_id":"\(sent.device.text)","nonce":"\(sent.nonce.hex)","signed_at":\(sent.signedAt.value),
       "signature":"\(signature)"\(rssi.map { #","rssi":\#($0)"# } ?? "")}
      """.utf8)
    return try PresenceForm(Form(body: json.span, checkedBy: P256Verifier()))
  }

  func isNear(_ phone: TestPhone) throws -> Bool {
    guard case .reply(.answered(let bytes)) = try registry.run(Look(device: phone.required)) else {
      return false
    }
    return bytes == [1]
  }
}

/// Whether the device counts as near.
struct Look: RegistryCall {
  let device: DeviceID

  func run(_ transaction: inout Transaction) throws(CallFailure) -> Outcome {
    .reply(.answered([transaction.isNear(try transaction.device(device)) ? 1 : 0]))
  }
}

/// A phone's side of a pairing, from the code that it has scanned to the operator's word; without a connection and a
/// clock (docs/devices-messages.md, "Pairing").
package import Bytes
package import Crypto
package import DeviceWire
internal import JSON
package import Time

package struct PairingMachine: ~Copyable {
  package enum Action: Sendable {
    case send(PhoneRequest)
    /// The person at the phone reads them to the operator, who types them. The request is what is sent meanwhile.
    case show(PairingDigits, then: PhoneRequest)
    /// The gate knows the app's key: its evidence has to be an assertion.
    case askForAssertion
    case paired(Paired)
    case ended(PairingEnd)
  }

  package struct Paired: Equatable, Sendable {
    package let device: DeviceID
    package let server: ServerID
    package let pins: [Bytes32]
  }

  private enum State {
    case offering
    case revealing(device: DeviceID, server: ServerID)
    case over
  }

  private let uri: PairingURI
  private let keys: PhoneKeys
  private let name: DeviceName
  private let platform: DevicePlatform
  /// What the phone commits to before it has seen the gate's part of the digits.
  private let secretPart: Bytes32
  private var state = State.offering

  package init(
    _ uri: PairingURI, _ keys: PhoneKeys, name: DeviceName, platform: DevicePlatform = .ios,
    entropy: some Entropy = KernelEntropy()
  ) {
    self.uri = uri
    self.keys = keys
    self.name = name
    self.platform = platform
    guard let part = Bytes32(entropy.bytes(32)) else {
      fatalError("PairingMachine: entropy gave other than 32 bytes")
    }
    secretPart = part
  }

  private var message: DeviceMessage {
    .pair(
      pairing: uri.pairingID, serverKeyHash: uri.serverKeyHash, keys: keys.names,
      commit: SHA256.hash(secretPart.array.span), name: name)
  }

  /// What the phone says of itself. Sent again when its answer is lost, it gets the same one.
  package func offer(_ evidence: PhoneEvidence?) throws(IssuingError) -> PhoneRequest {
    let message = message
    var form = PhoneForm()
    form.add(keys)
    form.add("platform", platform.rawValue)
    form.add("device_name", name.text)
    form.add("commit", SHA256.hash(secretPart.array.span).hex)
    form.add("mac", uri.secret.mac(of: message).hex)
    form.add("signature", try keys.device.sign(message))
    form.add("approval_signature", try keys.approval?.sign(message))
    form.add("evidence", evidence?.form)
    return PhoneRequest(post: "/pair/\(uri.pairingID.text)", form)
  }

  /// Also asked again and again, until the operator has decided.
  private var reveal: PhoneRequest {
    let wait = PhoneRequest.longestWait
    return PhoneRequest(
      get: "/pair/\(uri.pairingID.text)?reveal=\(secretPart.hex)&wait=\(wait)", waitSeconds: wait)
  }

  /// - Returns: nil for an answer that a gate does not give.
  package mutating func take(status: Int, code: String?, body: [UInt8]) -> Action? {
    switch (state, status) {
    case (.over, _): return nil
    case (.offering, 409) where code == "key_known": return .askForAssertion
    case (.offering, 200), (.revealing, 200): break
    case (_, 410): return end(.rejected)
    case (.offering, _), (.revealing, _): return nil
    }
    guard let object = (try? JSONValue(parsing: body.span, depthLimit: 4))?.object else { return nil }
    switch state {
    case .offering: return heed(offered: object)
    case .revealing(let device, let server): return heed(decided: object, device, server)
    case .over: return nil
    }
  }

  private mutating func heed(offered object: JSONObject) -> Action? {
    guard let device = object["device_id"]?.string.flatMap({ DeviceID($0) }),
      let server = object["server_id"]?.string.flatMap({ ServerID($0) }),
      let gatesPart = object["s"]?.string.flatMap({ Bytes32(hex: $0) })
    else { return nil }
    state = .revealing(device: device, server: server)
    let digits = PairingDigits(
      of: .pairSAS(pairMessageHash: message.hash, s: gatesPart, r: secretPart))
    return .show(digits, then: reveal)
  }

  private mutating func heed(decided object: JSONObject, _ device: DeviceID, _ server: ServerID) -> Action? {
    switch object["status"]?.string {
    case "pending": return .send(reveal)
    case "refused": return end(.refused)
    case "active":
      guard let pins = PhonePins(object) else { return nil }
      state = .over
      return .paired(Paired(device: device, server: server, pins: pins.hashes))
    default: return nil
    }
  }

  private mutating func end(_ end: PairingEnd) -> Action {
    state = .over
    return .ended(end)
  }
}

package enum PairingEnd: Equatable, Sendable {
  /// The gate does not know the code, or not any more: it was used, burnt, or is too old.
  case rejected
  /// By the operator.
  case refused
}

/// A case of a signed message: the verifier's record, keys, and what the phone sent; and what the gate says of it.
internal import Bytes
package import Crypto
internal import DeviceWire
internal import JSON

package struct MessageCase: Sendable {
  package let name: String
  package let expectation: Expectation?
  private let object: JSONObject

  init(name: String, object: JSONObject, expectation: Expectation?) {
    self.name = name
    self.object = object
    self.expectation = expectation
  }

  package func judge(by verifier: P256Verifier) -> VectorVerdict {
    do throws(MessageStep) {
      let message = try verify(by: verifier)
      return .accept([
        .init("bytes", "\(message.bytes.count)"), .init("sha256", message.hash.hex),
      ])
    } catch {
      return .reject(check: error.rawValue, reason: error.rule)
    }
  }

  private func verify(by verifier: P256Verifier) throws(MessageStep) -> DeviceMessage {
    guard let domain = object["domain"]?.string.flatMap({ DeviceMessage.Domain(text: $0) }),
      let fields = object["fields"]?.object
    else { throw .fields }
    let record = try MessageRecord(domain, fields)
    for role in KeyRole.allCases where !record.required.contains(role) {
      // A required key that is missing is told as such.
      if has(role.signatureName), key(role) == nil { throw .fields }
    }
    var keys: [KeyRole: DevicePublicKey] = [:]
    for role in record.required + record.optional {
      guard let form = key(role) else {
        if record.required.contains(role) { throw .publicKey }
        continue
      }
      guard let key = form.read(verifier) else { throw .publicKey }
      keys[role] = key
    }
    let message = try record.message(keys)
    if let expected = object["message_hex"], expected.string != Hex.encode(message.bytes.span) {
      throw .encoding
    }
    if domain == .pair { try checkMAC(message) }
    for role in KeyRole.allCases where record.signers.contains(role) {
      guard let key = keys[role] else { continue }
      try checkSignature(role, of: message, by: key, verifier)
    }
    try compare(message, domain)
    return message
  }

  // MARK: Proofs

  private func checkMAC(_ message: DeviceMessage) throws(MessageStep) {
    guard let secret = hex("pairing_secret_hex").flatMap({ PairingSecret($0) }) else { throw .fields }
    guard let mac = hex("mac_hex").flatMap({ Bytes32($0) }), secret.isValid(mac, for: message) else {
      throw .mac
    }
  }

  private func checkSignature(
    _ role: KeyRole, of message: DeviceMessage, by key: DevicePublicKey, _ verifier: P256Verifier
  ) throws(MessageStep) {
    guard let sent = object[role.signatureName] else { throw role.signatureStep }
    guard let der = Self.base64(sent), let signature = DeviceSignature(der) else { throw .signatureDER }
    guard signature.isValid(for: message, by: key, verifier: verifier) else { throw role.signatureStep }
  }

  private func compare(_ message: DeviceMessage, _ domain: DeviceMessage.Domain) throws(MessageStep) {
    switch domain {
    case .pairSAS:
      guard let digits = object["sas"]?.string.flatMap({ PairingDigits(typed: $0) }),
        digits.isEqual(to: PairingDigits(of: message))
      else { throw .sas }
    case .appAttest, .androidKey:
      guard hex("digest_hex").flatMap({ Bytes32($0) }) == message.hash else { throw .digest }
    case .playNonce:
      guard object["nonce"]?.string?.isSameText(as: Base64.encodeURL(message.hash.array.span)) == true else {
        throw .nonce
      }
    case .approval:
      guard object["fields"]?.object?["decision"]?.integer == Int64(Decision.approve.byte) else { return }
      let issued = object["issued_match_code"]?.string ?? ""
      guard object["fields"]?.object?["match_code"]?.string?.isSameText(as: issued) == true else {
        throw .matchCode
      }
    case .enroll, .pair, .deviceAuth, .rotate, .otpIssue, .presence, .auditHead: break
    }
  }

  // MARK: Values

  /// A key as it was sent.
  private enum KeyForm {
    case spki([UInt8]?)
    case x963([UInt8]?)

    func read(_ verifier: P256Verifier) -> DevicePublicKey? {
      switch self {
      case .spki(let bytes): bytes.flatMap { DevicePublicKey(spki: $0.span, checkedBy: verifier) }
      case .x963(let bytes): bytes.flatMap { DevicePublicKey(x963: $0.span, checkedBy: verifier) }
      }
    }
  }

  private func key(_ role: KeyRole) -> KeyForm? {
    if let value = object["\(role.rawValue)_key_spki_b64"] { return .spki(Self.base64(value)) }
    if let value = object["\(role.rawValue)_key_x963_b64"] { return .x963(Self.base64(value)) }
    return nil
  }

  private func has(_ name: String) -> Bool { object[name] != nil }

  private func hex(_ name: String) -> [UInt8]? {
    object[name]?.string.flatMap { Hex.decode(Array($0.utf8).span) }
  }

  private static func base64(_ value: JSONValue) -> [UInt8]? {
    value.string.flatMap { Base64.decode(Array($0.utf8).span) }
  }
}

/// Whose key it is, by the beginning of its members' names.
enum KeyRole: String, CaseIterable {
  case device, approval
  case newDevice = "new_device"
  case newApproval = "new_approval"

  var signatureName: String { "\(rawValue)_signature_b64" }

  var signatureStep: MessageStep {
    switch self {
    case .device: .deviceSignature
    case .approval: .approvalSignature
    case .newDevice: .newDeviceSignature
    case .newApproval: .newApprovalSignature
    }
  }
}

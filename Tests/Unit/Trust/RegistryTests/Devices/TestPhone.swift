/// A phone with software keys, which says what a test has it say: each body as JSON, through the reader of the gate.
import Bytes
import Crypto
import DeviceWire
import JSON
import System

@testable import Registry

final class TestPhone {
  let device: PhoneKey
  let approval: PhoneKey?
  let platform: DevicePlatform
  var id: DeviceID?

  init(hasApprovalKey: Bool = true, platform: DevicePlatform = .ios) throws {
    device = try PhoneKey()
    approval = hasApprovalKey ? try PhoneKey() : nil
    self.platform = platform
  }

  /// With another phone's approval key.
  init(approvalOf other: TestPhone) throws {
    device = try PhoneKey()
    approval = other.approval
    platform = other.platform
  }

  var keys: DeviceKeys {
    get throws {
      let keys = DeviceKeys(device: try device.publicKey, approval: try approval?.publicKey)
      guard let keys else { fatalError("one key for both") }
      return keys
    }
  }

  static func text(_ bytes: [UInt8]) -> String { Base64.encodeURL(bytes.span) }

  func sign(_ message: DeviceMessage) throws -> String { try device.sign(message) }
}

final class PhoneKey {
  private let key: SigningKey

  init() throws {
    key = try SigningKey.generate(.p256)
  }

  var publicKey: DevicePublicKey {
    get throws {
      let key = DevicePublicKey(try key.point(), checkedBy: P256Verifier())
      guard let key else { fatalError("not on the curve") }
      return key
    }
  }

  /// As a body carries it.
  func sign(_ message: DeviceMessage) throws -> String { TestPhone.text(try key.sign(message.bytes)) }
}

/// A body that starts complete; a test takes a member out or puts another one in.
struct Body {
  var members: [(String, String)]

  init(_ members: [(String, String)]) {
    self.members = members
  }

  subscript(name: String) -> String? {
    get { members.first { $0.0 == name }?.1 }
    set {
      members.removeAll { $0.0 == name }
      if let newValue { members.append((name, newValue)) }
    }
  }

  var form: Form {
    get throws {
      var json = JSONWriter()
      json.beginObject()
      for (name, text) in members {
        json.name(name)
        json.value(text)
      }
      json.endObject()
      let bytes = json.bytes
      return try Form(body: bytes.span, checkedBy: P256Verifier())
    }
  }
}

extension TestPhone {
  func enrollBody(_ server: ServerID, nonce: Bytes32, name: String? = "a phone") throws -> Body {
    let message = DeviceMessage.enroll(server: server, keys: try keys, nonce: nonce, platform: platform)
    var body = Body([
      ("platform", platform.rawValue), ("device_pubkey", Self.text(try keys.device.spki)),
      ("nonce", nonce.hex), ("signature", try sign(message)),
    ])
    if let approval {
      body["approval_pubkey"] = Self.text(try approval.publicKey.point.x963)
      body["approval_signature"] = try approval.sign(message)
    }
    body["device_name"] = name
    return body
  }

  func rotateBody(_ server: ServerID, to other: TestPhone, nonce: Bytes32) throws -> Body {
    guard let id else { fatalError("not enrolled") }
    let message = DeviceMessage.rotate(server: server, device: id, newKeys: try other.keys, nonce: nonce)
    var body = Body([
      ("device_id", id.text), ("device_pubkey", Self.text(try other.keys.device.spki)), ("nonce", nonce.hex),
      ("signature", try sign(message)), ("new_signature", try other.sign(message)),
    ])
    if let approval = other.approval {
      body["approval_pubkey"] = Self.text(try approval.publicKey.point.x963)
      body["new_approval_signature"] = try approval.sign(message)
    }
    return body
  }

  /// Evidence that is none, in this phone's name.
  /// - Parameter signer: nil where nobody signs.
  func attestBody(_ server: ServerID, nonce: Bytes32, signedBy signer: TestPhone?) throws -> Body {
    guard let id else { fatalError("not enrolled") }
    var body = Body([
      ("device_id", id.text), ("nonce", nonce.hex), ("attestation_type", "play_integrity"),
      ("jws_token", "a.b"),
    ])
    let message = DeviceMessage.deviceAuth(server: server, device: id, nonce: nonce, for: .token(.gate))
    body["signature"] = try signer?.sign(message)
    return body
  }

  func tokenBody(_ server: ServerID, nonce: Bytes32, audience: String? = nil) throws -> Body {
    guard let id, let named = Audience(audience ?? "") else { fatalError("not enrolled") }
    let message = DeviceMessage.deviceAuth(server: server, device: id, nonce: nonce, for: .token(named))
    var body = Body([("device_id", id.text), ("nonce", nonce.hex), ("signature", try sign(message))])
    body["audience"] = audience
    return body
  }
}

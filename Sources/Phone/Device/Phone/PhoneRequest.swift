/// What a phone sends: requests as values, made of what it knows and without a connection (docs/devices.md).
package import Bytes
package import Crypto
package import DeviceWire
internal import JSON

package struct PhoneRequest: Equatable, Sendable {
  package let method: String
  package let path: String
  /// JSON; nil: none.
  package let body: [UInt8]?
  /// Whether the device's token goes with it.
  package let needsToken: Bool
  /// How many seconds the gate is asked to wait for something to say.
  package let waitSeconds: Int

  init(get path: String, needsToken: Bool = false, waitSeconds: Int = 0) {
    method = "GET"
    self.path = path
    body = nil
    self.needsToken = needsToken
    self.waitSeconds = waitSeconds
  }

  init(post path: String, _ form: PhoneForm, needsToken: Bool = false) {
    method = "POST"
    self.path = path
    body = form.bytes
    self.needsToken = needsToken
    waitSeconds = 0
  }

  /// The longest that a gate waits.
  static let longestWait = 25
}

/// A JSON object in the making; what is nil is left out, as the gate takes no null.
struct PhoneForm {
  private var writer = JSONWriter()

  init() {
    writer.beginObject()
  }

  mutating func add(_ name: String, _ text: String?) {
    guard let text else { return }
    writer.name(name)
    writer.value(text)
  }

  mutating func add(_ name: String, _ number: Int64?) {
    guard let number else { return }
    writer.name(name)
    writer.value(number)
  }

  mutating func add(_ name: String, _ flag: Bool?) {
    guard let flag else { return }
    writer.name(name)
    writer.value(flag)
  }

  mutating func add(_ name: String, _ texts: [String]?) {
    guard let texts else { return }
    writer.name(name)
    writer.beginArray()
    for text in texts { writer.value(text) }
    writer.endArray()
  }

  mutating func add(_ name: String, _ form: PhoneForm?) {
    guard let form else { return }
    writer.name(name)
    writer.raw(form.bytes)
  }

  mutating func add(_ keys: PhoneKeys) {
    add("device_pubkey", keys.device.text)
    add("approval_pubkey", keys.approval?.text)
  }

  var bytes: [UInt8] {
    var writer = writer
    writer.endObject()
    return writer.bytes
  }
}

/// What a challenge is asked for: one that was given for something else is refused.
package enum PhoneChallengePurpose: String, Sendable {
  case enroll, attest, rotate, device
}

/// A challenge, and which gate has issued it.
package struct PhoneChallenge: Equatable, Sendable {
  package let nonce: Bytes32
  package let server: ServerID

  package init(nonce: Bytes32, server: ServerID) {
    self.nonce = nonce
    self.server = server
  }
}

extension PhoneRequest {
  package static func challenge(for purpose: PhoneChallengePurpose) -> Self {
    Self(get: "/attest/challenge?purpose=\(purpose.rawValue)")
  }

  /// - Parameter evidence: what vouches for these keys.
  package static func enroll(
    _ keys: PhoneKeys, platform: DevicePlatform, name: DeviceName?, _ challenge: PhoneChallenge,
    evidence: PhoneEvidence?
  ) throws(IssuingError) -> Self {
    let message = DeviceMessage.enroll(
      server: challenge.server, keys: keys.names, nonce: challenge.nonce, platform: platform)
    var form = PhoneForm()
    form.add("platform", platform.rawValue)
    form.add(keys)
    form.add("nonce", challenge.nonce.hex)
    form.add("signature", try keys.device.sign(message))
    form.add("approval_signature", try keys.approval?.sign(message))
    form.add("device_name", name?.text)
    form.add("evidence", evidence?.form)
    return Self(post: "/device/enroll", form)
  }

  package static func attest(
    _ device: DeviceID, _ keys: PhoneKeys, _ challenge: PhoneChallenge, _ evidence: PhoneEvidence
  ) throws(IssuingError) -> Self {
    let message = DeviceMessage.deviceAuth(
      server: challenge.server, device: device, nonce: challenge.nonce, for: .token(.gate))
    var form = evidence.form
    form.add("device_id", device.text)
    form.add("nonce", challenge.nonce.hex)
    form.add("signature", try keys.device.sign(message))
    return Self(post: "/mobile/attest", form)
  }

  package static func token(
    _ device: DeviceID, _ keys: PhoneKeys, _ challenge: PhoneChallenge, audience: Audience
  ) throws(IssuingError) -> Self {
    let message = DeviceMessage.deviceAuth(
      server: challenge.server, device: device, nonce: challenge.nonce, for: .token(audience))
    var form = PhoneForm()
    form.add("device_id", device.text)
    form.add("nonce", challenge.nonce.hex)
    form.add("signature", try keys.device.sign(message))
    form.add("audience", audience.isGate ? nil : audience.text)
    return Self(post: "/device/token", form)
  }

  /// - Parameters:
  ///   - new: in the place of `old`; all of them sign.
  ///   - evidence: what vouches for the new ones.
  package static func rotate(
    _ device: DeviceID, from old: PhoneKeys, to new: PhoneKeys, _ challenge: PhoneChallenge,
    evidence: PhoneEvidence?
  ) throws(IssuingError) -> Self {
    let message = DeviceMessage.rotate(
      server: challenge.server, device: device, newKeys: new.names, nonce: challenge.nonce)
    var form = PhoneForm()
    form.add("device_id", device.text)
    form.add(new)
    form.add("nonce", challenge.nonce.hex)
    form.add("signature", try old.device.sign(message))
    form.add("new_signature", try new.device.sign(message))
    form.add("new_approval_signature", try new.approval?.sign(message))
    form.add("evidence", evidence?.form)
    return Self(post: "/device/rotate", form)
  }

  package static var itself: Self { Self(get: "/device/self", needsToken: true) }

  /// - Parameter challenge: signed as well; only so the gate believes that a phone is rooted, or is not any more.
  package static func heartbeat(
    _ device: DeviceID, _ keys: PhoneKeys, appVersion: String?, rooted: Bool?, _ challenge: PhoneChallenge?
  ) throws(IssuingError) -> Self {
    var form = PhoneForm()
    form.add("app_version", appVersion)
    form.add("rooted", rooted)
    if let challenge {
      form.add("nonce", challenge.nonce.hex)
      form.add(
        "signature",
        try keys.device.sign(
          .deviceAuth(server: challenge.server, device: device, nonce: challenge.nonce, for: .heartbeat)))
    }
    return Self(post: "/device/heartbeat", form, needsToken: true)
  }
}

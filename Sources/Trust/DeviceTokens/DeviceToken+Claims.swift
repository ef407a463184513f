/// The claims of a device token in JSON. Members that are not known are ignored (RFC 7519 §4), as a later gate may add
/// some; known ones have one form.
internal import Bytes
internal import DeviceWire
internal import JSON

extension DeviceToken {
  var claims: [UInt8] {
    var json = JSONWriter()
    json.beginObject()
    func member(_ name: String, _ text: String) {
      json.name(name)
      json.value(text)
    }
    func member(_ name: String, _ time: UnixSeconds) {
      json.name(name)
      json.value(time.value)
    }
    member("iss", issuer)
    member("sub", device.text)
    member("aud", audience)
    member("iat", issuedAt)
    member("exp", expiresAt)
    member("jti", identifier.text)
    json.name("cnf")
    json.beginObject()
    member("jkt", deviceKey.text)
    json.endObject()
    member("level", level.rawValue)
    member("uv", userVerification.rawValue)
    member("platform", platform.rawValue)
    if let appVersion { member("app_version", appVersion) }
    if let attestedAt { member("attested_at", attestedAt) }
    json.endObject()
    return json.bytes
  }

  init(claims bytes: Span<UInt8>) throws(TokenRejection) {
    guard let object = (try? JSONValue(parsing: bytes, depthLimit: 8))?.object,
      let issuer = object["iss"]?.string, let audience = object["aud"]?.string,
      let device = object["sub"]?.string.flatMap({ DeviceID($0) }),
      let issuedAt = object["iat"]?.integer.flatMap({ UnixSeconds($0) }),
      let expiresAt = object["exp"]?.integer.flatMap({ UnixSeconds($0) }),
      let identifier = object["jti"]?.string.flatMap({ TokenIdentifier($0) }),
      let deviceKey = object["cnf"]?.object?["jkt"]?.string.flatMap({ KeyThumbprint($0) }),
      let level = object["level"]?.string.flatMap({ Level(rawValue: $0) }),
      let userVerification = object["uv"]?.string.flatMap({ UserVerification(rawValue: $0) }),
      let platform = object["platform"]?.string.flatMap({ DevicePlatform(rawValue: $0) })
    else { throw .claims }
    self.init(
      issuer: issuer, device: device, audience: audience, issuedAt: issuedAt, expiresAt: expiresAt,
      identifier: identifier, deviceKey: deviceKey, level: level, userVerification: userVerification,
      platform: platform)
    if let version = object["app_version"] {
      guard let text = version.string else { throw .claims }
      appVersion = text
    }
    if let time = object["attested_at"] {
      guard let seconds = time.integer.flatMap({ UnixSeconds($0) }) else { throw .claims }
      attestedAt = seconds
    }
  }
}

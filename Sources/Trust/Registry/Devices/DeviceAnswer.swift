/// Answers about devices in JSON: members in the order of docs/devices.md, those that are absent left out.
internal import Bytes
internal import Crypto
internal import DeviceTokens
internal import DeviceWire
internal import JSON
internal import Time

struct DeviceAnswer {
  private var json = JSONWriter()

  init() { json.beginObject() }

  /// The whole of it, as a reply.
  consuming func reply() -> Reply { .answered(bytes()) }

  consuming func bytes() -> [UInt8] {
    json.endObject()
    return json.bytes
  }

  mutating func put(_ name: String, _ text: String?) {
    guard let text else { return }
    json.name(name)
    json.value(text)
  }

  mutating func put(_ name: String, _ number: Int64?) {
    guard let number else { return }
    json.name(name)
    json.value(number)
  }

  mutating func put(_ name: String, _ time: UnixTime?) { put(name, time.map(\.seconds)) }

  mutating func put(_ name: String, _ isSo: Bool) {
    json.name(name)
    json.value(isSo)
  }

  mutating func put(_ name: String, _ texts: [String]) {
    json.name(name)
    json.beginArray()
    for text in texts { json.value(text) }
    json.endArray()
  }

  mutating func put(_ name: String, raw value: [UInt8]) {
    json.name(name)
    json.raw(value)
  }

  mutating func putStanding(_ device: DeviceRecord) {
    put("level", device.level.rawValue)
    put("uv", device.verification.rawValue)
  }

  /// The server's keys, so that a phone knows the next one before it is in service.
  mutating func putPins(_ pins: [PublicKeyPin]) {
    json.name("pins")
    json.beginArray()
    for pin in pins { json.value(pin.text) }
    json.endArray()
  }

  /// All that anybody may read of a device; what its keys are is nobody's business but its own.
  mutating func putAll(_ device: DeviceRecord) {
    put("device_id", device.id.text)
    put("status", device.state.word)
    put("subject", device.subject?.name)
    put("device_name", device.name?.text)
    put("platform", device.platform.rawValue)
    putStanding(device)
    put("app_version", device.appVersion)
    put("os_patch_level", device.patchLevel)
    if device.isRooted { put("rooted", true) }
    put("created_at", device.createdAt)
    put("activated_at", device.activatedAt)
    put("attested_at", device.attestedAt)
    put("seen_at", device.seenAt)
    put("revoked_at", device.revokedAt)
  }

  /// As an operator sees it.
  mutating func putAllForOperator(_ device: DeviceRecord) {
    putAll(device)
    put("play_attested_at", device.playAttestedAt)
    put("play_level", device.playTrust?.rawValue)
    put("attestation_failed_at", device.attestationFailedAt)
    put("key_id", device.attestedKey?.base64)
    put("replaces", device.replaces?.text)
    if let exception = device.exception {
      var json = DeviceAnswer()
      json.put("until", exception.until)
      json.put("reason", exception.reason)
      if exception.lacks != .all {
        json.put("lacks", exception.lacks.words)
      }
      put("except", raw: json.bytes())
    }
  }
}

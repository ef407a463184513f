/// A case of an Android key attestation: a chain, what was asked for, and what it is held against; and what the gate says of
/// it.
internal import AndroidKey
internal import Bytes
internal import DeviceWire
internal import JSON

package struct AndroidKeyCase: Sendable {
  package let name: String
  package let expectation: Expectation?
  /// Empty where an element is no base64.
  private let chain: [[UInt8]]
  private let challenge: [UInt8]
  private let subjectPublicKeyInfo: [UInt8]
  private let policy: AndroidKeyPolicy

  init(name: String, _ fields: Fields) throws(VectorError) {
    guard let elements = fields.object["x5c_b64"]?.array, let challenge = try fields.base64("challenge_b64"),
      let key = try fields.base64("device_key_spki_b64"), let policy = fields.object["policy"]?.object
    else { throw VectorError("no x5c_b64, challenge_b64, device_key_spki_b64 or policy") }
    chain = elements.map { $0.string.flatMap { Base64.decode(Array($0.utf8).span) } ?? [] }
    self.challenge = challenge
    subjectPublicKeyInfo = key
    self.policy = try Self.policy(policy)
    self.name = name
    expectation = try fields.expectation()
  }

  package func judge() -> VectorVerdict {
    do throws(AndroidKeyRejection) {
      let verdict = try AndroidKeyVerifier().verify(
        chain: chain, verbatimChallenge: challenge, subjectPublicKeyInfo: subjectPublicKeyInfo,
        policy: policy)
      return .accept(verdict.facts)
    } catch {
      return .reject(check: error.rawValue, reason: error.rule)
    }
  }

  private static func policy(_ object: JSONObject) throws(VectorError) -> AndroidKeyPolicy {
    guard let now = object["now"]?.integer.flatMap({ UnixSeconds($0) }) else {
      throw VectorError("policy.now is no time")
    }
    guard let level = object["required_level"]?.string.flatMap(SecurityLevel.init(rawValue:)) else {
      throw VectorError("policy.required_level must be tee or strongbox")
    }
    guard let roots = object["root_spki_sha256"]?.array?.map({ $0.string.flatMap { Bytes32(hex: $0) } }),
      !roots.contains(nil)
    else { throw VectorError("policy.root_spki_sha256 is not of SHA-256 in hexadecimal") }
    guard let requiresUserVerification = object["require_uv"]?.boolean else {
      throw VectorError("policy.require_uv must be true or false")
    }
    let status = object["status"]?.object
    return AndroidKeyPolicy(
      roots: Set(roots.compactMap(\.self)), required: level,
      requiresUserVerification: requiresUserVerification, apps: try apps(object["apps"]),
      minimumPatch: object["min_os_patch"]?.integer.map(Int.init), now: now,
      revocation: status?["entries"].flatMap(list), revocationAge: status?["age_s"]?.integer,
      revocationMaximumAge: status?["max_age_s"]?.integer ?? 0)
  }

  private static func apps(_ value: JSONValue?) throws(VectorError) -> [AndroidApp] {
    guard let values = value?.array else { throw VectorError("policy.apps is not an array") }
    var apps: [AndroidApp] = []
    for value in values {
      guard let object = value.object, let package = object["package"]?.string,
        let digests = object["cert_digests"]?.array?.map({ $0.string.flatMap { Bytes32(hex: $0) } })
      else { throw VectorError("policy.apps is not of packages and their cert_digests") }
      apps.append(AndroidApp(verbatimPackage: package, digests: Set(digests.compactMap(\.self))))
    }
    return apps
  }

  /// Nil for what is no list.
  private static func list(_ entries: JSONValue) -> RevocationList? {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("entries")
    writer.value(entries)
    writer.endObject()
    return try? RevocationList(json: writer.bytes.span)
  }
}

extension AndroidKeyVerdict {
  var facts: [VectorVerdict.Fact] {
    [
      .init("level", level.rawValue), .init("package", package),
      .init("userVerification", hasUserVerification ? "hardware" : "none"),
      .init("patch", patch.map(String.init) ?? "unknown"),
      .init("serials", serials.map(\.hex).joined(separator: " ")),
    ]
  }
}

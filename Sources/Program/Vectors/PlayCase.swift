/// A case of a Play Integrity token: keys, policy and the token, and what the gate says of it.
internal import Bytes
package import Crypto
internal import DeviceWire
internal import JSON
internal import PlayIntegrity
internal import Time

package struct PlayCase: Sendable {
  package let name: String
  package let expectation: Expectation?
  private let token: [UInt8]
  private let keys: [PlayKeys]
  private let policy: Policy

  private struct Policy {
    let nonce: Bytes32
    let apps: [AndroidApp]
    let now: UnixTime
    let maximumAge: Duration
    let required: PlayLevel
  }

  init(name: String, _ fields: Fields) throws(VectorError) {
    guard let token = try fields.text("token") else { throw VectorError("no token") }
    guard let policy = fields.object["policy"]?.object else { throw VectorError("policy is not an object") }
    self.name = name
    self.token = Array(token.utf8)
    keys = try Self.keys(fields.object["keys"])
    self.policy = try Self.policy(Fields(policy))
    expectation = try fields.expectation()
  }

  package func judge(by verifier: P256Verifier) -> VectorVerdict {
    do throws(PlayRejection) {
      let verdict = try PlayVerifier(verifier).verify(
        token.span, nonce: policy.nonce, keys: keys, apps: policy.apps, now: policy.now,
        maximumAge: policy.maximumAge, required: policy.required)
      return .accept([
        .init("package", verdict.package), .init("level", verdict.level.rawValue),
        .init("made at", verdict.timestamp.timestamp),
      ])
    } catch {
      return .reject(check: error.rawValue, reason: error.rule)
    }
  }

  // MARK: Members

  private static func keys(_ value: JSONValue?) throws(VectorError) -> [PlayKeys] {
    guard let pairs = value?.array else { throw VectorError("keys is not an array") }
    var keys: [PlayKeys] = []
    for value in pairs {
      guard let pair = value.object.map(Fields.init) else { throw VectorError("keys is not of objects") }
      guard let decryption = try pair.base64("decryption_key_b64"),
        let spki = try pair.base64("verification_key_b64")
      else { throw VectorError("no decryption_key_b64, or no verification_key_b64") }
      // Of another length it opens nothing, and what is no key has signed nothing.
      guard let decryption = Bytes32(decryption) else { continue }
      let point = P256Point(subjectPublicKeyInfo: spki.span) ?? nobodys
      keys.append(PlayKeys(decryption: decryption, verification: point))
    }
    return keys
  }

  /// Not on the curve.
  private static let nobodys: P256Point = {
    let x963 = [4] + [UInt8](repeating: 0, count: 64)
    guard let point = P256Point(x963: x963.span) else { fatalError("65 bytes that are no point's form") }
    return point
  }()

  private static func policy(_ fields: Fields) throws(VectorError) -> Policy {
    guard let text = try fields.text("nonce"),
      let nonce = Base64.decode(Array(text.utf8).span).flatMap({ Bytes32($0) })
    else { throw VectorError("policy.nonce is not base64 of 32 bytes") }
    guard let required = try fields.text("required_level").flatMap({ PlayLevel(rawValue: $0) }) else {
      throw VectorError("policy.required_level must be basic, device or strong")
    }
    let now = try milliseconds("now_ms", fields)
    let age = try milliseconds("max_age_ms", fields)
    return Policy(
      nonce: nonce, apps: try apps(fields), now: UnixTime(milliseconds: now),
      maximumAge: .milliseconds(age), required: required)
  }

  private static func milliseconds(_ name: String, _ fields: Fields) throws(VectorError) -> Int64 {
    guard let number = fields.object[name]?.integer, (0...Int64(1 << 53)).contains(number) else {
      throw VectorError("policy.\(name) is no number of milliseconds")
    }
    return number
  }

  private static func apps(_ fields: Fields) throws(VectorError) -> [AndroidApp] {
    guard let values = fields.object["apps"]?.array else { throw VectorError("policy.apps is not an array") }
    var apps: [AndroidApp] = []
    for value in values {
      let texts = value.object?["cert_digests"]?.array?.map { $0.string.flatMap { Bytes32(hex: $0) } }
      guard let package = value.object?["package"]?.string, let texts, !texts.contains(nil) else {
        throw VectorError("policy.apps is not of package and cert_digests")
      }
      apps.append(AndroidApp(verbatimPackage: package, digests: Set(texts.compactMap(\.self))))
    }
    return apps
  }
}

/// One case of a vector file: an attestation or assertion with all that its verification needs, as a JSON
/// object (the README beside the vectors says what each field means).
package import AppAttest
package import Bytes
internal import Crypto
internal import Identity
internal import JSON
package import Time

package struct VectorCase: Sendable {
  package enum Subject: Sendable {
    case attestation(Attestation)
    case assertion(Assertion)
  }

  package struct Attestation: Sendable {
    /// Nil when it is not base64 at all.
    package let object: [UInt8]?
    /// As the app would send it.
    package let keyID: String
    /// `apple`, or the name of a PEM file beside the vectors.
    package let root: String
    /// Nil: now.
    package let verifyAt: UnixTime?
  }

  package struct Assertion: Sendable {
    /// Nil when it is not base64 at all.
    package let object: [UInt8]?
    /// Nil when the bytes are no point on P-256.
    package let key: P256Point?
    package let previousCounter: UInt32
  }

  package let name: String
  package let subject: Subject
  /// 32 bytes, but for published samples that put a challenge itself there.
  package let clientDataHash: [UInt8]
  package let policy: AttestationPolicy
  package let expectation: Expectation?
}

package struct Expectation: Equatable, Sendable {
  package enum Result: String, Sendable {
    case accept
    case reject
    /// Both answers can be defended.
    case policy
  }

  package let result: Result
  /// The rules that a rejection may name; empty: any.
  package let checks: [String]
}

/// What a line of a vector file holds.
package enum VectorLine: Sendable {
  case verifiable(VectorCase)
  case message(MessageCase)
  case summary(SummaryCase)
  case play(PlayCase)
  case risk(RiskCase)
  case androidKey(AndroidKeyCase)
  case sweep(Sweep)
  /// A receipt, or a kind that this program does not know.
  case unsupported(name: String)
}

package struct VectorError: Error, Equatable, Sendable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) {
    self.description = description
  }
}

extension VectorLine {
  /// So deep that what is nested too deeply in a case is for its verifier to say; as deep as our reader goes.
  static let depthLimit = 63

  package init(parsing text: Span<UInt8>) throws(VectorError) {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: text, depthLimit: Self.depthLimit)
    } catch {
      throw VectorError("not JSON: \(error)")
    }
    guard let object = value.object else { throw VectorError("not a JSON object") }
    try self.init(object)
  }

  init(_ object: JSONObject) throws(VectorError) {
    let fields = Fields(object)
    let name = try fields.text("name") ?? "unnamed"
    switch object["kind"]?.string {
    case "attestation": self = .verifiable(try fields.makeCase(name, .attestation(try fields.attestation())))
    case "assertion": self = .verifiable(try fields.makeCase(name, .assertion(try fields.assertion())))
    case "message":
      self = .message(MessageCase(name: name, object: object, expectation: try fields.expectation()))
    case "summary": self = .summary(try SummaryCase(name: name, fields))
    case "play-integrity": self = .play(try PlayCase(name: name, fields))
    case "risk": self = .risk(try RiskCase(name: name, fields))
    case "android-key": self = .androidKey(try AndroidKeyCase(name: name, fields))
    case "sweep":
      // One whose base cannot be judged cannot be judged either.
      self = try Sweep(name: name, fields).map(Self.sweep) ?? .unsupported(name: name)
    default: self = .unsupported(name: name)
    }
  }
}

/// Members of the object, typed.
struct Fields {
  let object: JSONObject

  init(_ object: JSONObject) {
    self.object = object
  }

  func makeCase(_ name: String, _ subject: VectorCase.Subject) throws(VectorError) -> VectorCase {
    VectorCase(
      name: name, subject: subject, clientDataHash: try clientDataHash(), policy: try policy(),
      expectation: try expectation())
  }

  func attestation() throws(VectorError) -> VectorCase.Attestation {
    var time: UnixTime?
    if let text = try text("verify_at") {
      guard let parsed = UnixTime(timestamp: text) else {
        throw VectorError("verify_at is not an RFC 3339 time")
      }
      time = parsed
    }
    guard let object = try text("attestation_b64") else { throw VectorError("no attestation_b64") }
    return VectorCase.Attestation(
      object: Self.bytes(object), keyID: try text("key_id_b64") ?? "", root: try text("root") ?? "apple",
      verifyAt: time)
  }

  func assertion() throws(VectorError) -> VectorCase.Assertion {
    guard let object = try text("assertion_b64") else { throw VectorError("no assertion_b64") }
    guard let x963 = try base64("public_key_x963_b64") else { throw VectorError("no public_key_x963_b64") }
    var counter: UInt32 = 0
    if let value = self.object["previous_counter"] {
      guard let number = value.integer.flatMap({ UInt32(exactly: $0) }) else {
        throw VectorError("previous_counter is not a number of 32 bits")
      }
      counter = number
    }
    let key = P256Point(x963: x963.span).flatMap { P256Verifier().isOnCurve($0) ? $0 : nil }
    return VectorCase.Assertion(object: Self.bytes(object), key: key, previousCounter: counter)
  }

  private func clientDataHash() throws(VectorError) -> [UInt8] {
    if let hash = try base64("client_data_hash_b64") { return hash }
    let challenge = try base64("challenge_b64")
    let clientData = try base64("client_data_b64")
    guard let data = challenge ?? clientData else {
      throw VectorError("no client_data_hash_b64, challenge_b64 or client_data_b64")
    }
    return SHA256.hash(data.span).array
  }

  private func policy() throws(VectorError) -> AttestationPolicy {
    guard let teamID = try text("team_id"), let bundleID = try text("bundle_id") else {
      throw VectorError("no team_id or bundle_id")
    }
    // What is no app id is nobody's: nothing matches it.
    let apps = AppID(teamID: teamID, bundleID: bundleID).map { [$0] } ?? []
    return AttestationPolicy(apps: apps, environments: try environments(), launch: try launchPolicy())
  }

  private func environments() throws(VectorError) -> Set<AttestEnvironment> {
    let names: [JSONValue]
    switch object["environment"] {
    case nil: return [.production]
    case .string(let name)?: names = [.string(name)]
    case .array(let values)?: names = values
    default: throw VectorError("environment is neither a string nor an array")
    }
    var environments: Set<AttestEnvironment> = []
    for name in names {
      guard let environment = name.string.flatMap({ AttestEnvironment(rawValue: $0) }) else {
        throw VectorError("environment must be production or development")
      }
      environments.insert(environment)
    }
    return environments
  }

  private func launchPolicy() throws(VectorError) -> LaunchPolicy {
    guard let value = object["launch_policy"] else { return .any }
    guard let policy = value.object else { throw VectorError("launch_policy is not an object") }
    var categories: Set<UInt32>?
    if let values = policy["categories"] {
      let numbers = values.array?.map { $0.integer.flatMap { UInt32(exactly: $0) } }
      guard let numbers, !numbers.contains(nil) else {
        throw VectorError("launch_policy.categories is not of numbers")
      }
      categories = Set(numbers.compactMap(\.self))
    }
    var versions: [String]?
    if let values = policy["bundle_versions"] {
      let texts = values.array?.map(\.string)
      guard let texts, !texts.contains(nil) else {
        throw VectorError("launch_policy.bundle_versions is not of strings")
      }
      versions = texts.compactMap(\.self)
    }
    return LaunchPolicy(
      allowedCategories: categories, allowedBundleVersions: versions,
      requiresLaunchInformation: policy["require"]?.boolean ?? false)
  }

  func expectation() throws(VectorError) -> Expectation? {
    guard let value = object["expect"] else { return nil }
    guard let expect = value.object,
      let result = expect["result"]?.string.flatMap(Expectation.Result.init(rawValue:))
    else { throw VectorError("expect.result must be accept, reject or policy") }
    let also = expect["also"]?.array?.compactMap(\.string) ?? []
    return Expectation(result: result, checks: (expect["check"]?.string).map { [$0] + also } ?? [])
  }

  // MARK: Values

  /// Nil when it is not there.
  func text(_ name: String) throws(VectorError) -> String? {
    guard let value = object[name] else { return nil }
    guard let text = value.string else { throw VectorError("\(name) is not a string") }
    return text
  }

  func base64(_ name: String) throws(VectorError) -> [UInt8]? {
    guard let text = try text(name) else { return nil }
    guard let bytes = Self.bytes(text) else { throw VectorError("\(name) is not base64") }
    return bytes
  }

  private static func bytes(_ text: String) -> [UInt8]? { Base64.decode(Array(text.utf8).span) }
}

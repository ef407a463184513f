/// Play Integrity's tokens: nothing passes as it came that the harness has not made; and what it makes of any header,
/// contents or payload passes only within the rules, written down a second time. And the file of keys for them.
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import JSON
internal import PlayIntegrity
internal import System
internal import Time

enum PlayTokenHarness {
  static let nonce = SHA256.hash(Array("a nonce".utf8).span)
  static let certificate = SHA256.hash(Array("a certificate".utf8).span)
  static let now = UnixTime(milliseconds: 1_772_452_830_000)
  static let maximumAge: Int64 = 120_000
  static let package = "com.example.mud"

  /// The input is a payload when it begins with a brace, a file of keys when it begins with a bracket, what is inside an
  /// envelope when it has two dots, else a token.
  static func check(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    if bytes.first == UInt8(ascii: "[") { return try checkKeys(bytes) }
    if bytes.first == UInt8(ascii: "{") {
      return try verdict(sealed(signed(header: #"{"alg":"ES256"}"#, payload: bytes)), payload: bytes)
    }
    let dots = bytes.count { $0 == UInt8(ascii: ".") }
    return dots == 2 ? try checkContents(bytes) : try checkToken(bytes)
  }

  private static func checkKeys(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let keys: [PlayKeys]
    do throws(PlayKeysProblem) {
      keys = try PlayKeys.read(bytes.span)
    } catch {
      let isLine = error.description.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
      try require(isLine, "a problem of several lines")
      return .refused
    }
    try require((1...PlayKeys.limit).contains(keys.count), "too few keys, or too many")
    try require(Set(keys.map(\.decryption)).count == keys.count, "a key twice")
    let pairs = keys.map { pair in
      #"{"decryption_key":"\#(pair.decryption.base64)","#
        + #""verification_key":"\#(Base64.encode(pair.verification.subjectPublicKeyInfo.span))"}"#
    }
    guard let again = try? PlayKeys.read(Array("[\(pairs.joined(separator: ","))]".utf8).span) else {
      throw BrokenProperty("written out, they are no keys any more")
    }
    try require(
      again.map(\.decryption) == keys.map(\.decryption)
        && again.map(\.verification) == keys.map(\.verification), "others, once written out")
    return .accepted
  }

  private static func checkToken(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    switch verify(bytes, .device) {
    case .success: try require(isOurs(bytes), "a token that was not made here")
    case .failure(.authentication), .failure(.unwrap):
      // A header that is let through is let through before something good as well, and says what it has to.
      let header = bytes.prefix { $0 != UInt8(ascii: ".") }
      let again = sealed(good, header: Array(header))
      guard case .success = verify(again, .device) else {
        throw BrokenProperty("a header passes, and does not pass")
      }
      guard let decoded = Base64.decodeURL(Array(header).span),
        let object = (try? JSONValue(parsing: decoded.span, depthLimit: 8))?.object
      else { throw BrokenProperty("a header that is no object") }
      try require(object["alg"]?.string == "A256KW" && object["enc"]?.string == "A256GCM", "other algorithms")
      try require(object["zip"] == nil && object["crit"] == nil && object["b64"] == nil, "with more to it")
      return .refused
    case .failure: return .refused
    }
    return .accepted
  }

  private static func checkContents(_ bytes: [UInt8]) throws(BrokenProperty) -> Verdict {
    let token = sealed(bytes)
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map(Array.init)
    let middle = parts[1]
    let payload = Base64.decodeURL(middle.span)
    switch verify(token, .device) {
    case .success:
      for part in parts {
        let decoded = Base64.decodeURL(part.span)
        let again = decoded.map { Base64.encodeURL($0.span) }
        try require(again == String(decoding: part, as: UTF8.self), "another text")
      }
      guard let payload else { throw BrokenProperty("without a payload") }
      return try verdict(token, payload: payload)
    case .failure(.signature):
      // A fuzzer signs nothing: what it has made is signed as it stands, and judged once more.
      let input = parts[0] + [UInt8(ascii: ".")] + middle
      guard let payload else { throw BrokenProperty("a signature is wrong, and nothing is signed") }
      _ = try verdict(sealed(signed(input)), payload: payload)
      return .refused
    case .failure: return .refused
    }
  }

  // MARK: What has to hold

  private static func verdict(_ token: [UInt8], payload: [UInt8]) throws(BrokenProperty) -> Verdict {
    var previous: PlayVerdict?
    for level in PlayLevel.allCases.reversed() {
      guard case .success(let verdict) = verify(token, level) else {
        try require(previous == nil, "good for more, and not for less")
        continue
      }
      try require(verdict.level >= level && (previous ?? verdict) == verdict, "another level")
      previous = verdict
    }
    guard let verdict = previous else { return .refused }
    guard let object = (try? JSONValue(parsing: payload.span, depthLimit: 16))?.object,
      let request = object["requestDetails"]?.object, let app = object["appIntegrity"]?.object,
      let labels = object["deviceIntegrity"]?.object?["deviceRecognitionVerdict"]?.array
    else { throw BrokenProperty("without a part") }
    try require(verdict.package == package, "of another app")
    for name in [request["requestPackageName"], app["packageName"]] {
      try require(name == .string(package), "of another app's name")
    }
    try require(app["appRecognitionVerdict"] == .string("PLAY_RECOGNIZED"), "not recognised")
    try require(bytes32(request["nonce"]) == nonce, "over another nonce")
    let made = verdict.timestamp.milliseconds
    let said = request["timestampMillis"]
    try require(said?.integer == made || said?.string.flatMap { Int64($0) } == made, "of another time")
    try require(made <= now.milliseconds + 60_000 && made >= now.milliseconds - maximumAge, "not now")
    let digests = app["certificateSha256Digest"]?.array ?? []
    try require(!digests.isEmpty && digests.allSatisfy { bytes32($0) == certificate }, "signed by another")
    try require(labels.contains(.string(verdict.level.label)), "of a level that is not said")
    return .accepted
  }

  /// Base64 as an obvious reader has it: signs of the other alphabet changed, padding taken away.
  private static func bytes32(_ value: JSONValue?) -> Bytes32? {
    guard let text = value?.string else { return nil }
    let plain = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    return Base64.decodeURL(Array(plain.utf8).span).flatMap { Bytes32($0) }
  }

  private static func verify(_ token: [UInt8], _ required: PlayLevel) -> Result<PlayVerdict, PlayRejection> {
    do throws(PlayRejection) {
      return .success(
        try PlayVerifier().verify(
          token.span, nonce: nonce, keys: [keys], apps: apps, now: now,
          maximumAge: .milliseconds(maximumAge), required: required))
    } catch {
      return .failure(error)
    }
  }

  // MARK: What is made

  private final class Maker: Sendable {
    let signing: SigningKey
    let keys: PlayKeys

    init(_ scalar: PrivateKeyText) throws(IssuingError) {
      signing = try SigningKey.p256(scalar: scalar)
      keys = PlayKeys(decryption: Bytes32(.init(repeating: 0x5A)), verification: try signing.point())
    }
  }

  /// The same in each run.
  private static let maker: Maker = {
    do throws(IssuingError) {
      let scalar = [UInt8](repeating: 7, count: 32)
      return try Maker(PrivateKeyText(copying: scalar.span))
    } catch {
      fatalError("no key: \(error)")
    }
  }()
  private static var keys: PlayKeys { maker.keys }
  private static let contentKey = Bytes32(.init(repeating: 0xC4))
  private static let vector = [UInt8](repeating: 0x17, count: 12)
  private static let apps = [
    AndroidApp(package: package, digests: [certificate]),
    AndroidApp(package: "com.example.other", digests: [Bytes32()]),
  ].compactMap(\.self)

  static let goodPayload = """
    {"requestDetails":{"requestPackageName":"com.example.mud","timestampMillis":"1772452800000",\
    "nonce":"\(Base64.encodeURL(nonce.array.span))"},"appIntegrity":{"packageName":"com.example.mud",\
    "appRecognitionVerdict":"PLAY_RECOGNIZED","versionCode":"42",\
    "certificateSha256Digest":["\(Base64.encodeURL(certificate.array.span))"]},\
    "deviceIntegrity":{"deviceRecognitionVerdict":["MEETS_BASIC_INTEGRITY","MEETS_DEVICE_INTEGRITY"]},\
    "accountDetails":{"appLicensingVerdict":"LICENSED"}}
    """
  static let goodHeader = #"{"alg":"A256KW","enc":"A256GCM"}"#
  private static let good = signed(header: #"{"alg":"ES256"}"#, payload: Array(goodPayload.utf8))

  static func signed(header: String, payload: [UInt8]) -> [UInt8] {
    signed(base64(Array(header.utf8)) + [UInt8(ascii: ".")] + base64(payload))
  }

  private static func signed(_ input: [UInt8]) -> [UInt8] {
    do throws(IssuingError) {
      return input + [UInt8(ascii: ".")] + base64(try maker.signing.signES256(input).bytes)
    } catch {
      fatalError("no signature: \(error)")
    }
  }

  /// - Parameter header: in base64url, or what is in its place.
  static func sealed(_ contents: [UInt8], header: [UInt8] = base64(Array(goodHeader.utf8))) -> [UInt8] {
    let sealed = AES256GCM.seal(
      contents.span, nonce: vector.span, additionalData: header.span, key: contentKey)
    let wrapped = AES256KeyWrap.wrap(contentKey, under: keys.decryption)
    return [wrapped, vector, sealed.ciphertext, sealed.tag].reduce(header) { token, part in
      token + [UInt8(ascii: ".")] + base64(part)
    }
  }

  static func base64(_ bytes: [UInt8]) -> [UInt8] { Array(Base64.encodeURL(bytes.span).utf8) }

  /// Whether a token that passes is one of the seeds, or one of those with another signature: what is inside was signed
  /// by the harness's key, which no fuzzer has.
  private static func isOurs(_ token: [UInt8]) -> Bool {
    guard let payload = try? PlayVerifier().open(token.span, keys: [keys]) else { return false }
    var writer = JSONWriter()
    writer.value(.object(payload.object))
    return writer.string == goodPayload
  }
}

/// Plays Google's part in a classic request to Play Integrity for tests: tokens that say of an app and its phone whatever
/// is wanted, signed and encrypted with keys of its own (docs/android.md, "Play Integrity").
package import Bytes
package import Crypto
package import Dialing
internal import JSON
internal import System
package import Time

package final class TestPlayService: Sendable {
  /// What Google finds out about a phone, as a label of `deviceRecognitionVerdict`; each implies those before it.
  package enum Integrity: String, CaseIterable, Sendable {
    /// No label: a rooted phone, or an emulator.
    case none, basic, device, strong

    var labels: [String] {
      let all = ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY", "MEETS_STRONG_INTEGRITY"]
      return switch self {
      case .none: []
      case .basic: Array(all.prefix(1))
      case .device: Array(all.prefix(2))
      case .strong: all
      }
    }
  }

  /// What a token says.
  package struct Claims: Equatable, Sendable {
    package var package: String
    /// SHA-256 of the certificates that the app is signed with.
    package var signers: [Bytes32]
    /// Of the request, which the app has from the gate.
    package var nonce: Bytes32
    package var integrity = Integrity.device
    package var recognition = "PLAY_RECOGNIZED"
    package var time: UnixTime

    package init(package: String, signers: [Bytes32], nonce: Bytes32, time: UnixTime) {
      self.package = package
      self.signers = signers
      self.nonce = nonce
      self.time = time
    }
  }

  private let signingKey: SigningKey
  /// Which the Play Console shows to the app's owner.
  private let decryptionKey: Bytes32

  private init(_ signingKey: consuming SigningKey, decryptionKey: Bytes32) {
    self.signingKey = signingKey
    self.decryptionKey = decryptionKey
  }

  package static func create(entropy: some Entropy = KernelEntropy()) throws(IssuingError) -> TestPlayService
  {
    TestPlayService(try .generate(.p256), decryptionKey: newKey(entropy))
  }

  /// A JWE around a JWS, both in their compact form (RFC 7516 §7.1, RFC 7515 §7.1).
  package func token(
    _ claims: Claims, entropy: some Entropy = KernelEntropy()
  ) throws(IssuingError) -> String {
    let signed = "\(Self.encode(Self.json(["alg": "ES256"]))).\(Self.encode(Self.payload(claims)))"
    let signature = try signingKey.signES256(Array(signed.utf8))
    let head = Self.encode(Self.json(["alg": "A256KW", "enc": "A256GCM"]))
    let contentKey = Self.newKey(entropy)
    let vector = entropy.bytes(12)
    let contents = Array("\(signed).\(Self.encode(signature.bytes))".utf8)
    let sealed = AES256GCM.seal(
      contents.span, nonce: vector.span, additionalData: Array(head.utf8).span, key: contentKey)
    let wrapped = AES256KeyWrap.wrap(contentKey, under: decryptionKey)
    let parts = [wrapped, vector, sealed.ciphertext, sealed.tag]
    return ([head] + parts.map(Self.encode)).joined(separator: ".")
  }

  private static func newKey(_ entropy: some Entropy) -> Bytes32 {
    guard let key = Bytes32(entropy.bytes(32)) else { fatalError("a key of another length") }
    return key
  }

  private static func payload(_ claims: Claims) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("requestDetails")
    writer.beginObject()
    writer.name("requestPackageName")
    writer.value(claims.package)
    writer.name("nonce")
    writer.value(encode(claims.nonce.array))
    writer.name("timestampMillis")
    writer.value("\(claims.time.milliseconds)")
    writer.endObject()
    writer.name("appIntegrity")
    writer.beginObject()
    writer.name("appRecognitionVerdict")
    writer.value(claims.recognition)
    writer.name("packageName")
    writer.value(claims.package)
    writer.name("certificateSha256Digest")
    list(claims.signers.map { encode($0.array) }, in: &writer)
    writer.name("versionCode")
    writer.value("1")
    writer.endObject()
    writer.name("deviceIntegrity")
    writer.beginObject()
    writer.name("deviceRecognitionVerdict")
    list(claims.integrity.labels, in: &writer)
    writer.endObject()
    writer.name("accountDetails")
    writer.beginObject()
    writer.name("appLicensingVerdict")
    writer.value("LICENSED")
    writer.endObject()
    writer.endObject()
    return writer.bytes
  }

  private static func list(_ texts: [String], in writer: inout JSONWriter) {
    writer.beginArray()
    for text in texts { writer.value(text) }
    writer.endArray()
  }

  private static func json(_ members: KeyValuePairs<String, String>) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    for (name, value) in members {
      writer.name(name)
      writer.value(value)
    }
    writer.endObject()
    return writer.bytes
  }

  private static func encode(_ bytes: [UInt8]) -> String { Base64.encodeURL(bytes.span) }
  private static func standard(_ bytes: [UInt8]) -> String { Base64.encode(bytes.span) }
}

extension TestPlayService {
  /// The service's files in a folder; `keys` is what `PLAY_INTEGRITY_KEYS_PATH` names.
  package enum FileName {
    package static let keys = "play-integrity-keys.json"
    package static let signingKey = "play-signing-key.pem"
  }

  package static func load(from folder: String) throws(DeviceError) -> TestPlayService {
    let key = try PEMFile.key("\(folder)/\(FileName.signingKey)")
    let path = "\(folder)/\(FileName.keys)"
    let text = try PEMFile.read(path)
    let pairs = (try? JSONValue(parsing: text.span, depthLimit: 3))?.array
    guard let encoded = pairs?.first?.object?["decryption_key"]?.string,
      let decryptionKey = Base64.decode(Array(encoded.utf8).span).flatMap({ Bytes32($0) })
    else { throw .unusable(path: path, reason: "its first decryption_key is not 32 bytes in base64") }
    return TestPlayService(key, decryptionKey: decryptionKey)
  }

  /// What `load` reads.
  package func files() throws(IssuingError) -> [DevelopmentFile] {
    let verificationKey = try signingKey.subjectPublicKeyInfo()
    var pairs = JSONWriter()
    pairs.beginArray()
    pairs.beginObject()
    pairs.name("decryption_key")
    pairs.value(decryptionKey.base64)
    pairs.name("verification_key")
    pairs.value(Self.standard(verificationKey))
    // A gate in production refuses it.
    pairs.name("development")
    pairs.value(true)
    pairs.endObject()
    pairs.endArray()
    return [
      DevelopmentFile(FileName.keys, pairs.bytes + Array("\n".utf8), isSecret: true),
      DevelopmentFile(FileName.signingKey, try signingKey.pem(), isSecret: true),
    ]
  }
}

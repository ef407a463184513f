/// A valid attestation under a root of its own, each part open to be broken before it is signed.
@testable import AppAttest
@testable import Bytes
@testable import CBOR
@testable import Crypto
import Identity
import TestPKI
import Time
@testable import System
@testable import X509

/// The one that can write what DER forbids; Crypto has another.
typealias DERWriter = TestPKI.DERWriter

struct AttestationBuilder {
  static let rootKey = TestKey.p384()
  static let intermediateKey = TestKey.p384()
  static let deviceKey = TestKey.p256()
  static let otherKey = TestKey.p384()
  static let clientDataHash = SHA256.hash(Array("a nonce".utf8).span)
  static let now = UnixTime(milliseconds: 1_790_000_000_000)  // 2026-09-21T14:13:20Z

  static let app: AppID = {
    guard let app = AppID("ABCDE12345.com.example.mud") else { fatalError("not an app id") }
    return app
  }()
  static let policy = AttestationPolicy(apps: [app])

  static let rootCertificate: [UInt8] = {
    var root = TestCertificate(
      issuer: DERWriter.name("Test Root"), subject: DERWriter.name("Test Root"),
      key: rootKey.subjectPublicKeyInfo,
      extensions: [])
    root.set(ObjectIdentifiers.basicConstraints, critical: DERWriter.true, DERWriter.sequence(DERWriter.true))
    root.set(ObjectIdentifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x01, 0x06])
    return root.encoded(signedBy: rootKey)
  }()

  static func verifier() -> AttestationVerifier {
    do {
      return AttestationVerifier(root: try AttestationRoot(der: rootCertificate.span))
    } catch {
      fatalError("test root: \(error)")
    }
  }

  var leaf: TestCertificate
  var leafKey = Self.deviceKey
  var leafSigner = Self.intermediateKey
  var intermediate: TestCertificate
  var intermediateSigner = Self.rootKey
  /// Nil: leaf and intermediate.
  var certificates: [[UInt8]]?
  var format = "apple-appattest"
  var receipt = Array("receipt".utf8)

  var rpIDHash = Self.app.rpIDHash
  var flags: UInt8 = 0x40
  var signCount: UInt32 = 0
  var aaguid = AttestEnvironment.production.aaguid
  var credentialIDLength: [UInt8] = [0x00, 0x20]
  var credentialID = Self.keyID.digest.array
  var coseKey = CredentialData.coseKey(Self.deviceKey.p256Point)
  var extensions: [UInt8] = []
  /// From authenticator data to the value of the nonce extension; nil: as it should be.
  var nonceExtension: ([UInt8]) -> [UInt8] = { data in
    [0x30, 0x24, 0xA1, 0x22, 0x04, 0x20] + SHA256.hash(data.span, Self.clientDataHash).array
  }
  var breakObject: ([UInt8]) -> [UInt8] = { $0 }

  static let keyID = KeyIdentifier(SHA256.hash(deviceKey.point.span))

  init() {
    intermediate = TestCertificate(
      algorithm: TestCertificate.ecdsaWithSHA384, issuer: DERWriter.name("Test Root"),
      subject: DERWriter.name("Test Intermediate"), key: Self.intermediateKey.subjectPublicKeyInfo,
      extensions: [],
      isSignedWithSHA384: true)
    intermediate.set(
      ObjectIdentifiers.basicConstraints, critical: DERWriter.true,
      DERWriter.sequence(DERWriter.true, DERWriter.integer([0])))
    intermediate.set(ObjectIdentifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x01, 0x06])

    leaf = TestCertificate(
      issuer: DERWriter.name("Test Intermediate"), subject: DERWriter.name("device"),
      key: Self.deviceKey.subjectPublicKeyInfo, extensions: [])
    leaf.set(ObjectIdentifiers.basicConstraints, critical: DERWriter.true, DERWriter.sequence())
    leaf.set(ObjectIdentifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x04, 0xF0])
    leaf.set(AppleIdentifiers.keyOwner, Self.keyOwner(Self.app.description))
  }

  static func keyOwner(_ appID: String) -> [UInt8] {
    DERWriter.sequence(
      [0xA4, 0x03, 0x02, 0x01, 0x0A],
      DERWriter.element([0xBF, 0x89, 0x34], DERWriter.octetString(Array(appID.utf8))))
  }

  var authenticatorData: [UInt8] {
    let count = (0..<4).map { UInt8(truncatingIfNeeded: signCount >> UInt32(24 - $0 * 8)) }
    return rpIDHash.array + [flags] + count + aaguid + credentialIDLength + credentialID + coseKey
      + extensions
  }

  func build() -> [UInt8] {
    let data = authenticatorData
    var leaf = leaf
    let nonce = nonceExtension(data)
    if !nonce.isEmpty { leaf.set(AppleIdentifiers.nonce, nonce) }
    let chain =
      certificates ?? [
        leaf.encoded(signedBy: leafSigner), intermediate.encoded(signedBy: intermediateSigner),
      ]

    var object = CBOREncoder()
    object.beginMap(pairs: 3)
    object.append(text: "fmt")
    object.append(text: format)
    object.append(text: "attStmt")
    object.beginMap(pairs: 2)
    object.append(text: "x5c")
    object.beginArray(count: chain.count)
    for certificate in chain { object.append(bytes: certificate) }
    object.append(text: "receipt")
    object.append(bytes: receipt)
    object.append(text: "authData")
    object.append(bytes: data)
    return breakObject(object.bytes)
  }

  /// The error, or nil when it is accepted.
  func error(
    at time: UnixTime = Self.now, policy: AttestationPolicy = Self.policy,
    verifier: AttestationVerifier = Self.verifier()
  ) -> AttestationError? {
    let object = build()
    do throws(AttestationError) {
      _ = try verifier.verify(
        object.span, keyID: Self.keyID, clientDataHash: Self.clientDataHash, at: time, policy: policy)
      return nil
    } catch {
      return error
    }
  }
}

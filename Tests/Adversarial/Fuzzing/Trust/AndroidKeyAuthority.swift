/// A root, a phone's attestation key and a key that is attested, of the fuzzer's own: fixed as those of `TestAuthority`, and
/// all on P-256, which is the fastest.
@testable internal import AndroidKey
internal import Bytes
internal import Crypto
internal import DeviceWire
internal import System

final class AndroidKeyAuthority: Sendable {
  static let shared = AndroidKeyAuthority()

  static let challenge = SHA256.hash(Array("a challenge".utf8).span)
  static let package = "com.example.mud"
  static let digest = SHA256.hash(Array("a signer".utf8).span)

  let policy: AndroidKeyPolicy
  /// What a leaf is followed by.
  let above: [[UInt8]]
  let point: P256Point
  private let attestationKey: SigningKey
  private let key: SigningKey

  private init() {
    do {
      let rootKey = try TestAuthority.key("android root", .p256)
      attestationKey = try TestAuthority.key("android attestation", .p256)
      key = try TestAuthority.key("android device", .p256)
      let rootName = DistinguishedName((.commonName, "Fuzzing Android Root"))
      let root = try Self.authority(rootName, issuer: rootName, rootKey, signedBy: rootKey)
      let attestation = try Self.authority(
        Self.attestationName, issuer: rootName, attestationKey, signedBy: rootKey)
      above = [attestation, root]
      let bytes = try key.publicPoint()
      let spki = try rootKey.subjectPublicKeyInfo()
      guard let point = P256Point(x963: bytes.span) else { fatalError("AndroidKeyAuthority: no point") }
      self.point = point
      policy = AndroidKeyPolicy(
        roots: [SHA256.hash(spki.span)],
        apps: [AndroidApp(package: Self.package, digests: [Self.digest])].compactMap(\.self),
        now: UnixSeconds(TestAuthority.now), revocation: .empty, revocationAge: 0)
    } catch {
      fatalError("AndroidKeyAuthority: \(error)")
    }
  }

  func sign(_ message: [UInt8]) -> [UInt8] {
    do {
      return try attestationKey.sign(message, .sha256)
    } catch {
      fatalError("AndroidKeyAuthority: \(error)")
    }
  }

  /// The device key's certificate with this description.
  func leaf(_ description: [UInt8]) -> [UInt8] {
    var builder = CertificateBuilder(
      subject: DistinguishedName((.commonName, "key")), issuer: Self.attestationName,
      notBefore: TestAuthority.day(-1), notAfter: TestAuthority.day(1),
      extensions: [CertificateExtension([1, 3, 6, 1, 4, 1, 11129, 2, 1, 17], description)],
      entropy: FixedEntropy())
    builder.serialNumber = [1]
    do {
      return try builder.sign(subjectPublicKeyInfo: key.subjectPublicKeyInfo(), with: attestationKey).der
    } catch {
      fatalError("AndroidKeyAuthority: \(error)")
    }
  }

  private static let attestationName = DistinguishedName((.commonName, "Fuzzing Attestation Key"))

  private static func authority(
    _ subject: DistinguishedName, issuer: DistinguishedName, _ key: borrowing SigningKey,
    signedBy issuerKey: borrowing SigningKey
  ) throws(IssuingError) -> [UInt8] {
    let builder = CertificateBuilder(
      subject: subject, issuer: issuer, notBefore: TestAuthority.day(-300),
      notAfter: TestAuthority.day(300),
      extensions: [.basicConstraints(authority: true), .keyUsage(.keyCertSign)], entropy: FixedEntropy())
    return try builder.sign(subjectPublicKeyInfo: key.subjectPublicKeyInfo(), with: issuerKey).der
  }
}

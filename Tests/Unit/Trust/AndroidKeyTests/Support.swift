/// A phone whose key is attested by an authority of the tests, good unless something is broken on purpose.
import Bytes
import Crypto
import Device
import DeviceWire
import Time
import X509

@testable import AndroidKey

struct AttestedPhone {
  let authority: TestAndroidAuthority
  let key: SigningKeyBox
  var description: TestKeyDescription
  var isStrongBox = false
  var policy: AndroidKeyPolicy
  let challenge = Bytes32((0..<32).map { UInt8($0) }) ?? Bytes32()

  static let package = "org.example.game"
  static let digest = Bytes32([UInt8](repeating: 0xD1, count: 32)) ?? Bytes32()
  static let now = UnixTime(milliseconds: 1_767_225_600_000)

  init(isStrongBox: Bool = false, verifiesUser: Bool = false) throws {
    authority = try TestAndroidAuthority.create(now: Self.now)
    key = SigningKeyBox(try SigningKey.generate(.p256))
    description = TestKeyDescription(
      challenge: challenge.array, package: Self.package, digests: [Self.digest], isStrongBox: isStrongBox,
      verifiesUser: verifiesUser)
    self.isStrongBox = isStrongBox
    policy = AndroidKeyPolicy(
      roots: [try authority.rootHash()],
      apps: [AndroidApp(package: Self.package, digests: [Self.digest])].compactMap(\.self),
      now: UnixSeconds(Self.now), revocation: .empty, revocationAge: 0)
  }

  func chain() throws -> [[UInt8]] {
    try authority.certify(
      subjectPublicKeyInfo: key.key.subjectPublicKeyInfo(), description, isStrongBox: isStrongBox,
      now: Self.now)
  }

  func verify(_ chain: [[UInt8]]? = nil) throws -> AndroidKeyVerdict {
    let chain = try chain ?? self.chain()
    return try AndroidKeyVerifier().verify(
      chain: chain, challenge: challenge, key: key.key.point(), policy: policy)
  }

  /// The word of the broken rule; nil when all is well.
  func rejection(_ chain: [[UInt8]]? = nil) throws -> AndroidKeyRejection? {
    do {
      _ = try verify(chain)
      return nil
    } catch let error as AndroidKeyRejection {
      return error
    }
  }
}

/// A root, an attestation key's certificate between two, and leaves that are put together by hand.
struct HandmadeAuthority {
  var phone: AttestedPhone
  private let key: SigningKeyBox
  private let above: [[UInt8]]

  /// - Parameters:
  ///   - rootSerial: a number of the sender's, as the root is pinned by its key.
  ///   - extensions: of the certificate above the device's own, or in its place.
  init(
    rootSerial: [UInt8] = [1],
    extensions: [CertificateExtension] = [.basicConstraints(authority: true), .keyUsage(.keyCertSign)]
  ) throws {
    phone = try AttestedPhone()
    let rootKey = try SigningKey.generate(.p256)
    key = SigningKeyBox(try SigningKey.generate(.p256))
    func name(_ text: String) -> DistinguishedName { DistinguishedName((.commonName, text)) }
    func certify(_ subject: String, _ key: borrowing SigningKey) throws -> [UInt8] {
      var builder = CertificateBuilder(
        subject: name(subject), issuer: name("root"), notBefore: AttestedPhone.now.adding(days: -1),
        notAfter: AttestedPhone.now.adding(days: 1),
        extensions: subject == "root" ? [.basicConstraints(authority: true)] : extensions)
      if subject == "root" { builder.serialNumber = rootSerial }
      return try builder.sign(subjectPublicKeyInfo: key.subjectPublicKeyInfo(), with: rootKey).der
    }
    above = [try certify("attestation", key.key), try certify("root", rootKey)]
    let spki = try rootKey.subjectPublicKeyInfo()
    phone.policy.roots = [SHA256.hash(spki.span)]
  }

  /// The phone's key, certified by one that the attestation key has certified.
  /// - Parameter extensions: of the certificate between the two.
  func chain(through extensions: [CertificateExtension]) throws -> [[UInt8]] {
    func builder(_ subject: String, by issuer: String, _ extensions: [CertificateExtension])
      -> CertificateBuilder
    {
      CertificateBuilder(
        subject: DistinguishedName((.commonName, subject)), issuer: DistinguishedName((.commonName, issuer)),
        notBefore: AttestedPhone.now.adding(days: -1), notAfter: AttestedPhone.now.adding(days: 1),
        extensions: extensions)
    }
    let middleKey = try SigningKey.generate(.p256)
    let middle = try builder("machine", by: "attestation", extensions)
      .sign(subjectPublicKeyInfo: middleKey.subjectPublicKeyInfo(), with: key.key)
    let description = CertificateExtension([1, 3, 6, 1, 4, 1, 11129, 2, 1, 17], phone.description.der)
    let leaf = try builder("key", by: "machine", [description])
      .sign(subjectPublicKeyInfo: phone.key.key.subjectPublicKeyInfo(), with: middleKey)
    return [leaf.der, middle.der] + above
  }

  /// - Parameters:
  ///   - extensions: of the leaf, beside its description.
  ///   - rewrite: changes what is signed, in place.
  func chain(
    extensions: [CertificateExtension], rewritten rewrite: (inout [UInt8]) -> Void
  ) throws -> [[UInt8]] {
    let builder = CertificateBuilder(
      subject: DistinguishedName((.commonName, "key")),
      issuer: DistinguishedName((.commonName, "attestation")), notBefore: AttestedPhone.now,
      notAfter: AttestedPhone.now.adding(days: 1),
      extensions: [CertificateExtension([1, 3, 6, 1, 4, 1, 11129, 2, 1, 17], phone.description.der)]
        + extensions)
    let issued = try builder.sign(subjectPublicKeyInfo: phone.key.key.subjectPublicKeyInfo(), with: key.key)
    let parsed = try ChainCertificate(issued.der, place: 0).parsed
    var body = Array(issued.der[parsed.toBeSigned])
    let count = body.count
    rewrite(&body)
    precondition(body.count == count, "the lengths around it would be others")
    let algorithm = Array(issued.der[parsed.signatureAlgorithmIdentifier])
    return [DERWriter.sequence(body, algorithm, DERWriter.bitString(try key.key.sign(body, .sha256)))] + above
  }

  /// - Parameter afterKey: elements between the key and the extensions.
  func chain(serial: [UInt8], afterKey: [UInt8] = []) throws -> [[UInt8]] {
    var builder = CertificateBuilder(
      subject: DistinguishedName((.commonName, "key")),
      issuer: DistinguishedName((.commonName, "attestation")), notBefore: AttestedPhone.now,
      notAfter: AttestedPhone.now.adding(days: 1),
      extensions: [CertificateExtension([1, 3, 6, 1, 4, 1, 11129, 2, 1, 17], phone.description.der)])
    builder.serialNumber = serial
    let issued = try builder.sign(subjectPublicKeyInfo: phone.key.key.subjectPublicKeyInfo(), with: key.key)
    let parsed = try ChainCertificate(issued.der, place: 0).parsed
    var body = DERReader(issued.der.span, in: parsed.toBeSigned)
    let content = try body.next(.sequence).content
    let place = parsed.subjectPublicKeyInfo.upperBound
    let algorithm = Array(issued.der[parsed.signatureAlgorithmIdentifier])
    let odd = DERWriter.sequence(
      Array(issued.der[content.lowerBound..<place]) + afterKey + issued.der[place..<content.upperBound])
    let leaf = DERWriter.sequence(odd, algorithm, DERWriter.bitString(try key.key.sign(odd, .sha256)))
    return [leaf] + above
  }

  func verdict(serial: [UInt8], afterKey: [UInt8] = []) throws -> AndroidKeyVerdict {
    try phone.verify(chain(serial: serial, afterKey: afterKey))
  }

  func rejection(serial: [UInt8], afterKey: [UInt8] = []) throws -> AndroidKeyRejection? {
    try phone.rejection(chain(serial: serial, afterKey: afterKey))
  }
}

/// A key that can be copied about.
final class SigningKeyBox: Sendable {
  let key: SigningKey

  init(_ key: consuming SigningKey) {
    self.key = key
  }
}

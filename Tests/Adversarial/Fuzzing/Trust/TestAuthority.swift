/// A root, an intermediate and a device of the fuzzer's own: keys, names and time are fixed, so that a seed
/// is signed once and stays good.
///
/// The private keys are hashes of their names. They sign nothing outside of here.
@testable internal import AppAttest
internal import Bytes
internal import CBOR
internal import Crypto
internal import Identity
internal import System
internal import Time

final class TestAuthority: Sendable {
  static let shared = TestAuthority()

  static let now = UnixTime(milliseconds: 1_790_000_000_000)  // 2026-09-21T14:13:20Z
  static let clientDataHash = SHA256.hash(Array("a nonce".utf8).span)
  static let app: AppID = {
    guard let app = AppID("ABCDE12345.com.example.mud") else { fatalError("not an app id") }
    return app
  }()
  static let policy = AttestationPolicy(apps: [app])

  let root: AttestationRoot
  let intermediate: [UInt8]
  let devicePoint: P256Point
  let deviceKeyID: KeyIdentifier
  private let rootKey: SigningKey
  private let intermediateKey: SigningKey
  private let deviceKey: SigningKey

  enum Signer { case root, intermediate, device }

  private init() {
    do {
      rootKey = try Self.key("root", .p384)
      intermediateKey = try Self.key("intermediate", .p384)
      deviceKey = try Self.key("device", .p256)
      let rootName = DistinguishedName((.commonName, "Fuzzing Root"))
      let certificate = try Self.authority(
        rootName, issuer: rootName, pathLength: nil, rootKey, signedBy: rootKey)
      root = try AttestationRoot(der: certificate.span)
      intermediate = try Self.authority(
        Self.intermediateName, issuer: rootName, pathLength: 0, intermediateKey, signedBy: rootKey)
      let bytes = try deviceKey.publicPoint()
      guard let point = P256Point(x963: bytes.span) else { fatalError("TestAuthority: no point") }
      devicePoint = point
      deviceKeyID = KeyIdentifier(SHA256.hash(bytes.span))
    } catch {
      fatalError("TestAuthority: \(error)")
    }
  }

  func sign(_ message: [UInt8], by signer: Signer) -> [UInt8] {
    do {
      return switch signer {
      case .root: try rootKey.sign(message, .sha384)
      case .intermediate: try intermediateKey.sign(message, .sha256)
      case .device: try deviceKey.sign(message, .sha256)
      }
    } catch {
      fatalError("TestAuthority: \(error)")
    }
  }

  // MARK: What a device says

  enum Launch: CaseIterable {
    case unsaid, said

    var extensions: [UInt8] {
      guard self == .said else { return [] }
      var encoder = CBOREncoder()
      encoder.beginMap(pairs: 2)
      encoder.append(text: "apple_bundle_version_01")
      encoder.append(text: "1.0")
      encoder.append(text: "apple_validation_category_01")
      encoder.append(bytes: [4, 0, 0, 0])
      return encoder.bytes
    }
  }

  func attestedData(_ launch: Launch) -> [UInt8] {
    head(launch, signCount: 0) + Array("appattest".utf8) + [UInt8](repeating: 0, count: 7) + [0x00, 0x20]
      + deviceKeyID.digest.array + CredentialData.coseKey(devicePoint) + launch.extensions
  }

  func assertedData(_ launch: Launch, signCount: UInt8) -> [UInt8] {
    head(launch, signCount: signCount) + launch.extensions
  }

  private func head(_ launch: Launch, signCount: UInt8) -> [UInt8] {
    Self.app.rpIDHash.array + [launch == .said ? 0xC0 : 0x40, 0, 0, 0, signCount]
  }

  func assertion(_ data: [UInt8], clientDataHash: Bytes32 = TestAuthority.clientDataHash) -> [UInt8] {
    let nonce = SHA256.hash(data.span, clientDataHash)
    var encoder = CBOREncoder()
    encoder.beginMap(pairs: 2)
    encoder.append(text: "signature")
    encoder.append(bytes: sign(nonce.array, by: .device))
    encoder.append(text: "authenticatorData")
    encoder.append(bytes: data)
    return encoder.bytes
  }

  /// `receipt` is opaque: any bytes.
  static func attestation(
    leaf: [UInt8], intermediate: [UInt8], receipt: [UInt8], data: [UInt8]
  ) -> [UInt8] {
    var encoder = CBOREncoder()
    encoder.beginMap(pairs: 3)
    encoder.append(text: "fmt")
    encoder.append(text: "apple-appattest")
    encoder.append(text: "attStmt")
    encoder.beginMap(pairs: 2)
    encoder.append(text: "x5c")
    encoder.beginArray(count: 2)
    encoder.append(bytes: leaf)
    encoder.append(bytes: intermediate)
    encoder.append(text: "receipt")
    encoder.append(bytes: receipt)
    encoder.append(text: "authData")
    encoder.append(bytes: data)
    return encoder.bytes
  }

  // MARK: Certificates

  func leaf(for data: [UInt8]) -> [UInt8] {
    let owner = DERWriter.sequence(
      DERWriter.explicit(4, DERWriter.integer(10)),
      DERWriter.explicit(1204, DERWriter.octetString(Array(Self.app.description.utf8))))
    let nonce = SHA256.hash(data.span, Self.clientDataHash).array
    let builder = CertificateBuilder(
      subject: DistinguishedName((.commonName, "device")), issuer: Self.intermediateName,
      notBefore: Self.day(-30), notAfter: Self.day(30),
      extensions: [
        .basicConstraints(authority: false), .keyUsage(.digitalSignature),
        CertificateExtension([1, 2, 840, 113635, 100, 8, 5], owner),
        CertificateExtension(
          [1, 2, 840, 113635, 100, 8, 2],
          DERWriter.sequence(DERWriter.explicit(1, DERWriter.octetString(nonce)))),
      ],
      entropy: FixedEntropy())
    do {
      return try builder.sign(subjectPublicKeyInfo: deviceKey.subjectPublicKeyInfo(), with: intermediateKey)
        .der
    } catch {
      fatalError("TestAuthority: \(error)")
    }
  }

  private static func authority(
    _ subject: DistinguishedName, issuer: DistinguishedName, pathLength: UInt32?,
    _ key: borrowing SigningKey, signedBy issuerKey: borrowing SigningKey
  ) throws(IssuingError) -> [UInt8] {
    var builder = CertificateBuilder(
      subject: subject, issuer: issuer, notBefore: day(-300), notAfter: day(300),
      extensions: [
        .basicConstraints(authority: true, pathLength: pathLength), .keyUsage(.keyCertSign, .crlSign),
      ],
      entropy: FixedEntropy())
    builder.digest = .sha384
    return try builder.sign(subjectPublicKeyInfo: key.subjectPublicKeyInfo(), with: issuerKey).der
  }

  private static let intermediateName = DistinguishedName((.commonName, "Fuzzing Intermediate"))

  static func day(_ number: Int64) -> UnixTime {
    UnixTime(milliseconds: now.milliseconds + number * 86_400_000)
  }

  /// The hash of the name is the private number; PKCS#8 (RFC 5958) around RFC 5915 takes it to OpenSSL.
  static func key(_ name: String, _ curve: SigningKey.Curve) throws(IssuingError) -> SigningKey {
    let first = SHA256.hash(Array("portcullis fuzzing \(name)".utf8).span).array
    let second = SHA256.hash(first.span).array
    let (number, arcs): ([UInt8], [UInt32]) =
      switch curve {
      case .p256: (first, [1, 2, 840, 10045, 3, 1, 7])
      case .p384: (first + second.prefix(16), [1, 3, 132, 0, 34])
      }
    let privateKey = DERWriter.sequence(DERWriter.integer(1), DERWriter.octetString(number))
    let information = DERWriter.sequence(
      DERWriter.integer(0),
      DERWriter.sequence(
        DERWriter.objectIdentifier([1, 2, 840, 10045, 2, 1]), DERWriter.objectIdentifier(arcs)),
      DERWriter.octetString(privateKey))
    return try SigningKey.read(pem: Array(PEMBlock.encode("PRIVATE KEY", information).utf8))
  }
}

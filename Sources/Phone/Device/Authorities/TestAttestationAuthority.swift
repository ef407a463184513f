/// Plays Apple's part for tests: a root, an intermediate, and leaves shaped like those of App Attest
/// (docs/app-attest.md, "Attestation").
internal import Bytes
package import Crypto
package import Dialing
package import Time

package final class TestAttestationAuthority: Sendable {
  package let root: IssuedCertificate
  package let intermediate: IssuedCertificate
  private let rootKey: SigningKey
  private let intermediateKey: SigningKey

  private init(
    root: IssuedCertificate, _ rootKey: consuming SigningKey, intermediate: IssuedCertificate,
    _ intermediateKey: consuming SigningKey
  ) {
    self.root = root
    self.rootKey = rootKey
    self.intermediate = intermediate
    self.intermediateKey = intermediateKey
  }

  /// P-384 twice, for ten and five years from the day before `now`.
  package static func create(now: UnixTime) throws(IssuingError) -> TestAttestationAuthority {
    let rootKey = try SigningKey.generate(.p384)
    let intermediateKey = try SigningKey.generate(.p384)
    var ofRoot = CertificateBuilder(
      subject: name("Portcullis Test Attestation Root CA"),
      issuer: name("Portcullis Test Attestation Root CA"),
      notBefore: now.adding(days: -1), notAfter: now.adding(days: 3650),
      extensions: [
        .basicConstraints(authority: true), .subjectKeyIdentifier(try rootKey.keyIdentifier()),
        .keyUsage(.keyCertSign, .crlSign),
      ])
    ofRoot.digest = .sha384
    var ofIntermediate = CertificateBuilder(
      subject: name("Portcullis Test Attestation CA 1"), issuer: ofRoot.subject,
      notBefore: now.adding(days: -1), notAfter: now.adding(days: 1825),
      extensions: [
        .basicConstraints(authority: true, pathLength: 0),
        .authorityKeyIdentifier(try rootKey.keyIdentifier()),
        .subjectKeyIdentifier(try intermediateKey.keyIdentifier()), .keyUsage(.keyCertSign, .crlSign),
      ])
    ofIntermediate.digest = .sha384
    let root = try ofRoot.sign(subjectPublicKeyInfo: rootKey.subjectPublicKeyInfo(), with: rootKey)
    let intermediate = try ofIntermediate.sign(
      subjectPublicKeyInfo: intermediateKey.subjectPublicKeyInfo(), with: rootKey)
    return TestAttestationAuthority(root: root, rootKey, intermediate: intermediate, intermediateKey)
  }

  /// The certificate of a device's key, by the intermediate, for three days as Apple's are.
  func certify(
    subjectPublicKeyInfo: [UInt8], key: KeyIdentifier, nonce: Bytes32, appID: String, now: UnixTime
  ) throws(IssuingError) -> IssuedCertificate {
    let builder = CertificateBuilder(
      subject: DistinguishedName(
        (.commonName, key.digest.hex), (.organizationalUnit, "AAA Certification"),
        (.organization, "Portcullis"),
        (.stateOrProvince, "Test")),
      issuer: Self.name("Portcullis Test Attestation CA 1"),
      notBefore: now.adding(days: -1), notAfter: now.adding(days: 2),
      extensions: [
        .basicConstraints(authority: false),
        .keyUsage(.digitalSignature, .contentCommitment, .keyEncipherment, .dataEncipherment),
        // Apple's own purpose, which leaves of 2026 carry.
        .extendedKeyUsage([1, 2, 840, 113635, 100, 4, 24]),
        AppleExtension.application(appID), AppleExtension.nonce(nonce),
      ])
    return try builder.sign(subjectPublicKeyInfo: subjectPublicKeyInfo, with: intermediateKey)
  }

  private static func name(_ commonName: String) -> DistinguishedName {
    DistinguishedName((.commonName, commonName), (.organization, "Portcullis"), (.stateOrProvince, "Test"))
  }
}

/// The extensions by which Apple's leaves carry the nonce and the app (docs/app-attest.md, "Attestation").
private enum AppleExtension {
  /// SEQUENCE { [1] { OCTET STRING } }: 30 24 A1 22 04 20 and the 32 bytes.
  static func nonce(_ nonce: Bytes32) -> CertificateExtension {
    CertificateExtension(
      [1, 2, 840, 113635, 100, 8, 2],
      DERWriter.sequence(DERWriter.explicit(1, DERWriter.octetString(nonce.array))))
  }

  /// The app id is [1204]; the numbers around it are those of a development leaf, their meaning is not
  /// published.
  static func application(_ appID: String) -> CertificateExtension {
    let before: [(UInt32, UInt32)] = [(4, 10), (1200, 0), (1201, 0), (1202, 0), (1203, 0)]
    let after: [(UInt32, UInt32)] = [(1206, 4), (1207, 0), (1209, 0), (1210, 0), (1211, 0)]
    let number = { (member: (tag: UInt32, value: UInt32)) in
      DERWriter.explicit(member.tag, DERWriter.integer(member.value))
    }
    let members =
      before.flatMap(number) + DERWriter.explicit(1204, DERWriter.octetString(Array(appID.utf8)))
      + after.flatMap(number)
    return CertificateExtension([1, 2, 840, 113635, 100, 8, 5], DERWriter.element(0x30, members))
  }
}

extension TestAttestationAuthority {
  /// The files of an authority in a folder; `root` is what `APPATTEST_ROOT_CA_PATH` names.
  package enum FileName {
    package static let root = "attestation-root.pem"
    package static let rootKey = "attestation-root-key.pem"
    package static let intermediate = "attestation-intermediate.pem"
    package static let intermediateKey = "attestation-intermediate-key.pem"
  }

  package static func load(from folder: String) throws(DeviceError) -> TestAttestationAuthority {
    let root = try PEMFile.certificate("\(folder)/\(FileName.root)")
    let rootKey = try PEMFile.key("\(folder)/\(FileName.rootKey)")
    let intermediate = try PEMFile.certificate("\(folder)/\(FileName.intermediate)")
    let intermediateKey = try PEMFile.key("\(folder)/\(FileName.intermediateKey)")
    return TestAttestationAuthority(root: root, rootKey, intermediate: intermediate, intermediateKey)
  }

  /// What `load` reads, certificates readable by all, keys by the owner alone.
  package func files() throws(IssuingError) -> [DevelopmentFile] {
    [
      DevelopmentFile(FileName.root, root.pem),
      DevelopmentFile(FileName.rootKey, try rootKey.pem(), isSecret: true),
      DevelopmentFile(FileName.intermediate, intermediate.pem),
      DevelopmentFile(FileName.intermediateKey, try intermediateKey.pem(), isSecret: true),
    ]
  }
}

/// Plays the part of Google and of a phone's maker for tests: a root, and for each level of security an intermediate and an
/// attestation key, shaped like those of a factory; leaves that describe keys (docs/android.md, "Key attestation").
package import Bytes
package import Crypto
package import Dialing
package import Time

package final class TestAndroidAuthority: Sendable {
  package let root: IssuedCertificate
  private let rootKey: SigningKey
  /// In a trusted environment, and in StrongBox.
  package let tee: Batch
  package let strongBox: Batch

  /// What a maker puts into many phones alike.
  package struct Batch: ~Copyable, Sendable {
    package let intermediate: IssuedCertificate
    package let attestation: IssuedCertificate
    fileprivate let attestationKey: SigningKey
  }

  private init(
    root: IssuedCertificate, _ rootKey: consuming SigningKey, tee: consuming Batch,
    strongBox: consuming Batch
  ) {
    self.root = root
    self.rootKey = rootKey
    self.tee = tee
    self.strongBox = strongBox
  }

  /// Root and intermediates on P-384 and attestation keys on P-256, for ten years from the day before `now`.
  package static func create(now: UnixTime) throws(IssuingError) -> TestAndroidAuthority {
    let rootKey = try SigningKey.generate(.p384)
    var builder = CertificateBuilder(
      subject: rootName, issuer: rootName, notBefore: now.adding(days: -1), notAfter: now.adding(days: 3650),
      extensions: authorityExtensions)
    builder.digest = .sha384
    let root = try builder.sign(subjectPublicKeyInfo: rootKey.subjectPublicKeyInfo(), with: rootKey)
    let tee = try batch("TEE", by: rootKey, now)
    let strongBox = try batch("StrongBox", by: rootKey, now)
    return TestAndroidAuthority(root: root, rootKey, tee: tee, strongBox: strongBox)
  }

  /// SHA-256 of the root's `SubjectPublicKeyInfo`, by which it is pinned.
  package func rootHash() throws(IssuingError) -> Bytes32 {
    let key = try rootKey.subjectPublicKeyInfo()
    return SHA256.hash(key.span)
  }

  /// The chain of a phone's key, DER, the leaf first: what `KeyStore.getCertificateChain` gives an app.
  /// - Parameter isStrongBox: whose attestation key signs; the description says what it says.
  package func certify(
    subjectPublicKeyInfo: [UInt8], _ description: TestKeyDescription, isStrongBox: Bool = false,
    now: UnixTime
  ) throws(IssuingError) -> [[UInt8]] {
    try certify(
      subjectPublicKeyInfo: subjectPublicKeyInfo, descriptionDER: description.der, isStrongBox: isStrongBox,
      now: now)
  }

  /// The same with any bytes in the place of a description.
  package func certify(
    subjectPublicKeyInfo: [UInt8], descriptionDER: [UInt8], isStrongBox: Bool = false, now: UnixTime
  ) throws(IssuingError) -> [[UInt8]] {
    var builder = CertificateBuilder(
      subject: DistinguishedName((.commonName, "Android Keystore Key")),
      issuer: Self.attestationName(isStrongBox ? "StrongBox" : "TEE"),
      notBefore: now, notAfter: now.adding(days: 7000),
      extensions: [
        .keyUsage(.digitalSignature),
        CertificateExtension(Self.descriptionIdentifier, descriptionDER),
      ])
    // Phones number all of their leaves so.
    builder.serialNumber = [1]
    if isStrongBox { return try chain(builder, subjectPublicKeyInfo, strongBox) }
    return try chain(builder, subjectPublicKeyInfo, tee)
  }

  private func chain(
    _ builder: CertificateBuilder, _ key: [UInt8], _ batch: borrowing Batch
  ) throws(IssuingError) -> [[UInt8]] {
    let leaf = try builder.sign(subjectPublicKeyInfo: key, with: batch.attestationKey)
    return [leaf.der, batch.attestation.der, batch.intermediate.der, root.der]
  }

  private static func batch(
    _ title: String, by rootKey: borrowing SigningKey, _ now: UnixTime
  ) throws(IssuingError) -> Batch {
    let intermediateKey = try SigningKey.generate(.p384)
    let attestationKey = try SigningKey.generate(.p256)
    var ofIntermediate = CertificateBuilder(
      subject: intermediateName(title), issuer: rootName, notBefore: now.adding(days: -1),
      notAfter: now.adding(days: 3650), extensions: authorityExtensions)
    ofIntermediate.digest = .sha384
    let ofAttestation = CertificateBuilder(
      subject: attestationName(title), issuer: intermediateName(title), notBefore: now.adding(days: -1),
      notAfter: now.adding(days: 3650), extensions: authorityExtensions)
    return Batch(
      intermediate: try ofIntermediate.sign(
        subjectPublicKeyInfo: intermediateKey.subjectPublicKeyInfo(), with: rootKey),
      attestation: try ofAttestation.sign(
        subjectPublicKeyInfo: attestationKey.subjectPublicKeyInfo(), with: intermediateKey),
      attestationKey: attestationKey)
  }

  private static let rootName = DistinguishedName((.serialNumber, "0123456789abcdef"))

  private static func intermediateName(_ title: String) -> DistinguishedName {
    DistinguishedName((.serialNumber, "0123456789abcde0"), (.title, title))
  }

  private static func attestationName(_ title: String) -> DistinguishedName {
    DistinguishedName((.serialNumber, "0123456789abcde1"), (.title, title))
  }

  private static let authorityExtensions: [CertificateExtension] = [
    .basicConstraints(authority: true), .keyUsage(.keyCertSign),
  ]

  private static let descriptionIdentifier: [UInt32] = [1, 3, 6, 1, 4, 1, 11129, 2, 1, 17]
}

extension TestAndroidAuthority {
  /// The files of an authority in a folder; `root` is what `ANDROID_ROOTS_PATH` names.
  package enum FileName {
    package static let root = "android-root.pem"
    package static let rootKey = "android-root-key.pem"
  }

  private static func names(_ title: String) -> (intermediate: String, attestation: String, key: String) {
    (
      "android-\(title)-intermediate.pem", "android-\(title)-attestation.pem",
      "android-\(title)-attestation-key.pem"
    )
  }

  package static func load(from folder: String) throws(DeviceError) -> TestAndroidAuthority {
    let root = try PEMFile.certificate("\(folder)/\(FileName.root)")
    let rootKey = try PEMFile.key("\(folder)/\(FileName.rootKey)")
    let tee = try batch("tee", in: folder)
    let strongBox = try batch("strongbox", in: folder)
    return TestAndroidAuthority(root: root, rootKey, tee: tee, strongBox: strongBox)
  }

  private static func batch(_ title: String, in folder: String) throws(DeviceError) -> Batch {
    let names = names(title)
    return Batch(
      intermediate: try PEMFile.certificate("\(folder)/\(names.intermediate)"),
      attestation: try PEMFile.certificate("\(folder)/\(names.attestation)"),
      attestationKey: try PEMFile.key("\(folder)/\(names.key)"))
  }

  /// What `load` reads, certificates readable by all, keys by the owner alone.
  package func files() throws(IssuingError) -> [DevelopmentFile] {
    [
      DevelopmentFile(FileName.root, root.pem),
      DevelopmentFile(FileName.rootKey, try rootKey.pem(), isSecret: true),
    ] + (try Self.files("tee", tee)) + (try Self.files("strongbox", strongBox))
  }

  private static func files(
    _ title: String, _ batch: borrowing Batch
  ) throws(IssuingError) -> [DevelopmentFile] {
    let names = names(title)
    return [
      DevelopmentFile(names.intermediate, batch.intermediate.pem),
      DevelopmentFile(names.attestation, batch.attestation.pem),
      DevelopmentFile(names.key, try batch.attestationKey.pem(), isSecret: true),
    ]
  }
}

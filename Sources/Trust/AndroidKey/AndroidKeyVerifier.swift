/// Verifies Android key attestations (docs/android.md, "Key attestation"; Android, "Verify hardware-backed key pairs with key
/// attestation"): a chain of certificates, and what its leaf says of the key.
package import Bytes
internal import Crypto
internal import DeviceWire
internal import X509

/// One to a thread. It keeps nothing from one chain to the next but memory of OpenSSL's.
package final class AndroidKeyVerifier {
  private let signatures = IssuerSignatureVerifier()

  package init() {}

  /// Throws the first rule that is broken, in the order of `AndroidKeyRejection`.
  /// - Parameters:
  ///   - chain: DER, the leaf first.
  ///   - challenge: SHA-256 of an `android-key` message that was given out here.
  ///   - key: the one that is being registered.
  package func verify(
    chain: [[UInt8]], challenge: Bytes32, key: P256Point, policy: AndroidKeyPolicy
  ) throws(AndroidKeyRejection) -> AndroidKeyVerdict {
    try verify(
      chain: chain, verbatimChallenge: challenge.array,
      subjectPublicKeyInfo: key.subjectPublicKeyInfo, policy: policy)
  }

  /// The same with bytes of any number for both: chains that others published have challenges of their own, and keys of
  /// other kinds. The gate never does.
  package func verify(
    chain: [[UInt8]], verbatimChallenge challenge: [UInt8], subjectPublicKeyInfo: [UInt8],
    policy: AndroidKeyPolicy
  ) throws(AndroidKeyRejection) -> AndroidKeyVerdict {
    let chain = try AttestationChain(chain)
    try chain.checkRoot(policy.roots)
    try chain.checkNames()
    try chain.checkSignatures(by: signatures)
    try chain.checkValidity(at: policy.now)
    try chain.checkAuthorities()
    try chain.checkDescriptions()
    try chain.checkRevocation(policy)

    let description = try Self.description(chain.leaf)
    guard equalInConstantTime(description.challenge.span, challenge.span) else { throw .challenge }
    let level = try Self.level(description, chain, policy)
    let key = chain.leaf.parsed.der.span.extracting(chain.leaf.parsed.subjectPublicKeyInfo)
    try check(description.hardware, key)
    let package = try Self.package(description, policy)
    guard description.hasUserVerification || !policy.requiresUserVerification else { throw .userVerification }
    let patch = description.hardware.patch.flatMap(Self.month)
    if let minimum = policy.minimumPatch {
      guard let patch, patch >= minimum else { throw .patch }
    }
    guard key.isEqual(to: subjectPublicKeyInfo) else { throw .keyBinding }
    return AndroidKeyVerdict(
      level: level, hasUserVerification: description.hasUserVerification, patch: patch,
      serials: chain.serials, package: package)
  }

  private static func description(_ leaf: ChainCertificate) throws(AndroidKeyRejection) -> KeyDescription {
    guard let range = leaf.description else { throw .extensionMissing }
    do throws(DERError) {
      return try KeyDescription(leaf.parsed.der.span, in: range)
    } catch {
      throw .description
    }
  }

  private static func level(
    _ description: KeyDescription, _ chain: AttestationChain, _ policy: AndroidKeyPolicy
  ) throws(AndroidKeyRejection) -> SecurityLevel {
    guard description.attestationLevel == description.keyLevel else { throw .levelMismatch }
    guard let level = SecurityLevel(number: description.attestationLevel), level >= policy.required else {
      throw .level
    }
    guard chain.namesStrongBox == (level == .strongbox) else { throw .levelOfChain }
    return level
  }

  /// What the hardware says of itself and of the key; `key` is the leaf's `SubjectPublicKeyInfo`.
  private func check(_ hardware: AuthorizationList, _ key: Span<UInt8>) throws(AndroidKeyRejection) {
    guard hardware.origin == KeyMint.generated else { throw .origin }
    guard let root = hardware.rootOfTrust else { throw .rootOfTrust }
    guard root.isLocked else { throw .deviceLocked }
    guard root.bootState == KeyMint.verified else { throw .bootState }
    guard let purposes = hardware.purposes, purposes.contains(KeyMint.sign),
      !purposes.contains(KeyMint.attestKey)
    else { throw .purpose }
    guard hardware.algorithm == KeyMint.ellipticCurve,
      hardware.keySize == nil || hardware.keySize == 256,
      hardware.curve == nil || hardware.curve == KeyMint.p256,
      let point = P256Point(subjectPublicKeyInfo: key), signatures.isOnCurve(point)
    else { throw .key }
  }

  /// The name of the known app that the key belongs to.
  private static func package(
    _ description: KeyDescription, _ policy: AndroidKeyPolicy
  ) throws(AndroidKeyRejection) -> String {
    guard !description.software.isForAllApplications, !description.hardware.isForAllApplications else {
      throw .allApplications
    }
    guard let application = description.software.applicationID else { throw .applicationID }
    let known = policy.apps.filter { app in
      application.packages.contains { $0.elementsEqual(app.package.utf8) }
    }
    guard !known.isEmpty else { throw .package }
    let digests = application.digests.map { Bytes32($0) }
    // One that is no SHA-256 is nobody's. A package may be listed more than once, as when its key of signing changes.
    guard !digests.isEmpty, !digests.contains(nil),
      let app = known.first(where: { app in
        known.filter { $0.package.isSameText(as: app.package) }
          .reduce(into: Set()) { $0.formUnion($1.digests) }
          .isSuperset(of: digests.compactMap(\.self))
      })
    else { throw .digest }
    return app.package
  }

  /// YYYYMM of YYYYMM or YYYYMMDD; nil for other numbers.
  private static func month(_ patch: UInt64) -> Int? {
    let month: UInt64
    switch patch {
    case 100_000...999_999: month = patch
    case 10_000_000...99_999_999: month = patch / 100
    default: return nil
    }
    return (1...12).contains(month % 100) ? Int(month) : nil
  }
}

extension KeyDescription {
  /// Whether each use takes a person's biometrics: there is no way without, no time after an unlocking in which it may be
  /// used again, and the hardware takes fingerprints or faces.
  fileprivate var hasUserVerification: Bool {
    for list in [software, hardware] {
      if list.needsNoAuthentication || list.authenticationTimeout != nil { return false }
    }
    return hardware.authenticators.map { $0 & KeyMint.biometrics != 0 } ?? false
  }
}

/// Numbers of KeyMint's enumerations.
private enum KeyMint {
  static let generated: UInt64 = 0
  static let verified: UInt64 = 0
  static let sign: UInt64 = 2
  static let attestKey: UInt64 = 7
  static let ellipticCurve: UInt64 = 3
  static let p256: UInt64 = 1
  /// `HardwareAuthenticatorType.FINGERPRINT`, which stands for all of them.
  static let biometrics: UInt64 = 2
}

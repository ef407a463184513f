/// Verifies leaf, intermediate and pinned root as a path of exactly three (docs/app-attest.md, "Attestation").
///
/// OpenSSL accepts many paths that are wrong here, so each rule is checked explicitly first; its own opinion,
/// the signatures among it, comes last because it is the expensive part.
internal import Bytes
internal import Crypto
internal import Time
internal import X509

/// Which certificate of the chain broke a rule.
package enum CertificateRole: String, Sendable {
  case leaf
  case intermediate
  case root
}

/// A leaf whose chain ends in the pinned root.
struct ValidatedLeaf: Sendable {
  let certificate: ParsedCertificate
  /// On the curve.
  let publicKey: P256Point
}

final class ChainVerifier: Sendable {
  private let root: AttestationRoot
  private let memory = IntermediateMemory()

  init(root: AttestationRoot) {
    self.root = root
  }

  func verify(
    leaf leafDER: Span<UInt8>, intermediate intermediateDER: Span<UInt8>, at time: UnixTime
  ) throws(AttestationError) -> ValidatedLeaf {
    let leaf = try Self.parse(leafDER, .leaf)
    let digest = SHA256.hash(intermediateDER)
    let remembered = memory.entry(digest: digest)
    let intermediate =
      if let remembered { remembered.certificate } else { try Self.parse(intermediateDER, .intermediate) }

    try checkPath(leaf, intermediate, at: time)
    let publicKey = try checkAlgorithmsAndKeys(leaf, intermediate)

    let issuer: CertificateIssuer
    if let remembered {
      issuer = remembered.issuer
    } else {
      let certificate = try Self.certificate(intermediateDER, .intermediate)
      try Self.verify(certificate, .intermediate, by: root.issuer)
      issuer = CertificateIssuer(certificate)
      memory.remember(IntermediateMemory.Entry(digest: digest, certificate: intermediate, issuer: issuer))
    }
    try Self.verify(try Self.certificate(leafDER, .leaf), .leaf, by: issuer)
    return ValidatedLeaf(certificate: leaf, publicKey: publicKey)
  }

  private func checkPath(
    _ leaf: ParsedCertificate, _ intermediate: ParsedCertificate, at time: UnixTime
  ) throws(AttestationError) {
    // Names match byte for byte: the same text in another string type is another name.
    guard leaf.issuer == intermediate.subject else { throw .issuerName(.leaf) }
    guard intermediate.issuer == root.certificate.subject else { throw .issuerName(.intermediate) }

    guard root.certificate.isValid(at: time) else { throw .validity(.root) }
    guard intermediate.isValid(at: time) else { throw .validity(.intermediate) }
    guard leaf.isValid(at: time) else { throw .validity(.leaf) }

    guard let constraints = intermediate.basicConstraints, constraints.isAuthority,
      constraints.pathLength == 0
    else { throw .authority(.intermediate) }
    guard leaf.basicConstraints?.isAuthority != true else { throw .authority(.leaf) }

    guard let authorityUsage = intermediate.keyUsage, authorityUsage.contains(.keyCertSign)
    else { throw .keyUsage(.intermediate) }
    // RFC 5280 §4.2.1.3: who is no authority must not claim to sign certificates.
    guard let usage = leaf.keyUsage, usage.contains(.digitalSignature), !usage.contains(.keyCertSign)
    else { throw .keyUsage(.leaf) }

    // Only these two are processed as RFC 5280 §4.2 means it; Apple marks nothing else as critical.
    let processed = [ObjectIdentifiers.basicConstraints, ObjectIdentifiers.keyUsage]
    for (certificate, role) in [(intermediate, CertificateRole.intermediate), (leaf, .leaf)] {
      guard certificate.extensions.allSatisfy({ !$0.isCritical || processed.contains($0.identifier) })
      else { throw .criticalExtension(role) }
    }
  }

  /// Returns the leaf's key.
  private func checkAlgorithmsAndKeys(
    _ leaf: ParsedCertificate, _ intermediate: ParsedCertificate
  ) throws(AttestationError) -> P256Point {
    guard intermediate.signatureAlgorithm != .other,
      intermediate.innerSignatureAlgorithm == intermediate.signatureAlgorithm
    else { throw .signatureAlgorithm(.intermediate) }
    guard leaf.signatureAlgorithm == .ecdsaWithSHA256, leaf.innerSignatureAlgorithm == .ecdsaWithSHA256
    else { throw .signatureAlgorithm(.leaf) }

    guard intermediate.publicKey == .p384 else { throw .intermediateKey }
    guard case .p256(let point) = leaf.publicKey, P256Verifier().isOnCurve(point) else {
      throw .leafKey
    }
    return point
  }

  private static func parse(
    _ der: Span<UInt8>, _ role: CertificateRole
  ) throws(AttestationError) -> ParsedCertificate {
    do throws(CertificateParseError) {
      return try CertificateParser.parse(der)
    } catch {
      switch error {
      case .der(let rule): throw .certificate(role, rule)
      case .duplicateExtension: throw .duplicateExtension(role)
      }
    }
  }

  private static func certificate(
    _ der: Span<UInt8>, _ role: CertificateRole
  ) throws(AttestationError) -> Certificate {
    do {
      return try Certificate(der: der)
    } catch {
      throw .certificate(role, .notReadable)
    }
  }

  private static func verify(
    _ certificate: borrowing Certificate, _ role: CertificateRole, by issuer: CertificateIssuer
  ) throws(AttestationError) {
    do {
      try issuer.verify(certificate)
    } catch {
      throw .signature(role, error)
    }
  }
}

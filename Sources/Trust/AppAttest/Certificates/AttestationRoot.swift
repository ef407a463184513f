/// The one certificate that attestation chains must end in; the system's roots are never consulted.
package import Bytes
internal import Crypto
internal import X509

package enum AttestationRootError: Error, Equatable, Sendable {
  /// Not exactly one certificate in PEM.
  case notPEM
  /// Not strict DER, or not a certificate of version 3.
  case malformed
  /// Not self-issued, not an authority that may sign certificates, or its key is not on P-384.
  case notRootAuthority
}

package final class AttestationRoot: Sendable {
  let certificate: ParsedCertificate
  let issuer: CertificateIssuer
  /// SHA-256 of the DER.
  package let fingerprint: Bytes32

  package convenience init(pem: Span<UInt8>) throws(AttestationRootError) {
    let der: [UInt8]
    do {
      der = try Certificate.der(fromPEM: pem)
    } catch {
      throw .notPEM
    }
    try self.init(der: der.span)
  }

  package init(der: Span<UInt8>) throws(AttestationRootError) {
    let parsed: ParsedCertificate
    let issuer: CertificateIssuer
    do {
      parsed = try CertificateParser.parse(der)
      issuer = CertificateIssuer(try Certificate(der: der))
    } catch {
      throw .malformed
    }
    guard parsed.issuer == parsed.subject, parsed.publicKey == .p384,
      parsed.basicConstraints?.isAuthority == true, parsed.keyUsage?.contains(.keyCertSign) == true
    else { throw .notRootAuthority }
    certificate = parsed
    self.issuer = issuer
    fingerprint = SHA256.hash(der)
  }

  /// Apple's own, compiled in.
  package static func apple() -> AttestationRoot {
    do {
      return try AttestationRoot(pem: Array(AppleRoot.pem.utf8).span)
    } catch {
      fatalError("the compiled-in root certificate is not one: \(error)")
    }
  }

  package var isApple: Bool { fingerprint.hex == AppleRoot.fingerprint }
}

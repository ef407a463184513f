/// Certificates for tests: an authority, and what it issues.
package import Crypto
internal import Time

/// A certificate with its key and what stands between it and its root, as PEM.
package struct Identity: Sendable {
  package let chain: [UInt8]
  package let key: [UInt8]
  /// Of the certificate, in DER.
  package let subjectPublicKeyInfo: [UInt8]
}

/// An authority that certificates are issued by.
package struct Authority: ~Copyable {
  package let certificate: IssuedCertificate
  private let key: SigningKey
  private let name: DistinguishedName

  package var pem: [UInt8] { Array(certificate.pem.utf8) }

  package init(_ commonName: String) throws {
    let name = DistinguishedName((.commonName, commonName))
    let key = try SigningKey.generate(.p256)
    let now = SystemClock().wall()
    let builder = CertificateBuilder(
      subject: name, issuer: name, notBefore: now.adding(days: -10), notAfter: now.adding(days: 10),
      extensions: [
        .basicConstraints(authority: true, pathLength: 0), .keyUsage(.keyCertSign, .crlSign),
        .subjectKeyIdentifier(try key.keyIdentifier()),
      ])
    let certificate = try builder.sign(subjectPublicKeyInfo: key.subjectPublicKeyInfo(), with: key)
    self.name = name
    self.key = key
    self.certificate = certificate
  }

  /// Valid from yesterday to tomorrow unless said otherwise.
  package func issue(
    _ commonName: String, purpose: [UInt32] = CertificateExtension.clientAuthentication,
    days: ClosedRange<Int64> = -1...1
  ) throws -> Identity {
    let leafKey = try SigningKey.generate(.p256)
    let now = SystemClock().wall()
    let builder = CertificateBuilder(
      subject: DistinguishedName((.commonName, commonName)), issuer: name,
      notBefore: now.adding(days: days.lowerBound), notAfter: now.adding(days: days.upperBound),
      extensions: [
        .basicConstraints(authority: false), .keyUsage(.digitalSignature), .extendedKeyUsage(purpose),
        .subjectAlternativeNames(CertificateExtension.AlternativeName.loopback),
        .authorityKeyIdentifier(try key.keyIdentifier()),
      ])
    let publicKey = try leafKey.subjectPublicKeyInfo()
    let leaf = try builder.sign(subjectPublicKeyInfo: publicKey, with: key)
    return Identity(
      chain: Array((leaf.pem + certificate.pem).utf8), key: Array(try leafKey.pem().utf8),
      subjectPublicKeyInfo: publicKey)
  }
}

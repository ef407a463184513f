/// A server certificate that vouches for itself, for a gate outside production that was given none (docs/settings.md,
/// "Production").
package import Time

package struct SelfSignedCertificate: ~Copyable {
  package let certificate: IssuedCertificate
  package let key: SigningKey

  private init(_ certificate: IssuedCertificate, _ key: consuming SigningKey) {
    self.certificate = certificate
    self.key = key
  }

  /// What a client pins, and the operator reads in the log.
  package var fingerprint: String { certificate.fingerprint }

  /// For localhost, 127.0.0.1 and ::1, good for 30 days from now and never stored.
  package static func localhost(now: UnixTime = SystemClock().wall()) throws(IssuingError)
    -> SelfSignedCertificate
  {
    let key = try SigningKey.generate(.p256)
    let name = DistinguishedName((.commonName, "localhost"), (.organization, "Portcullis self-signed"))
    let builder = CertificateBuilder(
      subject: name, issuer: name, notBefore: now.adding(days: -1), notAfter: now.adding(days: 30),
      extensions: [
        .basicConstraints(authority: false), .keyUsage(.digitalSignature),
        .extendedKeyUsage(CertificateExtension.serverAuthentication),
        .subjectAlternativeNames(CertificateExtension.AlternativeName.loopback),
        .subjectKeyIdentifier(try key.keyIdentifier()),
      ])
    let certificate = try builder.sign(subjectPublicKeyInfo: key.subjectPublicKeyInfo(), with: key)
    return SelfSignedCertificate(certificate, key)
  }
}

extension CertificateExtension.AlternativeName {
  package static let loopback: [Self] = [
    .dns("localhost"), .address([127, 0, 0, 1]), .address([UInt8](repeating: 0, count: 15) + [1]),
  ]
}

extension UnixTime {
  package func adding(days: Int64) -> UnixTime { UnixTime(milliseconds: milliseconds + days * 86_400_000) }
}

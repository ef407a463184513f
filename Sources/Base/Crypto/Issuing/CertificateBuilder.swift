/// Issues X.509 version 3 certificates signed with ECDSA (RFC 5280 §4.1, RFC 5758 §3.2), for development and
/// tests.
internal import Bytes
package import Time

/// Attributes in the order in which they are written.
package struct DistinguishedName: Equatable, Sendable {
  package enum Attribute: UInt32, Sendable {
    case commonName = 3
    case serialNumber = 5
    case stateOrProvince = 8
    case organization = 10
    case organizationalUnit = 11
    case title = 12
  }

  private let attributes: [(type: Attribute, value: String)]

  package init(_ attributes: (Attribute, String)...) {
    self.attributes = attributes.map { (type: $0.0, value: $0.1) }
  }

  package static func == (left: Self, right: Self) -> Bool { left.der == right.der }

  var der: [UInt8] {
    DERWriter.element(
      0x30,
      attributes.flatMap { attribute in
        DERWriter.set(
          DERWriter.sequence(
            DERWriter.objectIdentifier([2, 5, 4, attribute.type.rawValue]),
            DERWriter.utf8String(attribute.value)))
      })
  }
}

package struct IssuedCertificate: Equatable, Sendable {
  package let der: [UInt8]

  package init(der: [UInt8]) {
    self.der = der
  }

  package init(pem: [UInt8]) throws(IssuingError) {
    der = try PEMBlock.decode("CERTIFICATE", pem)
  }

  package var pem: String { PEMBlock.encode("CERTIFICATE", der) }

  /// SHA-256 of the DER as `openssl x509 -fingerprint -sha256` prints it: `AA:BB:…`, 95 characters.
  package var fingerprint: String {
    SHA256.hash(der.span).array.map { Hex.encode([$0].span).uppercased() }.joined(separator: ":")
  }
}

package struct CertificateBuilder: Sendable {
  package var subject: DistinguishedName
  package var issuer: DistinguishedName
  package var notBefore: UnixTime
  package var notAfter: UnixTime
  /// Positive, at most 20 bytes (RFC 5280 §4.1.2.2); 16 random ones unless set.
  package var serialNumber: [UInt8]
  package var extensions: [CertificateExtension]
  package var digest: SignatureDigest = .sha256

  package init(
    subject: DistinguishedName, issuer: DistinguishedName, notBefore: UnixTime, notAfter: UnixTime,
    extensions: [CertificateExtension], entropy: some Entropy = KernelEntropy()
  ) {
    self.subject = subject
    self.issuer = issuer
    self.notBefore = notBefore
    self.notAfter = notAfter
    self.extensions = extensions
    serialNumber = entropy.bytes(16)
    // Never zero, and always of the same length.
    serialNumber[0] = serialNumber[0] & 0x7F | 0x40
  }

  /// - Parameter subjectPublicKeyInfo: DER, as `SigningKey.subjectPublicKeyInfo()` gives it.
  package func sign(
    subjectPublicKeyInfo: [UInt8], with key: borrowing SigningKey
  ) throws(IssuingError) -> IssuedCertificate {
    let arcs: [UInt32] =
      switch digest {
      case .sha256: [1, 2, 840, 10045, 4, 3, 2]
      case .sha384: [1, 2, 840, 10045, 4, 3, 3]
      case .sha512: [1, 2, 840, 10045, 4, 3, 4]
      }
    let algorithm = DERWriter.sequence(DERWriter.objectIdentifier(arcs))
    let toBeSigned = DERWriter.sequence(
      DERWriter.explicit(0, DERWriter.integer(2)),
      DERWriter.integer(magnitude: serialNumber),
      algorithm,
      issuer.der,
      DERWriter.sequence(Self.time(notBefore), Self.time(notAfter)),
      subject.der,
      subjectPublicKeyInfo,
      DERWriter.explicit(3, DERWriter.element(0x30, extensions.flatMap(\.der))))
    let signature = try key.sign(toBeSigned, digest)
    return IssuedCertificate(der: DERWriter.sequence(toBeSigned, algorithm, DERWriter.bitString(signature)))
  }

  /// UTCTime through 2049, GeneralizedTime after it (RFC 5280 §4.1.2.5).
  private static func time(_ time: UnixTime) -> [UInt8] {
    // "2026-02-17T00:00:00.000Z" without punctuation and fraction.
    let digits = Array(
      time.timestamp.utf8.prefix { $0 != UInt8(ascii: ".") }.filter { (0x30...0x39).contains($0) })
    let isShort = digits.lexicographicallyPrecedes(Array("2050".utf8))
    return DERWriter.element(isShort ? 0x17 : 0x18, digits.dropFirst(isShort ? 2 : 0) + [UInt8(ascii: "Z")])
  }
}

extension SigningKey {
  /// A name for the key in certificates: the first 160 bits of SHA-256 over its point (RFC 7093 §2, method
  /// 1).
  package func keyIdentifier() throws(IssuingError) -> [UInt8] {
    // Kept in a variable: this compiler breaks on a span of what a throwing call returns.
    let point = try publicPoint()
    return Array(SHA256.hash(point.span).array.prefix(20))
  }
}

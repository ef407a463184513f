/// Reads a certificate by the grammar of RFC 5280 §4.1, after a walk that has found all of it to be DER.
internal import Bytes
internal import Crypto
internal import System

package enum CertificateParseError: Error, Equatable {
  case der(DERError)
  case duplicateExtension
}

package enum CertificateParser {
  package static func parse(_ der: Span<UInt8>) throws(CertificateParseError) -> ParsedCertificate {
    let parts: (body: Body, outer: ParsedCertificate.SignatureAlgorithm)
    do throws(DERError) {
      try DERWalk.check(der)
      var reader = DERReader(der)
      let certificate = try reader.next(.sequence)
      var fields = DERReader(der, in: certificate.content)
      let body = try parseBody(der, try fields.next(.sequence).content)
      let outer = signatureAlgorithm(der.extracting(try fields.next(.sequence).whole))
      try checkSignatureValue(der.extracting(try fields.next(.bitString).content), outer)
      try fields.expectEnd()
      parts = (body, outer)
    } catch {
      throw .der(error)
    }
    let extensions = try ExtensionParser.parse(der, parts.body.extensions)
    return ParsedCertificate(
      der: der.array, issuer: der.extracting(parts.body.issuer).array,
      subject: der.extracting(parts.body.subject).array, notBefore: parts.body.notBefore,
      notAfter: parts.body.notAfter, signatureAlgorithm: parts.outer,
      innerSignatureAlgorithm: parts.body.signatureAlgorithm, publicKey: parts.body.publicKey,
      basicConstraints: extensions.basicConstraints, keyUsage: extensions.keyUsage, extensions: extensions.all
    )
  }

  /// `TBSCertificate`, apart from its extensions.
  private struct Body {
    let signatureAlgorithm: ParsedCertificate.SignatureAlgorithm
    let issuer: Range<Int>
    let notBefore: UnixTime
    let notAfter: UnixTime
    let subject: Range<Int>
    let publicKey: ParsedCertificate.PublicKey
    /// Content of `Extensions`.
    let extensions: Range<Int>
  }

  private static func parseBody(_ der: Span<UInt8>, _ content: Range<Int>) throws(DERError) -> Body {
    var fields = DERReader(der, in: content)
    guard let version = try fields.nextIfPresent(.context(0)) else { throw .notVersion3 }
    // INTEGER 2 is v3; v1 must not be encoded, and v2 has no extensions.
    guard der.extracting(version.content).isEqual(to: [0x02, 0x01, 0x02]) else { throw .notVersion3 }
    // RFC 5280 §4.1.2.2: at most 20 octets; one more for a sign.
    guard try fields.next(.integer).content.count <= 21 else { throw .serialNumber }
    let algorithm = signatureAlgorithm(der.extracting(try fields.next(.sequence).whole))
    let issuer = try parseName(der, &fields)
    var validity = DERReader(der, in: try fields.next(.sequence).content)
    let notBefore = try parseTime(der, try validity.next())
    let notAfter = try parseTime(der, try validity.next())
    try validity.expectEnd()
    let subject = try parseName(der, &fields)
    let publicKey = publicKey(der.extracting(try fields.next(.sequence).whole))
    // The unique identifiers [1] and [2] are refused: RFC 5280 §4.1.2.8 forbids authorities to use them.
    guard let wrapper = try fields.nextIfPresent(.context(3)) else {
      throw fields.isAtEnd ? .noExtensions : .unexpectedTag
    }
    try fields.expectEnd()
    var wrapped = DERReader(der, in: wrapper.content)
    let extensions = try wrapped.next(.sequence).content
    try wrapped.expectEnd()
    guard !extensions.isEmpty else { throw .noExtensions }
    return Body(
      signatureAlgorithm: algorithm, issuer: issuer, notBefore: notBefore, notAfter: notAfter,
      subject: subject, publicKey: publicKey, extensions: extensions)
  }

  /// `Name`: SEQUENCE OF SET (1 or more) OF SEQUENCE { OBJECT IDENTIFIER, value }.
  private static func parseName(
    _ der: Span<UInt8>, _ fields: inout DERReader
  ) throws(DERError) -> Range<Int> {
    let name = try fields.next(.sequence)
    var relativeNames = DERReader(der, in: name.content)
    while !relativeNames.isAtEnd {
      let relativeName = try relativeNames.next(.set)
      guard !relativeName.content.isEmpty else { throw .name }
      var attributes = DERReader(der, in: relativeName.content)
      while !attributes.isAtEnd {
        var attribute = DERReader(der, in: try attributes.next(.sequence).content)
        _ = try attribute.next(.objectIdentifier)
        _ = try attribute.next()
        try attribute.expectEnd()
      }
    }
    return name.whole
  }

  private static func parseTime(_ der: Span<UInt8>, _ element: DERElement) throws(DERError) -> UnixTime {
    let content = der.extracting(element.content)
    switch element.tag {
    case .utcTime: return try DERValue.utcTime(content)
    case .generalizedTime: return try DERValue.generalizedTime(content)
    default: throw .unexpectedTag
    }
  }

  /// By its whole encoding: parameters must be absent (RFC 5758 §3.2).
  private static func signatureAlgorithm(_ whole: Span<UInt8>) -> ParsedCertificate.SignatureAlgorithm {
    let ecdsaWithSHA2: [UInt8] = [0x30, 0x0A, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 0x03]
    if whole.isEqual(to: ecdsaWithSHA2 + [0x02]) { return .ecdsaWithSHA256 }
    if whole.isEqual(to: ecdsaWithSHA2 + [0x03]) { return .ecdsaWithSHA384 }
    return .other
  }

  /// By its whole encoding, so that only named curves and uncompressed points pass (RFC 5480 §2).
  private static func publicKey(_ whole: Span<UInt8>) -> ParsedCertificate.PublicKey {
    if whole.startsWith(P256Point.subjectPublicKeyInfoHead),
      let point = P256Point(x963: whole.extracting(P256Point.subjectPublicKeyInfoHead.count..<whole.count))
    {
      return .p256(point)
    }
    let p384Head: [UInt8] = [
      0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81,
      0x04, 0x00, 0x22, 0x03, 0x62, 0x00, 0x04,
    ]
    return whole.count == 120 && whole.startsWith(p384Head) ? .p384 : .other
  }

  /// Whole bytes; and for ECDSA the strict form inside, since both issuers have P-384 keys.
  private static func checkSignatureValue(
    _ content: Span<UInt8>, _ algorithm: ParsedCertificate.SignatureAlgorithm
  ) throws(DERError) {
    guard content[0] == 0 else { throw .signatureValue }
    if algorithm == .other { return }
    guard ECDSASignature.isWellFormed(content.extracting(1..<content.count), coordinateBytes: 48) else {
      throw .signatureValue
    }
  }
}

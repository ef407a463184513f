/// Reads a certificate by the grammar of RFC 5280 §4.1, after a walk that has found all of it to be DER.
internal import Bytes
internal import Crypto
internal import Time

package enum CertificateParseError: Error, Equatable {
  case der(DERError)
  case duplicateExtension
}

/// What is asked of a certificate beyond its grammar; it differs by whose chain it is of.
package struct CertificateRules: Sendable {
  /// That there is an extension at all.
  package var needsExtensions = true
  /// What a key is for, and whether it may sign certificates, is left alone where nothing hangs on it: devices of some makers
  /// write it wrongly.
  package var readsKeyUsage = true
  package var readsBasicConstraints = true
  /// That both ends of its time are times.
  package var readsValidity = true
  /// That serial numbers are as long as RFC 5280 allows, and that there are no unique identifiers, which it forbids.
  package var keepsToProfile = true
  /// Whether what goes without saying may be said all the same (X.690 §11.5, §11.2.2): FALSE where that is the default, and
  /// bits that are not set. It means the same, and where bytes are signed nothing hangs on their form.
  package var mayEncodeDefaults = false
  /// That an ECDSA signature has its strict form, for a key on P-384 at most.
  package var checksSignatureForm = true
  /// Of its encoding.
  package var strictness = DERWalk.Strictness.all

  package init() {}
}

package enum CertificateParser {
  package static func parse(
    _ der: Span<UInt8>, rules: CertificateRules = CertificateRules()
  ) throws(CertificateParseError) -> ParsedCertificate {
    let parts: (body: Body, toBeSigned: Range<Int>, outer: Range<Int>, signature: Range<Int>)
    do throws(DERError) {
      try DERWalk.check(der, rules.strictness)
      var reader = DERReader(der)
      let certificate = try reader.next(.sequence)
      var fields = DERReader(der, in: certificate.content)
      let body = try fields.next(.sequence)
      let outer = try fields.next(.sequence).whole
      let signature = try fields.next(.bitString).content
      try fields.expectEnd()
      parts = (try parseBody(der, body.content, rules), body.whole, outer, signature)
      try checkSignatureValue(
        der.extracting(signature), signatureAlgorithm(der.extracting(outer)), rules)
    } catch {
      throw .der(error)
    }
    let extensions = try ExtensionParser.parse(der, parts.body.extensions, rules)
    let body = parts.body
    return ParsedCertificate(
      der: der.array, toBeSigned: parts.toBeSigned, serialNumber: body.serialNumber,
      issuer: der.extracting(body.issuer).array, subject: der.extracting(body.subject).array,
      notBefore: body.notBefore, notAfter: body.notAfter,
      signatureAlgorithm: signatureAlgorithm(der.extracting(parts.outer)),
      innerSignatureAlgorithm: signatureAlgorithm(der.extracting(body.signatureAlgorithm)),
      signatureAlgorithmIdentifier: parts.outer, innerSignatureAlgorithmIdentifier: body.signatureAlgorithm,
      signature: parts.signature.dropFirst(), publicKey: publicKey(der.extracting(body.publicKey)),
      subjectPublicKeyInfo: body.publicKey, basicConstraints: extensions.basicConstraints,
      keyUsage: extensions.keyUsage, extensions: extensions.all)
  }

  /// `TBSCertificate`, apart from its extensions.
  private struct Body {
    /// Content.
    let serialNumber: Range<Int>
    let signatureAlgorithm: Range<Int>
    let issuer: Range<Int>
    let notBefore: UnixTime?
    let notAfter: UnixTime?
    let subject: Range<Int>
    let publicKey: Range<Int>
    /// Content of `Extensions`.
    let extensions: Range<Int>
  }

  private static func parseBody(
    _ der: Span<UInt8>, _ content: Range<Int>, _ rules: CertificateRules
  ) throws(DERError) -> Body {
    var fields = DERReader(der, in: content)
    guard let version = try fields.nextIfPresent(.context(0)) else { throw .notVersion3 }
    // INTEGER 2 is v3; v1 must not be encoded, and v2 has no extensions.
    guard der.extracting(version.content).isEqual(to: [0x02, 0x01, 0x02]) else { throw .notVersion3 }
    // RFC 5280 §4.1.2.2: at most 20 octets; one more for a sign.
    let serialNumber = try fields.next(.integer).content
    guard serialNumber.count <= 21 || !rules.keepsToProfile else { throw .serialNumber }
    let algorithm = try fields.next(.sequence).whole
    let issuer = try parseName(der, &fields)
    var validity = DERReader(der, in: try fields.next(.sequence).content)
    let notBefore = try parseTime(der, try validity.next(), rules)
    let notAfter = try parseTime(der, try validity.next(), rules)
    try validity.expectEnd()
    let subject = try parseName(der, &fields)
    let publicKey = try fields.next(.sequence).whole
    // The unique identifiers [1] and [2]: RFC 5280 §4.1.2.8 forbids authorities to use them.
    for number in [1, 2] as [UInt32] where !rules.keepsToProfile {
      if let identifier = try fields.nextIfPresent(.context(number, constructed: false)) {
        try DERValue.checkBitString(der.extracting(identifier.content))
      }
    }
    var extensions = content.upperBound..<content.upperBound
    if let wrapper = try fields.nextIfPresent(.context(3)) {
      try fields.expectEnd()
      var wrapped = DERReader(der, in: wrapper.content)
      extensions = try wrapped.next(.sequence).content
      try wrapped.expectEnd()
      guard !extensions.isEmpty else { throw .noExtensions }
    } else {
      guard fields.isAtEnd else { throw .unexpectedTag }
      guard !rules.needsExtensions else { throw .noExtensions }
    }
    return Body(
      serialNumber: serialNumber, signatureAlgorithm: algorithm, issuer: issuer, notBefore: notBefore,
      notAfter: notAfter,
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

  private static func parseTime(
    _ der: Span<UInt8>, _ element: DERElement, _ rules: CertificateRules
  ) throws(DERError) -> UnixTime? {
    let content = der.extracting(element.content)
    do throws(DERError) {
      switch element.tag {
      case .utcTime: return try DERValue.utcTime(content)
      case .generalizedTime: return try DERValue.generalizedTime(content)
      default: throw .unexpectedTag
      }
    } catch {
      if rules.readsValidity { throw error }
      return nil
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
    if let point = P256Point(subjectPublicKeyInfo: whole) { return .p256(point) }
    return P384Point.x963(subjectPublicKeyInfo: whole) == nil ? .other : .p384
  }

  /// Whole bytes; and for ECDSA the strict form inside.
  private static func checkSignatureValue(
    _ content: Span<UInt8>, _ algorithm: ParsedCertificate.SignatureAlgorithm, _ rules: CertificateRules
  ) throws(DERError) {
    guard content[0] == 0 else { throw .signatureValue }
    if algorithm == .other || !rules.checksSignatureForm { return }
    guard ECDSASignature.isWellFormed(content.extracting(1..<content.count), coordinateBytes: 48) else {
      throw .signatureValue
    }
  }
}

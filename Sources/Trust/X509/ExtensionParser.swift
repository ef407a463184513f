/// Reads `Extensions` (RFC 5280 §4.1, §4.2), the bodies of basicConstraints and keyUsage included.
internal import Bytes

enum ExtensionParser {
  struct Extensions {
    var all: [ParsedCertificate.Extension] = []
    var basicConstraints: ParsedCertificate.BasicConstraints?
    var keyUsage: ParsedCertificate.KeyUsage?
  }

  /// `content` is that of the SEQUENCE OF Extension in `der`, already known to be DER.
  static func parse(
    _ der: Span<UInt8>, _ content: Range<Int>, _ rules: CertificateRules
  ) throws(CertificateParseError) -> Extensions {
    var result = Extensions()
    do throws(DERError) {
      var reader = DERReader(der, in: content)
      while !reader.isAtEnd {
        let element = try reader.next(.sequence)
        result.all.append(try parseExtension(der, element.content, rules))
      }
    } catch {
      throw .der(error)
    }
    var seen: Set<[UInt8]> = []
    for one in result.all {
      guard seen.insert(one.identifier).inserted else { throw .duplicateExtension }
    }
    do throws(DERError) {
      for one in result.all {
        if one.identifier == ObjectIdentifiers.basicConstraints, rules.readsBasicConstraints {
          result.basicConstraints = try parseBasicConstraints(der, one.value, rules)
        } else if one.identifier == ObjectIdentifiers.keyUsage, rules.readsKeyUsage {
          result.keyUsage = try parseKeyUsage(der, one.value, rules)
        }
      }
    } catch {
      throw .der(error)
    }
    return result
  }

  /// SEQUENCE { extnID, critical BOOLEAN DEFAULT FALSE, extnValue OCTET STRING }
  private static func parseExtension(
    _ der: Span<UInt8>, _ content: Range<Int>, _ rules: CertificateRules
  ) throws(DERError) -> ParsedCertificate.Extension {
    var fields = DERReader(der, in: content)
    let identifier = try fields.next(.objectIdentifier)
    var isCritical = false
    if let critical = try fields.nextIfPresent(.boolean) {
      isCritical = try DERValue.boolean(der.extracting(critical.content))
      guard isCritical || rules.mayEncodeDefaults else { throw .encodedDefault }
    }
    let value = try fields.next(.octetString)
    try fields.expectEnd()
    return ParsedCertificate.Extension(
      identifier: der.extracting(identifier.content).array, isCritical: isCritical, value: value.content)
  }

  /// SEQUENCE { cA BOOLEAN DEFAULT FALSE, pathLenConstraint INTEGER (0..MAX) OPTIONAL }; the latter only with
  /// the former (RFC 5280 §4.2.1.9).
  private static func parseBasicConstraints(
    _ der: Span<UInt8>, _ value: Range<Int>, _ rules: CertificateRules
  ) throws(DERError) -> ParsedCertificate.BasicConstraints {
    try DERWalk.check(der, in: value)
    var outer = DERReader(der, in: value)
    var fields = DERReader(der, in: try outer.next(.sequence).content)
    var isAuthority = false
    if let flag = try fields.nextIfPresent(.boolean) {
      isAuthority = try DERValue.boolean(der.extracting(flag.content))
      guard isAuthority || rules.mayEncodeDefaults else { throw .encodedDefault }
    }
    var pathLength: Int?
    if let limit = try fields.nextIfPresent(.integer) {
      let content = der.extracting(limit.content)
      guard isAuthority, content[0] < 0x80 else { throw .basicConstraints }
      // What does not fit is longer than any chain.
      pathLength = (try? DERValue.unsigned(content)).flatMap { Int(exactly: $0) } ?? .max
    }
    try fields.expectEnd()
    return ParsedCertificate.BasicConstraints(isAuthority: isAuthority, pathLength: pathLength)
  }

  /// A BIT STRING with named bits: no trailing zero bits (X.690 §11.2.2) unless the rules let defaults be written out, at
  /// least one bit (RFC 5280 §4.2.1.3), nine at most.
  private static func parseKeyUsage(
    _ der: Span<UInt8>, _ value: Range<Int>, _ rules: CertificateRules
  ) throws(DERError) -> ParsedCertificate.KeyUsage {
    try DERWalk.check(der, in: value)
    var outer = DERReader(der, in: value)
    let content = der.extracting(try outer.next(.bitString).content)
    guard (2...3).contains(content.count) else { throw .keyUsage }
    let unused = content[0]
    let isShortest = content[content.count - 1] >> unused & 1 == 1
    guard isShortest && (content.count == 2 || unused == 7) || rules.mayEncodeDefaults else {
      throw .keyUsage
    }
    var bits: UInt16 = 0
    for byte in 1..<content.count {
      for bit in 0..<8 where content[byte] & (0x80 >> UInt8(bit)) != 0 {
        bits |= 1 << UInt16((byte - 1) * 8 + bit)
      }
    }
    guard bits != 0 else { throw .keyUsage }
    return ParsedCertificate.KeyUsage(rawValue: bits)
  }
}

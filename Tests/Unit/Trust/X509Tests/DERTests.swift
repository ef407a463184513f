/// DER as X.690 has it: heads, universal types, and the walk over them.
import TestPKI
import Testing
import Time

@testable import System
@testable import X509

@Suite struct DERTests {
  static func check(_ bytes: [UInt8], _ strictness: DERWalk.Strictness = .all) -> DERError? {
    do throws(DERError) {
      try DERWalk.check(bytes.span, strictness)
      return nil
    } catch {
      return error
    }
  }

  static func nested(_ depth: Int) -> [UInt8] {
    (1..<depth).reduce([0x30, 0x00]) { inner, _ in DERWriter.sequence(inner) }
  }

  /// X.690 by section, then limits of our own.
  static let table: [(name: String, bytes: [UInt8], error: DERError?)] = [
    ("nothing", [], .truncated),
    ("tag alone", [0x30], .truncated),
    ("§8.1.3.6 indefinite length", [0x30, 0x80, 0x00, 0x00], .indefiniteLength),
    ("§10.1 long form below 128", [0x04, 0x81, 0x01, 0x00], .nonMinimalLength),
    ("§10.1 leading zero", [0x04, 0x82, 0x00, 0x80] + [UInt8](repeating: 0, count: 128), .nonMinimalLength),
    ("three length bytes", [0x04, 0x83, 0x01, 0x00, 0x00], .lengthTooLarge),
    ("eight length bytes", [0x04, 0x88, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .lengthTooLarge),
    ("reserved length FF", [0x04, 0xFF], .lengthTooLarge),
    ("127 bytes", [0x04, 0x7F] + [UInt8](repeating: 0, count: 127), nil),
    ("128 bytes", [0x04, 0x81, 0x80] + [UInt8](repeating: 0, count: 128), nil),
    ("256 bytes", [0x04, 0x82, 0x01, 0x00] + [UInt8](repeating: 0, count: 256), nil),
    ("content cut", [0x04, 0x02, 0x00], .truncated),
    ("content longer than its container", [0x30, 0x02, 0x04, 0x01, 0x00], .truncated),
    ("two elements", [0x05, 0x00, 0x05, 0x00], .trailingBytes),
    ("§8.1.2.4 tag 31", [0x9F, 0x1F, 0x00], nil),
    ("§8.1.2.4 tag 1204", [0x9F, 0x89, 0x34, 0x00], nil),
    ("§8.1.2.2 tag 30 in long form", [0x9F, 0x1E, 0x00], .nonMinimalTag),
    ("§8.1.2.4 tag with a leading zero", [0x9F, 0x80, 0x1F, 0x00], .nonMinimalTag),
    ("tag without an end", [0x9F, 0x81], .truncated),
    ("tag of 2^28", [0x9F, 0x81, 0x80, 0x80, 0x80, 0x00, 0x00], .tagTooLarge),
    ("§8.2 TRUE", [0x01, 0x01, 0xFF], nil),
    ("§11.1 TRUE as 01", [0x01, 0x01, 0x01], .boolean),
    ("§8.2 empty BOOLEAN", [0x01, 0x00], .boolean),
    ("§8.3 empty INTEGER", [0x02, 0x00], .integer),
    ("§8.3 128", [0x02, 0x02, 0x00, 0x80], nil),
    ("§8.3 127 with a zero", [0x02, 0x02, 0x00, 0x7F], .integer),
    ("§8.3 -128 with a sign", [0x02, 0x02, 0xFF, 0x80], .integer),
    ("§8.3 -129", [0x02, 0x02, 0xFF, 0x7F], nil),
    ("§8.6 empty BIT STRING", [0x03, 0x01, 0x00], nil),
    ("§8.6 no initial octet", [0x03, 0x00], .bitString),
    ("§8.6 unused bits of nothing", [0x03, 0x01, 0x01], .bitString),
    ("§8.6 eight unused bits", [0x03, 0x02, 0x08, 0x00], .bitString),
    ("§11.2.1 unused bit set", [0x03, 0x02, 0x01, 0x01], .bitString),
    ("§10.2 constructed OCTET STRING", [0x24, 0x03, 0x04, 0x01, 0x00], .wrongForm),
    ("§8.9 primitive SEQUENCE", [0x10, 0x00], .wrongForm),
    ("§8.8 NULL with content", [0x05, 0x01, 0x00], .null),
    ("§8.19 empty OBJECT IDENTIFIER", [0x06, 0x00], .objectIdentifier),
    ("§8.19 leading 80", [0x06, 0x02, 0x80, 0x01], .objectIdentifier),
    ("§8.19 unfinished", [0x06, 0x02, 0x2A, 0x86], .objectIdentifier),
    ("§8.19 80 within a subidentifier", [0x06, 0x03, 0x81, 0x80, 0x01], nil),
    ("UTF8String cut", [0x0C, 0x01, 0xC3], .characterString),
    ("PrintableString with @", [0x13, 0x01, 0x40], .characterString),
    ("PrintableString", [0x13, 0x02, 0x41, 0x27], nil),
    ("IA5String with 80", [0x16, 0x01, 0x80], .characterString),
    ("unknown universal type", [0x1A, 0x00], .unexpectedTag),
    ("§11.6 SET in order", [0x31, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x02], nil),
    ("§11.6 SET out of order", [0x31, 0x06, 0x02, 0x01, 0x02, 0x02, 0x01, 0x01], .unorderedSet),
    ("§11.6 SET with equals", [0x31, 0x06, 0x02, 0x01, 0x01, 0x02, 0x01, 0x01], .unorderedSet),
    ("UTCTime", DERWriter.utcTime("260228235959Z"), nil),
    ("UTCTime without seconds", DERWriter.utcTime("2602282359Z"), .time),
    ("UTCTime with an offset", DERWriter.utcTime("260228235959+0000"), .time),
    ("UTCTime on 30 February", DERWriter.utcTime("260230000000Z"), .time),
    ("UTCTime with a leap second", DERWriter.utcTime("260228235960Z"), .time),
    ("GeneralizedTime", DERWriter.element([0x18], Array("20500101000000Z".utf8)), nil),
    ("GeneralizedTime with a fraction", DERWriter.element([0x18], Array("20500101000000.5Z".utf8)), .time),
    ("12 deep", nested(12), nil),
    ("13 deep", nested(13), .tooDeep),
    (
      "512 elements", DERWriter.element([0x30], Array(repeating: [0x05, 0x00], count: 511).flatMap { $0 }),
      nil
    ),
    (
      "513 elements", DERWriter.element([0x30], Array(repeating: [0x05, 0x00], count: 512).flatMap { $0 }),
      .tooManyElements
    ),
  ]

  @Test(arguments: table) func rule(name: String, bytes: [UInt8], error: DERError?) {
    #expect(Self.check(bytes) == error, "\(name)")
  }

  /// What devices write, of which nobody reads the texts, dates and types that certificates do not have.
  @Test(
    arguments: [
      ("REAL", [0x09, 0x03, 0x80, 0x00, 0x01], nil), ("T61String", [0x14, 0x01, 0xE4], nil),
      ("VisibleString", [0x1A, 0x01, 0x41], nil), ("GeneralString", [0x1B, 0x01, 0xFF], nil),
      ("UniversalString", [0x1C, 0x04, 0x00, 0x00, 0x00, 0x41], nil),
      ("BMPString", [0x1E, 0x02, 0x00, 0x41], nil), ("PrintableString with @", [0x13, 0x01, 0x40], nil),
      ("UTF8String cut", [0x0C, 0x01, 0xC3], nil), ("TIME", [0x0E, 0x00], nil),
      ("type 37", [0x1F, 0x25, 0x00], nil),
      ("a SET out of order", [0x31, 0x05, 0x05, 0x00, 0x01, 0x01, 0x00], nil),
      ("BOOLEAN 01", [0x01, 0x01, 0x01], .boolean), ("127 with a zero", [0x02, 0x02, 0x00, 0x7F], .integer),
      ("NULL with content", [0x05, 0x01, 0x00], .null),
      ("OBJECT IDENTIFIER cut", [0x06, 0x01, 0x86], .objectIdentifier),
      ("end of contents", [0x00, 0x00], .unexpectedTag), ("BMPString in parts", [0x3E, 0x00], .wrongForm),
      ("BMPString of an indefinite length", [0x1E, 0x80, 0x00, 0x00], .indefiniteLength),
      ("BMPString with a long length", [0x1E, 0x81, 0x02, 0x00, 0x41], .nonMinimalLength),
    ] as [(String, [UInt8], DERError?)])
  func ofDevices(name: String, bytes: [UInt8], error: DERError?) {
    #expect(Self.check(bytes, .devices) == error, "\(name)")
  }

  /// Heads alone, of whatever depth: what is in values is for who reads them.
  @Test(
    arguments: [
      ("BOOLEAN 01", [0x01, 0x01, 0x01], nil), ("127 with a zero", [0x02, 0x02, 0x00, 0x7F], nil),
      ("OCTET STRING in parts", [0x24, 0x02, 0x04, 0x00], nil),
      ("a primitive SEQUENCE", [0x10, 0x01, 0x80], nil),
      ("NULL with content", [0x05, 0x01, 0x00], nil), ("2,000 deep", nested(2000), nil),
      ("an indefinite length within", [0xA1, 0x04, 0x30, 0x80, 0x00, 0x00], .indefiniteLength),
      ("a long length within", [0xA1, 0x03, 0x04, 0x81, 0x00], .nonMinimalLength),
      ("more within than there is", [0xA1, 0x02, 0x04, 0x01], .truncated),
      ("two elements", [0x05, 0x00, 0x05, 0x00], .trailingBytes),
    ] as [(String, [UInt8], DERError?)])
  func heads(name: String, bytes: [UInt8], error: DERError?) {
    #expect(Self.check(bytes, .heads) == error, "\(name)")
  }

  /// Nobody has said how deep devices may nest.
  @Test func depthOfDevices() {
    #expect(Self.check(Self.nested(2000), .devices) == nil)
  }

  @Test(arguments: [(4096, nil), (4097, .tooManyElements)] as [(Int, DERError?)])
  func elementsOfDevices(count: Int, error: DERError?) {
    let bytes = DERWriter.element([0x30], Array(repeating: [0x05, 0x00], count: count - 1).flatMap { $0 })
    #expect(Self.check(bytes, .devices) == error)
  }

  @Test(arguments: [("500101000000Z", -631_152_000), ("491231235959Z", 2_524_607_999), ("700101000000Z", 0)])
  func centuries(text: String, seconds: Int64) throws {
    let bytes = Array(text.utf8)
    let time = try DERValue.utcTime(bytes.span)
    #expect(time.seconds == seconds)
  }

  private static func certificate(
    subject: [UInt8] = DERWriter.name("Test"), constraints: [UInt8] = DERWriter.sequence(),
    serial: [UInt8] = [1], afterKey: [UInt8] = []
  ) -> [UInt8] {
    var certificate = TestCertificate(
      issuer: DERWriter.name("Test Authority"), subject: subject,
      key: TestKey.p256().subjectPublicKeyInfo, extensions: [])
    (certificate.serial, certificate.afterKey) = (serial, afterKey)
    certificate.set(ObjectIdentifiers.basicConstraints, critical: DERWriter.true, constraints)
    certificate.set(ObjectIdentifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x04, 0xF0])
    return certificate.encoded(signedBy: TestKey.p384())
  }

  private static func parsed(
    _ certificate: [UInt8], _ strictness: DERWalk.Strictness = .all
  ) -> ParsedCertificate? {
    var rules = CertificateRules()
    rules.strictness = strictness
    return try? CertificateParser.parse(certificate.span, rules: rules)
  }

  /// A maker's name in two-byte characters, and one of two parts in no order.
  @Test func namesOfDevices() {
    func part(_ value: [UInt8]) -> [UInt8] {
      DERWriter.sequence(DERWriter.identifier([0x55, 0x04, 0x03]), value)
    }
    for subject in [
      DERWriter.sequence(DERWriter.set(part([0x1E, 0x02, 0x4E, 0x2D]))),
      DERWriter.sequence(DERWriter.set(part(DERWriter.utf8("b")), part(DERWriter.utf8("a")))),
    ] {
      let certificate = Self.certificate(subject: subject)
      #expect(Self.parsed(certificate) == nil)
      #expect(Self.parsed(certificate, .devices)?.subject == subject)
    }
  }

  /// What RFC 5280 forbids authorities, and X.509 does not.
  @Test(
    arguments: [
      ([1], [], true), ([1] + Array(repeating: 0, count: 21), [], true),
      ([1], [0x81, 0x02, 0x00, 0xAA], true),
      ([1], [0x82, 0x01, 0x00], true), ([1], [0x81, 0x01, 0x00, 0x82, 0x02, 0x04, 0xA0], true),
      ([1], [0x82, 0x01, 0x00, 0x81, 0x01, 0x00], false), ([1], [0x81, 0x01, 0x00, 0x81, 0x01, 0x00], false),
      ([1], [0x81, 0x00], false), ([1], [0x81, 0x02, 0x01, 0x01], false),
      ([1], [0xA1, 0x03, 0x03, 0x01, 0x00], false),
      ([1], [0x84, 0x01, 0x00], false),
    ] as [([UInt8], [UInt8], Bool)])
  func profile(serial: [UInt8], afterKey: [UInt8], isWellFormed: Bool) {
    let certificate = Self.certificate(serial: serial, afterKey: afterKey)
    #expect((Self.parsed(certificate) != nil) == (serial.count <= 21 && afterKey.isEmpty))
    var rules = CertificateRules()
    rules.keepsToProfile = false
    #expect(((try? CertificateParser.parse(certificate.span, rules: rules)) != nil) == isWellFormed)
  }

  @Test(
    arguments: [
      ([0x00], 0), ([0x7F], 127), ([0x00, 0x80], 128), ([0x01, 0x00], 256),
      ([0x00] + Array(repeating: 0xFF, count: 8), .max),
      ([0x01] + Array(repeating: 0, count: 12), .max), ([0xFF], nil), ([0x00, 0x7F], nil),
    ] as [([UInt8], Int?)])
  func pathLengths(content: [UInt8], length: Int?) {
    let constraints = DERWriter.sequence(DERWriter.true, DERWriter.integer(content))
    #expect(Self.parsed(Self.certificate(constraints: constraints))?.basicConstraints?.pathLength == length)
  }

  /// No prefix of a certificate is one, and none makes the parser trap.
  @Test func prefixes() {
    let certificate = Self.certificate()
    for count in 0..<certificate.count {
      #expect(Self.check(Array(certificate[..<count])) != nil)
    }
    #expect(Self.check(certificate) == nil)
  }

  /// Whatever bytes come, the parser returns: a certificate with one or two of them changed.
  @Test func changedBytes() {
    let certificate = Self.certificate()
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      var changed = certificate
      for _ in 0..<2 {
        changed[Int.random(in: changed.indices, using: &generator)] = UInt8.random(
          in: 0...255, using: &generator)
      }
      _ = try? CertificateParser.parse(changed.span)
    }
  }
}

/// docs/app-attest.md, "Attestation" on a test PKI: each case breaks one thing of a valid chain.
import TestPKI
import Testing
import Time

@testable import AppAttest
@testable import Bytes
@testable import Crypto
@testable import System
@testable import X509

private typealias Identifiers = ObjectIdentifiers

@Suite struct ChainTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let error: AttestationError?
    let change: @Sendable (inout AttestationBuilder) -> Void

    init(
      _ name: String, _ error: AttestationError?,
      _ change: @escaping @Sendable (inout AttestationBuilder) -> Void
    ) {
      testDescription = name
      self.error = error
      self.change = change
    }
  }

  static let signatureFailure = CertificateError.notIssued(code: 7)

  static let encodings: [Case] = [
    Case("valid", nil) { _ in },
    Case("version 1, encoded", .certificate(.leaf, .notVersion3)) {
      $0.leaf.version = [0xA0, 0x03, 0x02, 0x01, 0x00]
    },
    Case("no version", .certificate(.leaf, .notVersion3)) { $0.leaf.version = [] },
    Case("serial of 21 bytes", nil) { $0.leaf.serial = [0x00, 0x80] + [UInt8](repeating: 1, count: 19) },
    Case("serial of 22 bytes", .certificate(.leaf, .serialNumber)) {
      $0.leaf.serial = [UInt8](repeating: 1, count: 22)
    },
    Case("serial not minimal", .certificate(.leaf, .integer)) { $0.leaf.serial = [0x00, 0x01] },
    Case("unique identifier", .certificate(.leaf, .unexpectedTag)) {
      $0.leaf.afterKey = [0x81, 0x02, 0x00, 0x01]
    },
    Case("something after the extensions", .certificate(.leaf, .trailingBytes)) {
      $0.leaf.afterExtensions = [0x05, 0x00]
    },
    Case("something after the certificate", .certificate(.leaf, .trailingBytes)) {
      $0.leaf.breakWhole = { $0 + [0] }
    },
    Case("no extensions", .certificate(.leaf, .noExtensions)) {
      $0.leaf.extensions = []
      $0.nonceExtension = { _ in [] }
    },
    Case("the same extension twice", .duplicateExtension(.intermediate)) {
      $0.intermediate.extensions.append($0.intermediate.extensions[0])
    },
    Case("critical FALSE is encoded", .certificate(.leaf, .encodedDefault)) {
      $0.leaf.set(AppleIdentifiers.keyOwner, critical: DERWriter.false, [0x30, 0x00])
    },
    Case("critical is neither 00 nor FF", .certificate(.leaf, .boolean)) {
      $0.leaf.set(Identifiers.keyUsage, critical: [0x01, 0x01, 0x01], [0x03, 0x02, 0x04, 0xF0])
    },
    Case("cA FALSE is encoded", .certificate(.leaf, .encodedDefault)) {
      $0.leaf.set(Identifiers.basicConstraints, critical: DERWriter.true, DERWriter.sequence(DERWriter.false))
    },
    Case("cA is neither 00 nor FF", .certificate(.intermediate, .boolean)) {
      $0.intermediate.set(
        Identifiers.basicConstraints, critical: DERWriter.true,
        [0x30, 0x06, 0x01, 0x01, 0x01, 0x02, 0x01, 0x00])
    },
    Case("path length without cA", .certificate(.leaf, .basicConstraints)) {
      $0.leaf.set(
        Identifiers.basicConstraints, critical: DERWriter.true, DERWriter.sequence(DERWriter.integer([0])))
    },
    Case("path length not minimal", .certificate(.intermediate, .integer)) {
      $0.intermediate.set(
        Identifiers.basicConstraints, critical: DERWriter.true,
        DERWriter.sequence(DERWriter.true, DERWriter.integer([0, 0])))
    },
    Case("path length negative", .certificate(.intermediate, .basicConstraints)) {
      $0.intermediate.set(
        Identifiers.basicConstraints, critical: DERWriter.true,
        DERWriter.sequence(DERWriter.true, DERWriter.integer([0xFF])))
    },
    Case("something after path length", .certificate(.intermediate, .trailingBytes)) {
      $0.intermediate.set(
        Identifiers.basicConstraints, critical: DERWriter.true,
        DERWriter.sequence(DERWriter.true, DERWriter.integer([0]), DERWriter.integer([0])))
    },
    Case("something after basicConstraints", .certificate(.leaf, .trailingBytes)) {
      $0.leaf.set(Identifiers.basicConstraints, critical: DERWriter.true, [0x30, 0x00, 0x05, 0x00])
    },
    Case("key usage with a long length", .certificate(.leaf, .nonMinimalLength)) {
      $0.leaf.set(Identifiers.keyUsage, critical: DERWriter.true, [0x03, 0x81, 0x02, 0x04, 0xF0])
    },
    Case("key usage ends in zero bits", .certificate(.leaf, .keyUsage)) {
      $0.leaf.set(Identifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x00, 0xF0])
    },
    Case("key usage sets unused bits", .certificate(.leaf, .bitString)) {
      $0.leaf.set(Identifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x04, 0xF1])
    },
    Case("key usage without a bit", .certificate(.leaf, .keyUsage)) {
      $0.leaf.set(Identifiers.keyUsage, critical: DERWriter.true, [0x03, 0x01, 0x00])
    },
    Case("key usage with nine bits", nil) {
      $0.leaf.set(Identifiers.keyUsage, critical: DERWriter.true, [0x03, 0x03, 0x07, 0x80, 0x80])
    },
    Case("key usage with ten bits", .certificate(.leaf, .keyUsage)) {
      $0.leaf.set(Identifiers.keyUsage, critical: DERWriter.true, [0x03, 0x03, 0x06, 0x80, 0x40])
    },
    Case("the signature has unused bits", .certificate(.leaf, .signatureValue)) {
      $0.leaf.unusedSignatureBits = 1
      $0.leaf.breakSignature = { $0.dropLast() + [0x02] }
    },
    Case("the signature is not minimal", .certificate(.leaf, .signatureValue)) {
      $0.leaf.breakSignature = { $0 + [0x00] }
    },
    Case("a certificate too large", .certificateTooLarge(.leaf)) {
      $0.leaf.set([0x2A, 0x03], [UInt8](repeating: 0, count: 4096))
    },
  ]

  static let rules: [Case] = [
    Case("leaf names another issuer", .issuerName(.leaf)) {
      $0.leaf.issuer = DERWriter.name("Test Intermediat")
    },
    Case("intermediate names another issuer", .issuerName(.intermediate)) {
      $0.intermediate.issuer = DERWriter.name("test root")
    },
    Case("intermediate expired", .validity(.intermediate)) { $0.intermediate.notAfter = "260921141319Z" },
    Case("leaf expired", .validity(.leaf)) { $0.leaf.notAfter = "260921141319Z" },
    Case("leaf in its last second", nil) { $0.leaf.notAfter = "260921141320Z" },
    Case("leaf in its first second", nil) { $0.leaf.notBefore = "260921141320Z" },
    Case("leaf not yet valid", .validity(.leaf)) { $0.leaf.notBefore = "260921141321Z" },
    Case("intermediate without basicConstraints", .authority(.intermediate)) {
      $0.intermediate.remove(Identifiers.basicConstraints)
    },
    Case("intermediate is no authority", .authority(.intermediate)) {
      $0.intermediate.set(Identifiers.basicConstraints, critical: DERWriter.true, DERWriter.sequence())
    },
    Case("intermediate without path length", .authority(.intermediate)) {
      $0.intermediate.set(
        Identifiers.basicConstraints, critical: DERWriter.true, DERWriter.sequence(DERWriter.true))
    },
    Case("intermediate with path length 1", .authority(.intermediate)) {
      $0.intermediate.set(
        Identifiers.basicConstraints, critical: DERWriter.true,
        DERWriter.sequence(DERWriter.true, DERWriter.integer([1])))
    },
    Case("leaf is an authority", .authority(.leaf)) {
      $0.leaf.set(Identifiers.basicConstraints, critical: DERWriter.true, DERWriter.sequence(DERWriter.true))
    },
    Case("leaf without basicConstraints is no authority", nil) {
      $0.leaf.remove(Identifiers.basicConstraints)
    },
    Case("intermediate without key usage", .keyUsage(.intermediate)) {
      $0.intermediate.remove(Identifiers.keyUsage)
    },
    Case("intermediate may not sign certificates", .keyUsage(.intermediate)) {
      $0.intermediate.set(Identifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x01, 0x02])
    },
    Case("leaf without key usage", .keyUsage(.leaf)) { $0.leaf.remove(Identifiers.keyUsage) },
    Case("leaf may not sign", .keyUsage(.leaf)) {
      $0.leaf.set(Identifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x04, 0x70])
    },
    Case("leaf may sign certificates", .keyUsage(.leaf)) {
      $0.leaf.set(Identifiers.keyUsage, critical: DERWriter.true, [0x03, 0x02, 0x02, 0x84])
    },
    Case("unknown critical extension in the intermediate", .criticalExtension(.intermediate)) {
      $0.intermediate.set([0x2A, 0x03], critical: DERWriter.true, [0x05, 0x00])
    },
    Case("unknown critical extension in the leaf", .criticalExtension(.leaf)) {
      $0.leaf.set([0x2A, 0x03], critical: DERWriter.true, [0x05, 0x00])
    },
    Case("unknown extension in the leaf", nil) { $0.leaf.set([0x2A, 0x03], [0x05, 0x00]) },
    Case("extended key usage of Apple's", nil) {
      $0.leaf.set(
        [0x55, 0x1D, 0x25],
        [0x30, 0x0B, 0x06, 0x09, 0x2A, 0x86, 0x48, 0x86, 0xF7, 0x63, 0x64, 0x04, 0x18])
    },
    Case("leaf signed with SHA-384", .signatureAlgorithm(.leaf)) {
      $0.leaf.algorithm = TestCertificate.ecdsaWithSHA384
      $0.leaf.isSignedWithSHA384 = true
    },
    Case("intermediate signed with SHA-256", nil) {
      $0.intermediate.algorithm = TestCertificate.ecdsaWithSHA256
      $0.intermediate.isSignedWithSHA384 = false
    },
    Case("algorithm with parameters", .signatureAlgorithm(.leaf)) {
      $0.leaf.algorithm = [0x30, 0x0C] + TestCertificate.ecdsaWithSHA256[2...] + [0x05, 0x00]
    },
    Case("inner and outer algorithm differ", .signatureAlgorithm(.leaf)) {
      $0.leaf.outerAlgorithm = TestCertificate.ecdsaWithSHA256
      $0.leaf.algorithm = TestCertificate.ecdsaWithSHA384
    },
    Case("intermediate with a key on P-256", .intermediateKey) {
      $0.intermediate.key = AttestationBuilder.deviceKey.subjectPublicKeyInfo
    },
    Case("leaf with a key on P-384", .leafKey) {
      $0.leaf.key = AttestationBuilder.otherKey.subjectPublicKeyInfo
    },
    Case("leaf's point is not on the curve", .leafKey) { $0.leaf.key[$0.leaf.key.count - 1] ^= 1 },
    Case("leaf's point in hybrid form", .leafKey) { $0.leaf.key[26] = 0x06 },
    Case("intermediate signed by another root", .signature(.intermediate, signatureFailure)) {
      $0.intermediateSigner = AttestationBuilder.otherKey
    },
    Case("leaf signed by another intermediate", .signature(.leaf, signatureFailure)) {
      $0.leafSigner = AttestationBuilder.otherKey
    },
    Case("leaf signed by itself", .signature(.leaf, signatureFailure)) {
      $0.leafSigner = AttestationBuilder.deviceKey
    },
    Case("one certificate", .certificateCount) { $0.certificates = [AttestationBuilder.rootCertificate] },
    Case("no certificate", .certificateCount) { $0.certificates = [] },
    Case("three certificates", .certificateCount) {
      $0.certificates = [[], [], AttestationBuilder.rootCertificate]
    },
    Case("empty certificates", .certificate(.leaf, .truncated)) { $0.certificates = [[], []] },
  ]

  @Test(arguments: encodings + rules) func oneThingBroken(_ one: Case) {
    var builder = AttestationBuilder()
    one.change(&builder)
    #expect(builder.error() == one.error)
  }

  /// The same with an intermediate that has been seen: only what the root signed is remembered, and nothing
  /// is excused.
  @Test(arguments: encodings + rules) func oneThingBrokenAfterAGoodOne(_ one: Case) {
    let verifier = AttestationBuilder.verifier()
    var builder = AttestationBuilder()
    #expect(builder.error(verifier: verifier) == nil)
    one.change(&builder)
    #expect(builder.error(verifier: verifier) == one.error)
  }

  @Test func rememberedIntermediateExpires() {
    let verifier = AttestationBuilder.verifier()
    var builder = AttestationBuilder()
    builder.intermediate.notAfter = "260921141320Z"
    let second = UnixTime(milliseconds: AttestationBuilder.now.milliseconds + 1000)
    #expect(builder.error(verifier: verifier) == nil)
    #expect(builder.error(at: second, verifier: verifier) == .validity(.intermediate))
    let before = UnixTime(milliseconds: AttestationBuilder.now.milliseconds - 400 * 86_400_000)
    #expect(builder.error(at: before, verifier: verifier) == .validity(.root))
  }

  @Test func memoryIsBounded() throws {
    let verifier = AttestationBuilder.verifier()
    for serial in UInt8(1)...20 {
      var builder = AttestationBuilder()
      builder.intermediate.serial = [serial]
      #expect(builder.error(verifier: verifier) == nil)
      #expect(builder.error(verifier: verifier) == nil)
    }
  }

  @Test func rootsThatAreNone() throws {
    let apple = AttestationRoot.apple()
    #expect(apple.isApple)
    #expect(throws: AttestationRootError.notPEM) { try AttestationRoot(pem: Array("nothing".utf8).span) }
    let twice = AppleRoot.pem + AppleRoot.pem
    #expect(throws: AttestationRootError.notPEM) { try AttestationRoot(pem: Array(twice.utf8).span) }
    #expect(throws: AttestationRootError.malformed) { try AttestationRoot(der: [UInt8]([0x30, 0x00]).span) }
    let builder = AttestationBuilder()
    let intermediate = builder.intermediate.encoded(signedBy: AttestationBuilder.rootKey)
    #expect(throws: AttestationRootError.notRootAuthority) { try AttestationRoot(der: intermediate.span) }
    let certificate = AttestationBuilder.rootCertificate
    let ours = try AttestationRoot(der: certificate.span)
    #expect(!ours.isApple)
  }
}

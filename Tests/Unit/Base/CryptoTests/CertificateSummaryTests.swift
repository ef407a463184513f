/// Certificates in PEM files as an operator sees them.
import Testing
import Time

@testable import Crypto
@testable import System

@Suite struct CertificateSummaryTests {
  private let now = UnixTime(milliseconds: 1_771_286_400_000)

  @Test func datesAndSubjectsOfAllAreRead() throws {
    let first = try SelfSignedCertificate.localhost(now: now)
    let second = try SelfSignedCertificate.localhost()
    let pem = Array("before\n\(first.certificate.pem)between\n\(second.certificate.pem)after\n".utf8)
    let found = try CertificateSummary.all(inPEM: pem.span)
    #expect(found.count == 2)
    #expect(found.first?.notBefore == now.adding(days: -1))
    #expect(found.first?.notAfter == now.adding(days: 30))
    #expect(found.first?.subject.contains("CN=") == true)
  }

  /// Whatever else it is for, and with names that no host has: OpenSSL takes each byte.
  @Test func hostsAreThoseOfItsNames() throws {
    let names: [CertificateExtension.AlternativeName] = [
      .address([127, 0, 0, 1]), .dns("gate.example.org"), .dns("*.games.example"), .dns(""),
      .dns("a\0b.example"), .dns("a\r\nX: y"), .dns(String(repeating: "a", count: 300)), .dns("last.example"),
    ]
    let key = try SigningKey.generate(.p256)
    let name = DistinguishedName((.commonName, "not-a-name.example"))
    let builder = CertificateBuilder(
      subject: name, issuer: name, notBefore: now, notAfter: now.adding(days: 1),
      extensions: [.subjectAlternativeNames(names)])
    let certificate = try builder.sign(subjectPublicKeyInfo: key.subjectPublicKeyInfo(), with: key)
    let pem = Array(certificate.pem.utf8)
    let found = try CertificateSummary.all(inPEM: pem.span)
    #expect(found.first?.hosts == ["gate.example.org", "*.games.example", "last.example"])
    let none = Array(try SelfSignedCertificate.localhost(now: now).certificate.pem.utf8)
    #expect(try CertificateSummary.all(inPEM: none.span).first?.hosts == ["localhost"])
  }

  @Test(arguments: ["", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
  func othersAreRefused(text: String) {
    let pem = Array(text.utf8)
    #expect(throws: CertificateError.malformedPEM) { try CertificateSummary.all(inPEM: pem.span) }
  }

  @Test func oneThatIsDamagedSpoilsAll() throws {
    let good = try SelfSignedCertificate.localhost(now: now).certificate.pem
    let pem = Array((good + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").utf8)
    #expect(throws: CertificateError.malformedPEM) { try CertificateSummary.all(inPEM: pem.span) }
  }
}

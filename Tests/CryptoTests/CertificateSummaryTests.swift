/// Certificates in PEM files as an operator sees them.
import Testing

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

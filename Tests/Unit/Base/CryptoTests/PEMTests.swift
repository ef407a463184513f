/// Certificates in PEM, by the three ways to read them.
import Glibc
import Testing

@testable import Crypto

@Suite struct PEMTests {
  @Test func textAroundIsFreeAndOtherBlocksArePassedOverOrNot() throws {
    let made = try SelfSignedCertificate.localhost()
    let der = made.certificate.der
    let key = try made.key.pem()
    let with = Array("before\n\(key)between\n\(made.certificate.pem)behind\n".utf8)
    #expect(try Certificate.der(fromPEM: with.span) == der)
    #expect(throws: CertificateError.malformedPEM) { try Certificate.contents(ofPEM: with.span) }
    let alone = Array("before\n\(made.certificate.pem)behind\n".utf8)
    #expect(try Certificate.contents(ofPEM: alone.span) == [der])
  }

  @Test func oneIsOne() throws {
    let first = try SelfSignedCertificate.localhost().certificate
    let second = try SelfSignedCertificate.localhost().certificate
    let two = Array((first.pem + second.pem).utf8)
    #expect(throws: CertificateError.malformedPEM) { try Certificate.der(fromPEM: two.span) }
    #expect(try Certificate.contents(ofPEM: two.span) == [first.der, second.der])
    // What is behind it is not looked at, unless it is another one.
    let rubbish = Array((first.pem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").utf8)
    #expect(try Certificate.der(fromPEM: rubbish.span) == first.der)
  }

  @Test(arguments: ["", "nothing", "-----BEGIN CERTIFICATE-----\n", "-----BEGIN CERTIFICATE-----\nAAAA\n"])
  func none(text: String) {
    let bytes = Array(text.utf8)
    #expect(throws: CertificateError.malformedPEM) { try Certificate.der(fromPEM: bytes.span) }
    #expect(throws: CertificateError.malformedPEM) { try Certificate.contents(ofPEM: bytes.span) }
  }

  /// In a process of its own, which somebody would answer with the right pass phrase: no terminal, and standard input
  /// that has it.
  @Test func nobodyIsAskedForAPassPhrase() async {
    await #expect(processExitsWith: .success) {
      _ = setsid()
      var ends: [Int32] = [-1, -1]
      guard unsafe pipe(&ends) == 0, dup2(ends[0], 0) == 0 else { exit(1) }
      let answer = Array("password\npassword\n".utf8)
      guard unsafe write(ends[1], answer, answer.count) == answer.count else { exit(2) }
      guard isRefused(Array(encryptedCertificate.utf8)) else { exit(4) }
      // All of it is still there.
      close(ends[1])
      var left = [UInt8](repeating: 0, count: 32)
      guard unsafe read(0, &left, 32) == answer.count else { exit(3) }
      exit(0)
    }
  }
}

/// By whatever turns text into a certificate.
private func isRefused(_ text: [UInt8]) -> Bool {
  (try? Certificate.der(fromPEM: text.span)) == nil && (try? CertificateSummary.all(inPEM: text.span)) == nil
    && (try? PublicKeyPin.ofCertificate(inPEM: text.span)) == nil
}

/// Under the pass phrase "password" (RFC 1421 §4.6.1.1 and OpenSSL's `PEM_ASN1_write_bio`); made with Python's `cryptography`
/// and read by `openssl x509 -passin`.
private let encryptedCertificate = """
  -----BEGIN CERTIFICATE-----
  Proc-Type: 4,ENCRYPTED
  DEK-Info: AES-256-CBC,000102030405060708090A0B0C0D0E0F

  QJp4p0PpowotUeP86yDQH40O1PpQ9CN+bELtUr8WDlFNGn4wDTO7csZaP5ro79K7
  GQta7jl1GMoFK+ukbfUz611YBOy8TQy7HLWp0erKsOsZcPqpIbjrKnaF69ZglwIy
  r4LF3fMCDx0H+7NZQkKrmmNAVu4YGGGjKAYcFl//e7B1ZFyNJlvhRkCNyyzdnqm6
  UdH1RAjpPQWcsEpI1arW+DUjjVUZO4jVMIwPU32pI7B47eJ5ru47ALi8J93NvJLi
  /wUBfyWJVHuktCg8nh9asNdu6KPttcUJh5dLdc+poQTubCY1fXFAUgkAQYmUgcQI
  ehX/xC9wY8LM75DpxA3wBBZNbuEE6NjmO5CeCWAlchA=
  -----END CERTIFICATE-----

  """

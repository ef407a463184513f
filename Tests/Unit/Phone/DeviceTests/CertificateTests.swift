import Bytes
import Crypto
import Device
import Kit
import Obligation
import System
import Testing
import Time

/// `openssl` is the judge of what is issued here.
@Suite(
  .enabled(if: Obligation.runs(Tool.openssl != nil, "openssl"), "openssl is not installed"),
  .timeLimit(.minutes(2)))
struct CertificateTests {
  private let folder: TestFolder
  private let openssl: String

  init() throws {
    folder = try TestFolder("device-")
    openssl = try #require(Tool.openssl)
  }

  @Test func theSelfSignedCertificateIsGoodForLoopback() throws {
    let made = try SelfSignedCertificate.localhost()
    let path = try folder.write("self.pem", made.certificate.pem)
    for name in [["-verify_hostname", "localhost"], ["-verify_ip", "127.0.0.1"], ["-verify_ip", "::1"]] {
      let verdict = try Tool.run(
        openssl, ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", path] + name + [path])
      #expect(verdict.status == 0, "\(verdict.output)")
    }
    let other = try Tool.run(openssl, ["verify", "-CAfile", path, "-verify_hostname", "example.org", path])
    #expect(other.status != 0)
    let printed = try Tool.run(openssl, ["x509", "-in", path, "-noout", "-fingerprint", "-sha256"]).output
    #expect(printed.contains(made.fingerprint))
    #expect(made.fingerprint.utf8.count == 95)
  }

  @Test func serialNumbersArePositiveSixteenBytesAndDiffer() throws {
    var seen: Set<String> = []
    for _ in 0..<4 {
      let made = try SelfSignedCertificate.localhost()
      let path = try folder.write("self.pem", made.certificate.pem)
      let serial = try Tool.run(openssl, ["x509", "-in", path, "-noout", "-serial"]).output
      #expect(serial.hasPrefix("serial=") && serial.utf8.count == 7 + 32 + 1)
      seen.insert(serial)
    }
    #expect(seen.count == 4)
  }

  @Test(arguments: [
    ("2049-12-31T23:59:59.000Z", "UTCTIME           :491231235959Z"),
    ("2050-01-01T00:00:00.000Z", "GENERALIZEDTIME   :20500101000000Z"),
  ])
  func datesChangeTheirFormIn2050(date: String, expected: String) throws {
    let key = try SigningKey.generate(.p256)
    let name = DistinguishedName((.commonName, "dates"))
    let builder = CertificateBuilder(
      subject: name, issuer: name, notBefore: UnixTime(milliseconds: 0),
      notAfter: try #require(UnixTime(timestamp: date)), extensions: [])
    let certificate = try builder.sign(subjectPublicKeyInfo: key.subjectPublicKeyInfo(), with: key)
    let path = try folder.write("dates.der", certificate.der)
    let parsed = try Tool.run(openssl, ["asn1parse", "-inform", "DER", "-in", path])
    #expect(parsed.output.contains(expected), "\(parsed.output)")
    #expect(parsed.output.contains("UTCTIME           :700101000000Z"))
  }

  @Test(arguments: [SigningKey.Curve.p256, .p384])
  func keysSurviveTheirTextAndSign(curve: SigningKey.Curve) throws {
    let key = try SigningKey.generate(curve)
    let pem = try key.pem()
    let copy = try SigningKey.read(pem: Array(pem.utf8))
    let points = (try key.publicPoint(), try copy.publicPoint())
    #expect(points.0 == points.1)
    #expect(points.0.count == (curve == .p256 ? 65 : 97))
    let keyPath = try folder.write("key.pem", pem)
    #expect(try Tool.run(openssl, ["pkey", "-in", keyPath, "-check", "-noout"]).status == 0)
    let publicPath = try folder.write(
      "public.pem", PEMBlock.encode("PUBLIC KEY", try key.subjectPublicKeyInfo()))
    let message = Array("what is signed".utf8)
    let messagePath = try folder.write("message", message)
    let signaturePath = try folder.write("signature", try copy.sign(message))
    let verdict = try Tool.run(
      openssl, ["dgst", "-sha256", "-verify", publicPath, "-signature", signaturePath, messagePath])
    #expect(verdict.output.contains("Verified OK"))
  }

  @Test(arguments: ["", "no PEM", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
  func whatIsNoKeyIsRefused(text: String) {
    #expect(throws: IssuingError.self) { _ = try SigningKey.read(pem: Array(text.utf8)).publicPoint() }
  }

  @Test func keysOfOtherKindsAreRefused() throws {
    for options in [["-algorithm", "ED25519"], ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"]] {
      let path = folder.file("other.pem")
      #expect(try Tool.run(openssl, ["genpkey", "-out", path] + options).status == 0)
      let pem = try WholeFile.read(path)
      #expect(throws: IssuingError.unsupportedKey) { _ = try SigningKey.read(pem: pem).publicPoint() }
    }
  }
}

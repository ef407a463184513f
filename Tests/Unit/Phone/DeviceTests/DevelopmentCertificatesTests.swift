import Device
import Dialing
import Foundation
import Kit
import Obligation
import System
import Testing
import Time

@Suite(
  .enabled(if: Obligation.runs(Tool.openssl != nil, "openssl"), "openssl is not installed"),
  .timeLimit(.minutes(2)))
struct DevelopmentCertificatesTests {
  private typealias Name = DevelopmentCertificates.FileName
  private let folder: TestFolder
  private let openssl: String

  init() throws {
    folder = try TestFolder("device-")
    openssl = try #require(Tool.openssl)
    let names = ["mud.example.org", "192.0.2.7", "2001:db8::7"].compactMap {
      DevelopmentCertificates.ServerName($0)
    }
    let made = try DevelopmentCertificates.make(names: names, password: "sesame", now: SystemClock().wall())
    try made.write(to: folder.file("dev"), overwriting: false)
  }

  private func file(_ name: String) -> String { folder.file("dev/\(name)") }

  @Test(arguments: [
    ["-verify_hostname", "localhost"], ["-verify_ip", "127.0.0.1"], ["-verify_ip", "::1"],
    ["-verify_hostname", "mud.example.org"], ["-verify_ip", "192.0.2.7"], ["-verify_ip", "2001:db8::7"],
  ])
  func theServerIsGoodForItsNames(name: [String]) throws {
    let verdict = try Tool.run(
      openssl,
      ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", file(Name.serverAuthority)] + name
        + [file(Name.server)])
    #expect(verdict.status == 0, "\(verdict.output)")
  }

  @Test func theClientIsGoodForItsAuthorityAlone() throws {
    let options = ["verify", "-x509_strict", "-purpose", "sslclient", "-CAfile"]
    #expect(try Tool.run(openssl, options + [file(Name.clientAuthority), file(Name.client)]).status == 0)
    #expect(try Tool.run(openssl, options + [file(Name.serverAuthority), file(Name.client)]).status != 0)
    #expect(try Tool.run(openssl, options + [file(Name.clientAuthority), file(Name.server)]).status != 0)
  }

  @Test(arguments: [
    (Name.server, Name.serverKey), (Name.client, Name.clientKey),
    (Name.serverAuthority, Name.serverAuthorityKey),
    (Name.clientAuthority, Name.clientAuthorityKey),
    (TestAttestationAuthority.FileName.root, TestAttestationAuthority.FileName.rootKey),
    (TestAttestationAuthority.FileName.intermediate, TestAttestationAuthority.FileName.intermediateKey),
    (TestAndroidAuthority.FileName.root, TestAndroidAuthority.FileName.rootKey),
  ])
  func eachKeyIsThatOfItsCertificate(certificate: String, key: String) throws {
    let certified = try Tool.run(openssl, ["x509", "-in", file(certificate), "-noout", "-pubkey"])
    let own = try Tool.run(openssl, ["pkey", "-in", file(key), "-pubout"])
    #expect(certified.status == 0 && own.status == 0)
    #expect(certified.output == own.output)
  }

  @Test func keysAreForTheirOwnerAlone() throws {
    let secrets = [
      Name.serverAuthorityKey, Name.serverKey, Name.clientAuthorityKey, Name.clientKey, Name.clientBundle,
      TestAttestationAuthority.FileName.rootKey, TestAttestationAuthority.FileName.intermediateKey,
      TestPlayService.FileName.keys, TestPlayService.FileName.signingKey,
      TestAndroidAuthority.FileName.rootKey,
    ]
    for name in secrets { #expect(try folder.mode("dev/\(name)") == 0o600, "\(name)") }
    // A certificate is for everybody whom the umask of whoever runs this lets in.
    let certificate = try folder.mode("dev/\(Name.server)")
    #expect(certificate == 0o644 & ~(try Self.umask()))
  }

  /// As the kernel shows it: asking by `umask(2)` would change it under the tests beside this one.
  private static func umask() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Umask:") })
    return try #require(Int(line.dropFirst("Umask:".count).trimmingCharacters(in: .whitespaces), radix: 8))
  }

  @Test func theBundleHoldsKeyAndBothCertificates() throws {
    let bundle = file(Name.clientBundle)
    let options = ["pkcs12", "-in", bundle, "-info", "-nodes", "-passin"]
    let shown = try Tool.run(openssl, options + ["pass:sesame"])
    #expect(shown.status == 0, "\(shown.output)")
    #expect(shown.output.components(separatedBy: "BEGIN CERTIFICATE").count == 3)
    #expect(shown.output.contains("BEGIN PRIVATE KEY"))
    // What iOS 16 and later read, and no provider of old algorithms is needed for.
    #expect(shown.output.contains("MAC: sha256"))
    #expect(shown.output.contains("PBES2, PBKDF2, AES-256-CBC"))
    #expect(try Tool.run(openssl, options + ["pass:wrong"]).status != 0)
  }

  @Test func nothingIsWrittenOverUnlessAsked() throws {
    let before = try WholeFile.read(file(Name.server))
    let again = try DevelopmentCertificates.make(names: [], password: "x", now: SystemClock().wall())
    #expect(throws: DeviceError.self) { try again.write(to: folder.file("dev"), overwriting: false) }
    #expect(try WholeFile.read(file(Name.server)) == before)
    try again.write(to: folder.file("dev"), overwriting: true)
    #expect(try WholeFile.read(file(Name.server)) != before)
    #expect(try folder.mode("dev/\(Name.serverKey)") == 0o600)
  }

  @Test(arguments: [
    "", "-a.example", "a..b", "a b", "ex*mple", "http://x", String(repeating: "a", count: 64),
  ])
  func whatIsNoNameIsRefused(text: String) {
    #expect(DevelopmentCertificates.ServerName(text) == nil)
  }
}

import Bytes
import Crypto
import Device
import Dialing
import Foundation
import Identity
import Kit
import Obligation
import System
import Testing
import Time

/// The chain judged by `openssl`, the shape by the bytes that docs/app-attest.md, "Attestation" demands.
@Suite(
  .enabled(if: Obligation.runs(Tool.openssl != nil, "openssl"), "openssl is not installed"),
  .timeLimit(.minutes(2)))
struct AttestationAuthorityTests {
  private let folder: TestFolder
  private let openssl: String
  private let authority: TestAttestationAuthority
  private let enclave: SoftwareEnclave
  private let now = SystemClock().wall()

  init() throws {
    folder = try TestFolder("device-")
    openssl = try #require(Tool.openssl)
    authority = try TestAttestationAuthority.create(now: now)
    enclave = try SoftwareEnclave.generate(appID: "ABCDE12345.org.example.game", environment: .production)
  }

  /// x5c of an attestation: two byte strings with two-byte lengths behind the text "x5c" and an array head of
  /// two.
  private func certificates(_ attestation: [UInt8]) throws -> [[UInt8]] {
    var rest = attestation[...]
    let mark = Array("x5c".utf8) + [0x82]
    let start = try #require((0..<rest.count - 4).first { Array(rest[$0..<$0 + 4]) == mark }) + 4
    rest = rest[start...]
    return try (0..<2).map { _ in
      try #require(rest.first == 0x59)
      let head = Array(rest.prefix(3))
      let count = Int(head[1]) << 8 | Int(head[2])
      defer { rest = rest.dropFirst(3 + count) }
      return Array(rest.dropFirst(3).prefix(count))
    }
  }

  @Test func theChainLeadsToTheRoot() throws {
    let chain = try certificates(enclave.attest(clientDataHash: Bytes32(), by: authority, now: now))
    let leaf = try folder.write("leaf.pem", IssuedCertificate(der: chain[0]).pem)
    let intermediate = try folder.write("intermediate.pem", IssuedCertificate(der: chain[1]).pem)
    let root = try folder.write("root.pem", authority.root.pem)
    let verdict = try Tool.run(
      openssl, ["verify", "-purpose", "any", "-CAfile", root, "-untrusted", intermediate, leaf])
    #expect(verdict.status == 0, "\(verdict.output)")
    let text = try Tool.run(openssl, ["x509", "-in", leaf, "-noout", "-text"]).output
    #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256"))
    #expect(text.contains("CA:FALSE") && text.contains("Digital Signature"))
    let above = try Tool.run(openssl, ["x509", "-in", intermediate, "-noout", "-text"]).output
    #expect(above.contains("CA:TRUE, pathlen:0") && above.contains("Certificate Sign"))
    #expect(above.contains("NIST CURVE: P-384"))
  }

  @Test func theExtensionsAreThoseOfApple() throws {
    let hash = try #require(Bytes32([UInt8](0..<32)))
    let attestation = try enclave.attest(clientDataHash: hash, by: authority, now: now)
    let leaf = try folder.write("leaf.der", certificates(attestation)[0])
    let parsed = try Tool.run(openssl, ["asn1parse", "-inform", "DER", "-in", leaf]).output
    // The authenticator data is the last member: 37 + 16 + 2 + 32 + 77 bytes.
    let data = Array(attestation.suffix(164))
    let nonce = SHA256Digest.of(data + hash.array)
    let lines = parsed.split(separator: "\n").map(String.init)
    let nonceLine = try #require(lines.firstIndex { $0.hasSuffix(":1.2.840.113635.100.8.2") })
    #expect(lines[nonceLine + 1].hasSuffix("[HEX DUMP]:3024A1220420" + nonce.uppercased()))
    let application = Hex.encode(Array(enclave.appID.utf8).span).uppercased()
    let applicationLine = try #require(lines.firstIndex { $0.hasSuffix(":1.2.840.113635.100.8.5") })
    #expect(lines[applicationLine + 1].contains("BF89341D041B" + application + "BF8936"))
  }

  @Test(arguments: [nil, LaunchClaim(validationCategory: 4, bundleVersion: "1.0")])
  func authenticatorDataNamesAppKeyAndEnvironment(launch: LaunchClaim?) throws {
    let enclave = try SoftwareEnclave.generate(
      appID: "ABCDE12345.org.example.game", environment: .development, launch: launch)
    let attestation = try enclave.attest(clientDataHash: Bytes32(), by: authority, now: now)
    let extensions = launch == nil ? 0 : 64
    let data = Array(attestation.suffix(164 + extensions))
    #expect(hex(data[..<32]) == SHA256Digest.of(Array(enclave.appID.utf8)))
    #expect(data[32] == (launch == nil ? 0x40 : 0xC0))
    #expect(Array(data[33..<37]) == [0, 0, 0, 0])
    #expect(Array(data[37..<53]) == Array("appattestdevelop".utf8))
    #expect(Array(data[53..<55]) == [0, 32])
    #expect(Array(data[55..<87]) == enclave.keyIdentifier.digest.array)
    let coseHead = "a5010203262001215820"
    #expect(
      hex(data[87..<164]) == coseHead + enclave.point.x.hex + "225820" + enclave.point.y.hex)
    if launch != nil {
      // As a device of iOS 27 wrote it (vectors, `att-valid-production`).
      #expect(
        hex(data[164...]) == "a2776170706c655f62756e646c655f76657273696f6e5f303163312e30"
          + "781c6170706c655f76616c69646174696f6e5f63617465676f72795f30314404000000")
    }
  }

  private func hex(_ bytes: ArraySlice<UInt8>) -> String { Hex.encode(Array(bytes).span) }

  @Test func anAuthoritySurvivesInItsFolder() throws {
    let made = try DevelopmentCertificates.make(names: [], password: "x", now: now)
    try made.write(to: folder.file("dev"), overwriting: false)
    let loaded = try TestAttestationAuthority.load(from: folder.file("dev"))
    let chain = try certificates(enclave.attest(clientDataHash: Bytes32(), by: loaded, now: now))
    let leaf = try folder.write("leaf.pem", IssuedCertificate(der: chain[0]).pem)
    let dev = folder.file("dev")
    let verdict = try Tool.run(
      openssl,
      [
        "verify", "-purpose", "any", "-CAfile", "\(dev)/attestation-root.pem", "-untrusted",
        "\(dev)/attestation-intermediate.pem", leaf,
      ])
    #expect(verdict.status == 0, "\(verdict.output)")
    #expect(throws: DeviceError.self) { try TestAttestationAuthority.load(from: folder.file("nowhere")) }
  }
}

/// SHA-256 by `openssl`, so that the module's own is judged by another's.
enum SHA256Digest {
  static func of(_ bytes: [UInt8]) -> String {
    guard let openssl = Tool.openssl, let folder = try? TestFolder("device-"),
      let path = try? folder.write("x", bytes),
      let printed = try? Tool.run(openssl, ["dgst", "-sha256", "-r", path])
    else { return "openssl failed" }
    return String(printed.output.prefix(64))
  }
}

import Bytes
import Crypto
import Device
import Dialing
import Foundation
import Kit
import Obligation
import System
import Testing
import Time

/// The client against `openssl s_server`: whom it trusts, what it shows, how it gives up.
@Suite(
  .enabled(if: Obligation.runs(Tool.openssl != nil, "openssl"), "openssl is not installed"),
  .timeLimit(.minutes(2)))
struct GateClientTests {
  private typealias Name = DevelopmentCertificates.FileName
  private let folder: TestFolder
  private let openssl: String

  init() throws {
    folder = try TestFolder("device-")
    openssl = try #require(Tool.openssl)
    try DevelopmentCertificates.make(names: [], password: "x", now: SystemClock().wall())
      .write(to: folder.path, overwriting: false)
  }

  /// Answers any GET with a page of what it knows about the connection, and closes.
  private func server(_ options: [String] = [], at address: String = "127.0.0.1") throws -> ServerProcess {
    try ServerProcess(
      openssl,
      [
        "s_server", "-accept", "\(address):0", "-cert", folder.file(Name.server), "-key",
        folder.file(Name.serverKey),
        "-www",
      ] + options, marker: "ACCEPT \(address):")
  }

  private func pin(_ name: String) throws -> ServerTrust {
    let printed = try Tool.run(
      openssl, ["x509", "-in", folder.file(name), "-noout", "-fingerprint", "-sha256"]
    ).output
    let digits = try #require(printed.split(separator: "=").last?.split(separator: "\n").first)
    return try #require(ServerTrust.pin(fingerprint: String(digits)))
  }

  private var authority: ServerTrust { .authorities(path: folder.file(Name.serverAuthority)) }

  private func get(
    _ server: ServerProcess, host: String = "localhost", _ trust: ServerTrust,
    _ certificate: ClientCertificate? = nil
  ) throws -> GateResponse {
    let url = GateURL(host: host, port: server.port)
    return try GateClient(url, trust: trust, certificate: certificate, timeout: .seconds(60)).get("/")
  }

  @Test(arguments: ["-tls1_2", "-tls1_3"])
  func anAuthorityVouchesForTheName(version: String) throws {
    let server = try server([version])
    let response = try get(server, authority)
    #expect(response.status == 200)
    #expect(response.text.contains("Cipher"))
    #expect(try get(server, host: "127.0.0.1", authority).status == 200)
  }

  @Test func anotherAuthorityDoesNot() throws {
    let server = try server()
    let wrong = ServerTrust.authorities(path: folder.file(Name.clientAuthority))
    for trust in [wrong, .system] {
      #expect {
        try get(server, trust)
      } throws: { error in
        if case .untrusted = error as? GateClientError { true } else { false }
      }
    }
  }

  @Test func aNameThatIsNotInTheCertificateIsRefused() throws {
    // The whole of 127.0.0.0/8 is this machine; the certificate has 127.0.0.1 alone.
    let server = try server(at: "127.0.0.2")
    #expect {
      try get(server, host: "127.0.0.2", authority)
    } throws: { error in
      if case .untrusted(let reason) = error as? GateClientError {
        reason.contains("IP address")
      } else {
        false
      }
    }
    #expect(try get(server, host: "127.0.0.2", pin(Name.server)).status == 200)
  }

  @Test func aPinIsEnoughAndMustMatch() throws {
    let server = try server()
    #expect(try get(server, pin(Name.server)).status == 200)
    #expect {
      try get(server, pin(Name.client))
    } throws: { error in
      if case .notPinned = error as? GateClientError { true } else { false }
    }
  }

  /// The key stays when a certificate is renewed; which name the certificate has does not matter.
  @Test func oneOfSeveralKeysIsEnough() throws {
    let server = try server(at: "127.0.0.2")
    #expect(
      try get(server, host: "127.0.0.2", .publicKeys([Bytes32(), key(Name.server)])).status == 200)
    for keys in [[], [Bytes32(), try key(Name.client)]] {
      #expect {
        try get(server, host: "127.0.0.2", .publicKeys(keys))
      } throws: { error in
        if case .notPinned = error as? GateClientError { true } else { false }
      }
    }
  }

  /// SHA-256 of the SPKI in a certificate, as openssl makes it of the key.
  private func key(_ name: String) throws -> Bytes32 {
    let pem = try Tool.run(openssl, ["x509", "-in", folder.file(name), "-noout", "-pubkey"]).output
    let body = pem.split(separator: "\n").filter { !$0.hasPrefix("-") }.joined()
    let der = try #require(Data(base64Encoded: body))
    return SHA256.hash(Array(der).span)
  }

  @Test func aClientCertificateIsShown() throws {
    let server = try server([
      "-Verify", "2", "-CAfile", folder.file(Name.clientAuthority), "-verify_return_error",
    ])
    let certificate = ClientCertificate(
      certificatePath: folder.file(Name.client), keyPath: folder.file(Name.clientKey))
    #expect(try get(server, authority, certificate).text.contains("Portcullis development client"))
    #expect(throws: GateClientError.self) { try get(server, authority) }
  }

  @Test func anOldServerIsRefused() throws {
    let server = try server(["-tls1_1", "-cipher", "ALL:@SECLEVEL=0"])
    #expect(throws: GateClientError.self) { try get(server, authority) }
  }

  @Test func nobodyThereIsUnreachable() throws {
    // No port that was free a moment ago: another test's server might have it by now.
    let client = try GateClient(GateURL(host: "127.0.0.1", port: 1), trust: authority)
    #expect(throws: GateClientError.unreachable(SystemError("connect", ECONNREFUSED))) { try client.get("/") }
  }

  @Test func silenceIsGivenUpOn() throws {
    // Without -www the server says what is typed to it, and nobody types.
    let server = try ServerProcess(
      openssl,
      [
        "s_server", "-accept", "127.0.0.1:0", "-cert", folder.file(Name.server), "-key",
        folder.file(Name.serverKey),
      ], marker: "ACCEPT 127.0.0.1:")
    let client = try GateClient(
      GateURL(host: "localhost", port: server.port), trust: authority, timeout: .seconds(3))
    #expect(throws: GateClientError.timedOut(during: "read")) { try client.get("/") }
  }

  @Test func fieldsCannotBreakOutOfTheirLine() throws {
    let client = try GateClient(GateURL(host: "localhost", port: 1), trust: authority)
    for field in [("X", "a\r\nB: c"), ("X: y", "z"), ("", "z"), ("X", "\u{0}")] {
      #expect(throws: GateClientError.invalidField(name: field.0)) {
        try client.get("/", fields: [GateResponse.Field(field.0, field.1)])
      }
    }
  }

  @Test(arguments: [
    String(repeating: "ab", count: 32), Array(repeating: "AB", count: 32).joined(separator: ":"),
  ])
  func pinsMayBeWrittenAsOpenSSLPrintsThem(text: String) throws {
    let digest = try #require(Bytes32([UInt8](repeating: 0xAB, count: 32)))
    #expect(ServerTrust.pin(fingerprint: text) == .pin(digest))
    #expect(ServerTrust.pin(fingerprint: String(text.dropLast(2))) == nil)
    #expect(ServerTrust.pin(fingerprint: text + "00") == nil)
    #expect(ServerTrust.pin(fingerprint: "") == nil)
  }

  @Test func filesThatAreNoCertificatesAreSettingsThatFail() {
    let url = GateURL(host: "localhost", port: 1)
    let nowhere = ServerTrust.authorities(path: folder.file("nowhere.pem"))
    #expect(throws: GateClientError.self) { try GateClient(url, trust: nowhere) }
    let mixed = ClientCertificate(
      certificatePath: folder.file(Name.client), keyPath: folder.file(Name.serverKey))
    #expect(throws: GateClientError.self) { try GateClient(url, trust: authority, certificate: mixed) }
  }
}

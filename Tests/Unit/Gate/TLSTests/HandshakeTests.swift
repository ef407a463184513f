import TLSPeers
import Testing

@testable import TLS

/// docs/protocol-connections.md, "TLS".
@Suite struct HandshakeTests {
  private let server: Server

  init() throws { server = try Server() }

  /// The alert in clear that a refused ClientHello is answered with: fatal, and its number (RFC 8446 §6).
  private static func alert(_ bytes: [UInt8]) -> UInt8? {
    bytes.count == 7 && bytes[0] == 21 && bytes[5] == 2 ? bytes[6] : nil
  }

  @Test(arguments: both) func bothVersionsCarryDataBothWays(version: ClientOptions.Version) throws {
    var joined = try Joined(server, ClientOptions(version: version))
    let description = joined.server.session.description
    #expect(description.hasPrefix(version == .tls13 ? "TLSv1.3 " : "TLSv1.2 "))
    #expect(description.contains("GCM") || description.contains("CHACHA20"))
    joined.client.write("question")
    let read = joined.server.read(joined.client.takeOutput())
    #expect(read.records == [Array("question".utf8)])
    #expect(read.last == .wantsInput)
    #expect(joined.server.write("answer") == true)
    joined.client.feed(joined.server.takeOutput())
    #expect(joined.client.read() == .bytes(Array("answer".utf8)))
  }

  @Test(arguments: both) func byteByByte(version: ClientOptions.Version) throws {
    let client = try TestClient(ClientOptions(version: version))
    var accepted = try server.accept()
    var result = HandshakeResult.wantsInput
    for _ in 0..<10 where result == .wantsInput {
      _ = client.handshake()
      let bytes = client.takeOutput()
      for (index, byte) in bytes.enumerated() {
        result = accepted.handshake([byte])
        if index < bytes.count - 1 { #expect(result == .wantsInput, "byte \(index) of \(bytes.count)") }
      }
      client.feed(accepted.takeOutput())
    }
    #expect(result == .finished)
    #expect(client.handshake() == .finished)
  }

  /// Alerts by which clients refuse a certificate or an offer (RFC 8446 §6.2), and one that nobody has defined.
  @Test(arguments: [40, 42, 43, 45, 46, 47, 48, 49, 50, 51, 70, 71, 80, 110, 115, 120] as [UInt8])
  func theClientsAlertIsTold(number: UInt8) throws {
    let client = try TestClient(ClientOptions(version: .tls12))
    _ = client.handshake()
    var accepted = try server.accept()
    #expect(accepted.handshake(client.takeOutput()) == .wantsInput)
    let result = accepted.handshake([21, 3, 3, 0, 2, 2, number])
    guard case .failed(.alert(let reason)) = result else {
      Issue.record("\(result)")
      return
    }
    #expect(!reason.isEmpty)
  }

  @Test func noOldVersion() throws {
    let client = try TestClient(ClientOptions(version: .tls11, suites: "ALL@SECLEVEL=0"))
    _ = client.handshake()
    var accepted = try server.accept()
    let hello = client.takeOutput()
    try #require(!hello.isEmpty)
    guard case .failed(.protocol(let reason)) = accepted.handshake(hello) else {
      Issue.record("TLS 1.1 was accepted")
      return
    }
    #expect(reason.contains("protocol"))
    #expect(Self.alert(accepted.takeOutput()) == 70)
  }

  /// `TLS_MIN_VERSION`.
  @Test(
    arguments: [
      (.tls12, .tls12, true), (.tls12, .tls13, true), (.tls13, .tls12, false), (.tls13, .tls13, true),
    ] as [(TLSVersion, ClientOptions.Version, Bool)])
  func theOldestVersionIsTheOperators(minimum: TLSVersion, spoken: ClientOptions.Version, isIn: Bool) throws {
    let client = try TestClient(ClientOptions(version: spoken))
    var accepted = try Server(minimum: minimum).accept()
    let result = handshake(client, &accepted)
    #expect((result == .finished) == isIn)
    if !isIn { #expect(result == .failed(.protocol(reason: "unsupported protocol"))) }
  }

  @Test(arguments: [
    "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "ECDHE-ECDSA-AES128-CCM", "AES128-GCM-SHA256",
  ])
  func noOtherSuites(suite: String) throws {
    let client = try TestClient(ClientOptions(version: .tls12, suites: suite))
    var accepted = try server.accept()
    _ = client.handshake()
    let result = accepted.handshake(client.takeOutput())
    #expect(result == .failed(.protocol(reason: "no shared cipher")))
    #expect(Self.alert(accepted.takeOutput()) == 40)
  }

  @Test(
    arguments: [
      (["http/1.1"], "http/1.1"), (["h2", "http/1.1"], "http/1.1"), (["http/1.1", "h2"], "http/1.1"),
      (["http/1.0"], "http/1.0"), (["http/1.0", "http/1.1"], "http/1.1"), ([], ""),
    ] as [([String], String)])
  func protocolIsHTTP1(offered: [String], chosen: String) throws {
    let joined = try Joined(server, ClientOptions(protocols: offered))
    #expect(joined.client.chosenProtocol == chosen)
  }

  @Test(arguments: both) func noOtherProtocol(version: ClientOptions.Version) throws {
    let client = try TestClient(ClientOptions(version: version, protocols: ["h2"]))
    var accepted = try server.accept()
    // no_application_protocol (RFC 7301 §3.2)
    guard case .failed(.protocol(reason: "no application protocol")) = handshake(client, &accepted) else {
      Issue.record("h2 was accepted")
      return
    }
  }

  @Test(
    arguments: [
      ("a plain request", Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n".utf8)),
      ("another handshake message", [22, 3, 1, 0, 4, 20, 0, 0, 0]),
      ("application data first", [23, 3, 3, 0, 2, 1, 2]), ("an unknown type", [99, 3, 3, 0, 1, 0]),
      ("a record beyond all limits", [22, 3, 1, 0xFF, 0xFF, 1, 2, 3]),
      ("a hello of nonsense", [22, 3, 1, 0, 8, 1, 0, 0, 4, 0xFF, 0xFF, 0xFF, 0xFF]),
    ] as [(String, [UInt8])])
  func garbageFails(what: String, bytes: [UInt8]) throws {
    var accepted = try server.accept()
    guard case .failed(.protocol(let reason)) = accepted.handshake(bytes) else {
      Issue.record("\(what) was taken")
      return
    }
    #expect(!reason.isEmpty)
    let output = accepted.takeOutput()
    // Where OpenSSL answers at all, it answers with one alert.
    #expect(output.isEmpty || Self.alert(output) != nil, "\(what): \(output)")
    // And nothing more can be had from it.
    guard case .failed = accepted.handshake(bytes) else {
      Issue.record("\(what) was forgiven")
      return
    }
  }

  @Test func anAlertWaitsInTheOutbox() throws {
    var accepted = try server.accept()
    _ = accepted.handshake([22, 3, 1, 0, 4, 20, 0, 0, 0])
    // unexpected_message
    #expect(Self.alert(accepted.takeOutput()) == 10)
  }

  @Test func theWholeChainIsShown() throws {
    let joined = try Joined(server)
    #expect(joined.client.certificatesShown == 2)
  }

  @Test func noEarlyData() throws {
    let joined = try Joined(server, ClientOptions(version: .tls13))
    let session = try #require(joined.client.session)
    #expect(session.isResumable)
    #expect(!session.mayTakeEarlyData)
  }
}

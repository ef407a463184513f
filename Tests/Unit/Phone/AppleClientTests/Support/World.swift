/// A phone with a server that it trusts, for a test of the transport.
@testable internal import AppleClient
internal import AppleFoundation
internal import Crypto
internal import FoundationEssentials
internal import System
internal import Testing
internal import TLSPeers
internal import WebSocketWire

struct World {
  let phone = AppleDevice()
  let server: TLSServer
  /// What it shows, in DER.
  let certificate: [UInt8]
  var network: FakeNetwork { phone[FakeNetwork.self] }

  /// - Parameters:
  ///   - days: from and until when, from now, the server's certificate is good.
  ///   - serve: gets each request, and the connection to answer on.
  init(
    asking: TLSServer.Asking = .no, isTrusted: Bool = true, days: ClosedRange<Int64> = -1...1,
    _ serve: @escaping @Sendable (String, ServerConnection) -> Void
  ) throws {
    let authority = try Authority("World")
    let identity = try authority.issue(
      "localhost", purpose: CertificateExtension.serverAuthentication, days: days)
    certificate = try PEMBlock.decode("CERTIFICATE", identity.chain)
    let log = RequestLog()
    server = try TLSServer(identity, asking: asking) { connection in
      guard let request = connection.readRequest() else { return }
      log.server?.note(request)
      serve(request, connection)
    }
    log.server = server
    if isTrusted { network.trust(authority.certificate.der) }
  }

  /// Set before a client knows the port.
  private final class RequestLog: @unchecked Sendable {
    weak var server: TLSServer?
  }

  func url(_ path: String, _ scheme: String = "https") throws -> URL {
    try #require(URL(string: "\(scheme)://localhost:\(server.port)\(path)"))
  }
}

/// An answer's bytes.
func answer(_ status: String, _ fields: [String] = [], _ body: String = "") -> String {
  (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + fields).joined(separator: "\r\n")
    + "\r\n\r\n" + body
}

/// The 101 that a request asks for.
func accepting(_ request: String, _ fields: [String] = []) -> String {
  let key = request.firstMatch(of: /Sec-WebSocket-Key: (\S+)/).map { String($0.1) } ?? ""
  return
    ([
      "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
      "Sec-WebSocket-Accept: \(WebSocketAccept.value(for: key))",
    ] + fields).joined(separator: "\r\n") + "\r\n\r\n"
}

/// Looks until it is so, at most a minute.
func eventually(_ isSo: () async -> Bool) async -> Bool {
  for _ in 0..<6_000 {
    if await isSo() { return true }
    try? await Task.sleep(for: .milliseconds(10))
  }
  return false
}

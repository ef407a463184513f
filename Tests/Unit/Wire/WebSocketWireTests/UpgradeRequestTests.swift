import HTTPWire
import Testing

@testable import WebSocketWire

/// RFC 6455 §4.2 and docs/protocol.md, "Admission": what is an upgrade, and what it is answered with.
@Suite struct UpgradeRequestTests {
  static let key = "dGhlIHNhbXBsZSBub25jZQ=="

  /// A good upgrade, with fields replaced, or left out where the replacement is nil.
  private func head(
    _ line: String = "GET /play HTTP/1.1", _ changes: [String: String?] = [:], extra: [String] = []
  ) throws -> RequestHead {
    var fields = [
      "Host": "a", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": Self.key,
    ]
    for (name, value) in changes { fields[name] = value }
    let lines = [line] + fields.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" } + extra
    let bytes = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    var parser = RequestParser()
    let result = parser.parse(bytes.span)
    guard case .head(let head, _) = result else { throw Failure(what: "\(result)") }
    return head
  }

  private struct Failure: Error {
    let what: String
  }

  /// RFC 6455 §1.3.
  @Test func theExampleOfTheRFC() throws {
    #expect(WebSocketAccept.value(for: Self.key) == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    let request = try UpgradeRequest(head())
    #expect(request.key == Self.key)
    #expect(request.subprotocols == [])
    #expect(request.extensions == [])
    #expect(
      String(decoding: request.response(), as: UTF8.self) == """
        HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n
        """)
  }

  @Test(arguments: [
    ("Upgrade", "WebSocket"), ("Upgrade", "h2c, websocket"), ("Connection", "keep-alive,  UPGRADE"),
    ("Connection", "Upgrade, HTTP2-Settings"),
  ])
  func tokensInAnyCase(name: String, value: String) throws {
    _ = try UpgradeRequest(head("GET / HTTP/1.1", [name: value]))
  }

  static let refused: [(String, String?, UpgradeRefusal)] = [
    ("Upgrade", nil, .notAsked), ("Upgrade", "websockets", .notAsked), ("Upgrade", "websocket/13", .notAsked),
    ("Connection", nil, .notAsked), ("Connection", "keep-alive", .notAsked),
    ("Connection", "\"a, upgrade, b\"", .notAsked), ("Sec-WebSocket-Version", nil, .version),
    ("Sec-WebSocket-Version", "8", .version), ("Sec-WebSocket-Version", "013", .version),
    ("Sec-WebSocket-Version", "13, 8", .version), ("Sec-WebSocket-Key", nil, .key),
    ("Sec-WebSocket-Key", "", .key),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ", .key),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZR==", .key),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZSE=", .key),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25j", .key),
    ("Sec-WebSocket-Key", "-GhlIHNhbXBsZSBub25jZQ==", .key),
    ("Sec-WebSocket-Key", "dGhl IHNhbXBsZSBub25jZQ==", .key),
    ("Sec-WebSocket-Protocol", "a b", .subprotocols), ("Sec-WebSocket-Extensions", "a;", .extensions),
  ]

  @Test(arguments: refused) func refusals(name: String, value: String?, refusal: UpgradeRefusal) throws {
    let head = try head("GET / HTTP/1.1", [name: value])
    #expect(throws: refusal) { try UpgradeRequest(head) }
  }

  @Test func methodAndVersion() throws {
    let head10 = try head("GET / HTTP/1.0")
    #expect(throws: UpgradeRefusal.httpVersion) { try UpgradeRequest(head10) }
    let plain10 = try head("GET / HTTP/1.0", ["Upgrade": nil])
    #expect(throws: UpgradeRefusal.notAsked) { try UpgradeRequest(plain10) }
    for method in ["HEAD", "POST", "get"] {
      let head = try head("\(method) / HTTP/1.1")
      #expect(throws: UpgradeRefusal.method) { try UpgradeRequest(head) }
      #expect(UpgradeRequest.isAsked(by: head))
    }
  }

  @Test func statuses() {
    #expect(UpgradeRefusal.method.code.status.rawValue == 405)
    #expect(UpgradeRefusal.notAsked.code.status.rawValue == 426)
    #expect(UpgradeRefusal.version.code.status.rawValue == 426)
    #expect(UpgradeRefusal.httpVersion.code.status.rawValue == 505)
    #expect(UpgradeRefusal.key.code.status.rawValue == 400)
  }

  @Test(arguments: [
    ("binary", ["binary"]), ("a, portcullis.v1,binary", ["a", "portcullis.v1", "binary"]),
    ("Binary", ["Binary"]),
  ])
  func subprotocols(offered: String, expected: [String]) throws {
    let request = try UpgradeRequest(head("GET / HTTP/1.1", ["Sec-WebSocket-Protocol": offered]))
    #expect(request.subprotocols == expected)
    #expect(!String(decoding: request.response(), as: UTF8.self).contains("Sec-WebSocket-Protocol"))
    let response = String(
      decoding: request.response(subprotocol: "binary", extensions: "x", date: "now"), as: UTF8.self)
    #expect(response.contains("\r\nSec-WebSocket-Protocol: binary\r\n"))
    #expect(response.contains("\r\nSec-WebSocket-Extensions: x\r\n"))
    #expect(response.contains("\r\nDate: now\r\n"))
  }

  @Test func subprotocolsOfSeveralFields() throws {
    let request = try UpgradeRequest(
      head(extra: ["Sec-WebSocket-Protocol: a", "sec-websocket-protocol: binary ,, c"]))
    #expect(request.subprotocols == ["a", "binary", "c"])
  }

  /// RFC 6455 §9.1.
  @Test func extensionList() throws {
    let request = try UpgradeRequest(
      head(
        extra: [
          "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"
            + " ;server_max_window_bits=\"1\\0\",,foo",
          "Sec-WebSocket-Extensions: bar ; baz = 2",
        ]))
    #expect(
      request.extensions == [
        ExtensionOffer(
          name: "permessage-deflate",
          parameters: [
            .init(name: "client_max_window_bits", value: nil),
            .init(name: "server_max_window_bits", value: "10"),
          ]),
        ExtensionOffer(name: "foo", parameters: []),
        ExtensionOffer(name: "bar", parameters: [.init(name: "baz", value: "2")]),
      ])
  }

  @Test(arguments: [
    "a b", "a;", "a;;b", "a;b=", "a;b=\"", "a;b=\"x y\"", "a;b=\"\"", "a;b=\"x\\", "a;b=\"x\"y", ";a", "a=b",
    "\"a\"",
    "a;b=c=d",
  ])
  func malformedExtensions(text: String) {
    #expect(ExtensionOffer.list(Array(text.utf8)) == nil)
  }

  @Test(arguments: [("", 0), (",", 0), (" , a , ", 1), ("a,b;c,d", 3)]) func emptyElements(
    text: String, count: Int
  ) {
    #expect(ExtensionOffer.list(Array(text.utf8))?.count == count)
  }
}

import Kit
import Testing

@testable import HTTPWire

/// RFC 9112 §2 to §6 and docs/protocol.md, "HTTP", as strict as the gate reads them.
@Suite struct RequestParserTests {
  static let upgrade = """
    GET /play?room=1 HTTP/1.1\r\nHost: mud.example:8443\r\nUpgrade: websocket\r
    Connection: keep-alive, Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
    Sec-WebSocket-Version: 13\r\nX-App-Assert-Nonce: \t ab \t\r\n\r\n
    """

  static let accepted = [
    upgrade,
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
    "POST /attest/register HTTP/1.1\r\nHost: a\r\nContent-Length: 0012\r\nExpect: 100-Continue\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost:a\r\nX:\r\nY: \t \r\nZ: a\tb  c\t\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nAccept: a\r\nAccept: b\r\n\r\n",
    "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n",
    "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n",
    "GET http://b.example:80?x HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET HTTPS://[::1]/x HTTP/1.1\r\nHost: [2001:db8::1]:8443\r\n\r\n",
    "get /%2e%2E/a;b=c,d?e[]=f&g HTTP/1.1\r\nHost: xn--bcher-kva.example\r\n\r\n",
    "BREW /~a HTTP/1.1\r\nhOST: a_b\r\n\r\n",
  ]

  @Test(arguments: accepted) func wholeByteByByteAndTrailing(text: String) {
    let bytes = Array(text.utf8)
    let answer = whole(bytes)
    guard case .head(_, let consumed) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(consumed == bytes.count)
    let slow = byteByByte(bytes)
    #expect(slow.answer == answer)
    #expect(slow.taken == bytes.count)
    for trailing in ["\u{0}", "\r\n", "GET", " body "] {
      #expect(whole(bytes + Array(trailing.utf8)) == answer)
    }
    for count in 0..<bytes.count { #expect(whole(Array(bytes[..<count])) == .needMore) }
  }

  @Test func whatAHeadSays() throws {
    let head = try head(Self.upgrade)
    #expect(head.method == .get)
    #expect(head.version == .http11)
    #expect(head.path == "/play")
    #expect(head.pathIs("/play"))
    #expect(!head.pathIs("/play?room=1"))
    #expect(head.pathBegins(with: "/pl"))
    #expect(!head.pathBegins(with: "/play/"))
    #expect(head.query == "room=1")
    #expect(head.host == "mud.example:8443")
    #expect(head.value("upgrade") == "websocket")
    #expect(head.hasToken("UPGRADE", in: "Connection"))
    #expect(!head.hasToken("close", in: "Connection"))
    #expect(head.listElements("connection") == ["keep-alive", "Upgrade"])
    #expect(head.value("x-app-assert-nonce") == "ab")
    #expect(head.hasField(namePrefix: "x-app-assert-"))
    #expect(!head.hasField(namePrefix: "x-app-assert-nonce-"))
    #expect(head.value("Absent") == nil)
    #expect(head.bodyLength == nil)
    #expect(head.keepsAlive)
  }

  @Test func repeatedListFieldsAreJoined() throws {
    let head = try head("GET / HTTP/1.1\r\nHost: a\r\nA: b, c\r\na: \r\nA: ,, \"d, e\" ,f\r\n\r\n")
    #expect(head.value("a") == "b, c, , ,, \"d, e\" ,f")
    #expect(head.listElements("A") == ["b", "c", "\"d, e\"", "f"])
    #expect(!head.hasToken("e\"", in: "A"))
  }

  @Test func theAbsoluteTargetOverridesHost() throws {
    let head = try head("GET http://b.example?x HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(head.host == "b.example")
    #expect(head.path == "/")
    #expect(head.pathIs("/"))
    #expect(head.pathBegins(with: "/"))
    #expect(head.query == "x")
  }

  @Test(arguments: [
    ("HTTP/1.1", "X: y", true), ("HTTP/1.1", "Connection: close", false),
    ("HTTP/1.1", "Connection: a ,CLOSE", false),
    ("HTTP/1.1", "Connection: closed", true), ("HTTP/1.0", "Connection: keep-alive", false),
  ])
  func keepAlive(version: String, field: String, expected: Bool) throws {
    #expect(try head("GET / \(version)\r\nHost: a\r\n\(field)\r\n\r\n").keepsAlive == expected)
  }

  @Test func nothingIsReadBehindConnect() throws {
    #expect(try !head("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n").keepsAlive)
  }

  @Test(arguments: [
    ("HTTP/1.1", "5", true), ("HTTP/1.1", "0", false), ("HTTP/1.0", "5", false),
  ])
  func continueIsWaitedFor(version: String, length: String, expected: Bool) throws {
    let head = try head(
      "POST / \(version)\r\nHost: a\r\nContent-Length: \(length)\r\nExpect: 100-continue\r\n\r\n")
    #expect(head.expectsContinue == expected)
  }

  @Test(arguments: [
    ("0", 0), ("007", 7), ("9223372036854775807", Int.max), ("9223372036854775808", Int.max),
    ("99999999999999999999999999999990", Int.max),
  ])
  func bodyLength(digits: String, expected: Int) throws {
    #expect(
      try head("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \(digits)\r\n\r\n").bodyLength == expected)
  }

  @Test func onePipelinedAfterAnother() {
    let bytes = Array("POST /a HTTP/1.1\r\nHost: a\r\n\r\nGET /b HTTP/1.1\r\nHost: b\r\n\r\nG".utf8)
    var parser = RequestParser()
    guard case .head(let first, let consumed) = parser.parse(bytes.span) else {
      Issue.record("no first head")
      return
    }
    #expect(first.path == "/a")
    #expect(!parser.hasBegun)
    let rest = Array(bytes[consumed...])
    guard case .head(let second, let more) = parser.parse(rest.span) else {
      Issue.record("no second head")
      return
    }
    #expect(second.path == "/b")
    #expect(next(&parser, String(decoding: rest[more...], as: UTF8.self)) == .needMore)
    #expect(parser.hasBegun)
  }

  @Test func mutationsNeverTrapAndSplitsNeverMatter() {
    var random = SplitMix(seed: 9112)
    let interesting = Array("\r\n\t :/?,;=\"%#*\u{0}\u{7F}aZ0".utf8) + [0x80, 0xFF]
    for round in 0..<6_000 {
      var bytes = Array(Self.accepted[round % Self.accepted.count].utf8)
      for _ in 0...Int.random(in: 0...2, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...3, using: &random) {
        case 0: bytes[index] = interesting.randomElement(using: &random) ?? 0
        case 1: bytes.insert(interesting.randomElement(using: &random) ?? 0, at: index)
        case 2: bytes.remove(at: index)
        default: bytes.insert(contentsOf: bytes[index...].prefix(40), at: index)
        }
      }
      let answer = whole(bytes)
      #expect(byteByByte(bytes).answer == answer, "\(bytes)")
    }
  }
}

import Bytes
import HTTPWire
import Kit
import PortcullisProtocol
import Testing

@testable import Admission
@testable import Gateway
@testable import Requests

@Suite struct RouteTests {
  /// docs/protocol-devices.md, "Codes"; the first is with app ids configured, the second without.
  @Test(
    arguments: [
      ("GET /healthz", .health, .health),
      ("POST /healthz", .methodNotAllowed(allow: "GET"), .methodNotAllowed(allow: "GET")),
      ("HEAD /healthz", .methodNotAllowed(allow: "GET"), .methodNotAllowed(allow: "GET")),
      ("GET /healthz?now", .health, .health), ("GET /attest/challenge", .challenge, .notFound),
      ("GET /attest/challenge?x=/attest/register", .challenge, .notFound),
      ("POST /attest/challenge", .methodNotAllowed(allow: "GET"), .notFound),
      ("HEAD /attest/challenge", .methodNotAllowed(allow: "GET"), .notFound),
      ("POST /attest/register", .body(.register), .notFound),
      ("GET /attest/register", .methodNotAllowed(allow: "POST"), .notFound),
      ("GET /attest/", .notFound, .notFound), ("GET /attest/challenge/", .notFound, .notFound),
      ("POST /attest/other", .notFound, .notFound), ("HEAD /attest/other", .notFound, .notFound),
      ("GET /attest", .upgrade, .upgrade), ("GET /", .upgrade, .upgrade),
      ("GET /play/attest/challenge", .upgrade, .upgrade),
      ("GET /attesting/x", .upgrade, .upgrade), ("GET /Healthz", .upgrade, .upgrade),
      ("HEAD /", .methodNotAllowed(allow: "GET"), .methodNotAllowed(allow: "GET")),
      ("DELETE /play", .methodNotAllowed(allow: "GET"), .methodNotAllowed(allow: "GET")),
    ] as [(String, Route, Route)])
  func route(request: String, attesting: Route, not: Route) throws {
    let head = try head(request + " HTTP/1.1")
    #expect(Route(head, attests: true) == attesting)
    #expect(Route(head, attests: false) == not)
  }
}

@Suite struct MediaTypeTests {
  @Test(arguments: [
    ("application/json", true), ("application/json; charset=utf-8", true),
    ("application/json;charset=utf-8", true),
    ("APPLICATION/JSON ; x=\"a;b\"", true), ("Application/Json", true), ("application/json;", true),
    ("application/jsonp", false), ("application/json, text/plain", false), ("text/json", false),
    ("application / json", false), ("", false), (";", false), ("application/json+x", false), ("json", false),
  ])
  func isJSON(value: String, expected: Bool) {
    #expect(MediaType.isJSON(value) == expected)
  }

  @Test func absentIsNotJSON() {
    #expect(!MediaType.isJSON(nil))
  }
}

/// docs/protocol.md, "Admission".
@Suite struct AssertionHeadersTests {
  private static let keyID = "X-App-Assert-KeyId: //79/Pv6+fj39vX08/Lx8O/u7ezr6uno5+bl5OPi4eA="
  private static let data = "X-App-Assert-Data: omlz"
  private static let hex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  private static let nonce = "X-App-Assert-Nonce: \(hex)"

  private static func read(_ fields: [String]) throws -> RequestHead {
    var parser = RequestParser()
    let text = (["GET / HTTP/1.1", "Host: g"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
    let bytes = Array(text.utf8)
    guard case .head(let head, _) = parser.parse(bytes.span) else { throw NotAHead(text: text) }
    return head
  }

  @Test(arguments: [
    [keyID, data, nonce], [nonce, data, keyID, "X-App-Assert-Version: 2"],
    [keyID.uppercasedName, data.uppercasedName, nonce.uppercasedName],
    ["X-App-Assert-KeyId: __79_Pv6-fj39vX08_Lx8O_u7ezr6uno5-bl5OPi4eA", data, nonce],
  ])
  func accepted(fields: [String]) throws {
    let headers = try AssertionHeaders(Self.read(fields))
    #expect(headers.keyID.short == "//79/Pv6")
    #expect(headers.assertion == [0xA2, 0x69, 0x73])
    #expect(headers.nonce.hex == Self.hex)
  }

  @Test(arguments: [
    ([data, nonce], "assertion_header_missing"), ([keyID, nonce], "assertion_header_missing"),
    ([keyID, data], "assertion_header_missing"),
    ([keyID, "X-App-Assert-Version: 2"], "assertion_header_missing"),
    (["X-App-Assert-KeyId: AAAA", data, nonce], "key_id"), (["X-App-Assert-KeyId:", data, nonce], "key_id"),
    ([keyID.replacing("=", with: ""), data, nonce], "key_id"),
    ([keyID.replacing("//", with: "/_"), data, nonce], "key_id"),
    ([keyID, "X-App-Assert-Data: om!z", nonce], "assertion_base64"),
    ([keyID, "X-App-Assert-Data: omk", nonce.uppercasedValue], "nonce_hex"),
    ([keyID, "X-App-Assert-Data: omk=x", nonce], "assertion_base64"),
    ([keyID, data, "X-App-Assert-Nonce: \(hex.dropLast(2))"], "nonce_hex"),
    ([keyID, data, "X-App-Assert-Nonce: \(hex)00"], "nonce_hex"),
    ([keyID, data, "X-App-Assert-Nonce:"], "nonce_hex"),
  ])
  func malformed(fields: [String], step: String) throws {
    let head = try Self.read(fields)
    #expect(throws: AssertionHeaders.Refused.malformed(step: step)) { try AssertionHeaders(head) }
  }

  @Test(arguments: [["X-App-Assert-Version: 2"], ["X-App-Assert-: x"], ["x-app-assert-keyid2: \(hex)"]])
  func onlyUnknownOnes(fields: [String]) throws {
    let head = try Self.read(fields)
    #expect(head.hasField(namePrefix: HeaderName.assertionPrefix))
    #expect(throws: AssertionHeaders.Refused.unknownOnly) { try AssertionHeaders(head) }
  }

  /// A second field of the family is refused where all heads are read.
  @Test(arguments: [[keyID, keyID], [data, data], [nonce, nonce]]) func twice(fields: [String]) {
    #expect(throws: NotAHead.self) { try Self.read([Self.keyID, Self.data, Self.nonce, fields[0]]) }
  }
}

extension String {
  fileprivate var uppercasedName: String {
    let parts = split(separator: ":", maxSplits: 1)
    return parts[0].uppercased() + ":" + parts[1]
  }
  fileprivate var uppercasedValue: String {
    let parts = split(separator: ":", maxSplits: 1)
    return parts[0] + ":" + parts[1].uppercased()
  }
}

import PortcullisProtocol
import Testing

@testable import HTTPWire

/// Each rule broken alone, with the count of bytes that prove it (RFC 9112, docs/protocol-devices.md, "Codes").
@Suite struct RefusalTests {
  struct Case: CustomTestStringConvertible {
    var text: String
    var rule: RequestRefusal.Rule
    /// What follows what proves it; empty when only the end of the head does.
    var rest: String
    init(_ text: String, _ rule: RequestRefusal.Rule, unread rest: String = "") {
      (self.text, self.rule, self.rest) = (text, rule, rest)
    }
    var testDescription: String { "\(rule): \(text.debugDescription)" }
  }

  static let cases: [Case] = [
    Case("\n", .bareLineFeed), Case("\r\n\r", .emptyLine), Case("\rG", .bareCarriageReturn),
    Case(" ", .method), Case("\u{16}", .method), Case("G@", .method), Case("GET\n", .bareLineFeed),
    Case("GET\r", .method),
    Case("GET  ", .target, unread: "/"), Case("GET /\u{7F}", .target), Case("GET /a#", .target, unread: "b"),
    Case("GET /\r", .target), Case("GET /\n", .bareLineFeed), Case("GET /\u{E9}", .target, unread: "\u{0}"),
    Case("GET /%2 HTTP/1.1", .target), Case("GET /%zz HTTP/1.1", .target), Case("GET a HTTP/1.1", .target),
    Case("GET * HTTP/1.1", .target), Case("GET ftp://a/ HTTP/1.1", .target),
    Case("GET http:///a HTTP/1.1", .target),
    Case("GET http://u@h/ HTTP/1.1", .target), Case("CONNECT a/b HTTP/1.1", .target, unread: "\r\n"),
    Case("CONNECT a HTTP/1.1", .target), Case("CONNECT a: HTTP/1.1", .target),
    Case("CONNECT a:0 HTTP/1.1", .target), Case("CONNECT / HTTP/1.1", .target),
    Case("GET / h", .version), Case("GET / HTTP/1.1 ", .version), Case("GET / HTTP/11", .version),
    Case("GET / HTTP/1.1\n", .bareLineFeed), Case("GET / HTTP/1.1\rX", .bareCarriageReturn),
    Case("GET / HTTP/1.2", .unknownVersion), Case("GET / HTTP/0.9", .unknownVersion),
    Case("PRI * HTTP/2.0", .unknownVersion, unread: "\r\n\r\nSM\r\n\r\n"),
  ]

  static let fieldCases: [Case] = [
    Case(" ", .foldedLine, unread: "X: y\r\n"), Case("X: y\r\n\t", .foldedLine, unread: "z\r\n"),
    Case(":", .fieldName), Case("X ", .spaceBeforeColon, unread: ":"),
    Case("X\t", .spaceBeforeColon, unread: ":"),
    Case("X\r", .fieldName), Case("X\n", .bareLineFeed), Case("X(", .fieldName), Case("\u{E9}", .fieldName),
    Case("X: \u{0}", .fieldValue), Case("X: \u{7F}", .fieldValue), Case("X: \u{E9}", .fieldValue),
    Case("X: \u{1}", .fieldValue), Case("X: a\n", .bareLineFeed), Case("X: a\rb", .bareCarriageReturn),
    Case("\n", .bareLineFeed), Case("\r\r", .bareCarriageReturn),
  ]

  private func check(_ text: [UInt8], _ rule: RequestRefusal.Rule, unread: Int) {
    let answer = whole(text)
    #expect(answer.rule == rule)
    let slow = byteByByte(text)
    #expect(slow.answer == answer)
    #expect(slow.taken == text.count - unread)
  }

  @Test(arguments: cases) func requestLine(_ broken: Case) {
    // é is two bytes, of which the first proves it.
    let unread = broken.rest.utf8.count + (broken.text.hasSuffix("\u{E9}") ? 1 : 0)
    check(Array((broken.text + broken.rest).utf8), broken.rule, unread: unread)
  }

  @Test(arguments: fieldCases) func field(_ broken: Case) {
    let unread = broken.rest.utf8.count + (broken.text.hasSuffix("\u{E9}") ? 1 : 0)
    check(Array(("GET / HTTP/1.1\r\n" + broken.text + broken.rest).utf8), broken.rule, unread: unread)
  }

  /// A rule about what the head means is broken only once the head is whole, as a later field may break one that
  /// comes first.
  @Test(arguments: [
    ("GET / HTTP/1.1", "", RequestRefusal.Rule.hostMissing),
    ("GET / HTTP/1.1", "Host: a b\r\n", .host),
    (
      "POST / HTTP/1.1", "Host: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      .lengthWithTransferEncoding
    ),
    ("POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding: gzip, chunked\r\n", .transferEncoding),
    (
      "POST / HTTP/1.1", "Host: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      .transferEncoding
    ),
    ("POST / HTTP/1.0", "Host: a\r\nTransfer-Encoding: chunked\r\n", .transferEncodingVersion),
    ("GET / HTTP/1.1", "Host: a\r\nTransfer-Encoding: chunked\r\n", .bodyOnGet),
    ("GET / HTTP/1.1", "Host: a\r\nExpect: 200-maybe\r\n", .expectation),
  ])
  func meaning(line: String, fields: String, rule: RequestRefusal.Rule) {
    check(Array((line + "\r\n" + fields + "\r\n").utf8), rule, unread: 0)
  }

  @Test func aRefusalStandsOrGivesWay() {
    var parser = RequestParser()
    #expect(next(&parser, "GET\n").rule == .bareLineFeed)
    #expect(next(&parser, "").rule == .bareLineFeed)

    parser = RequestParser()
    let soft = Array("HEAD / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n\r\n".utf8)
    guard case .refused(let refusal) = parser.parse(soft.span) else {
      Issue.record("not refused")
      return
    }
    #expect(refusal.isHead)
    guard case .head = next(&parser, "GET / HTTP/1.1\r\nHost: a\r\n\r\n") else {
      Issue.record("the next request was not read")
      return
    }
  }

  @Test func statuses() {
    #expect(RequestRefusal(.bareLineFeed).status.rawValue == 400)
    #expect(RequestRefusal(.transferEncoding).status.rawValue == 501)
    #expect(RequestRefusal(.unknownVersion).status.rawValue == 505)
    #expect(RequestRefusal(.requestLineLength).status.rawValue == 414)
    #expect(RequestRefusal(.headLength).status.rawValue == 431)
    #expect(RequestRefusal(.fieldCount).status.rawValue == 431)
    #expect(RequestRefusal(.expectation).status.rawValue == 417)
    #expect(RequestRefusal(.foldedLine).step == "folded_line")
  }

  // MARK: Limits, at and above

  @Test func headBytes() {
    let text = Array("GET / HTTP/1.1\r\nHost: a\r\nX: yyyyyyyyyyyyyyyyyyyy\r\n\r\n".utf8)
    let atLimit = RequestParser.Limits(headBytes: text.count)
    guard case .head = whole(text, atLimit) else {
      Issue.record("refused at the limit")
      return
    }
    for over in 1...text.count - 16 {
      let limits = RequestParser.Limits(headBytes: text.count - over)
      #expect(whole(text, limits).rule == .headLength)
      let slow = byteByByte(text, limits)
      #expect(slow.answer.rule == .headLength)
      #expect(slow.taken == text.count - over)
    }
    for limit in 1..<16 { #expect(whole(text, .init(headBytes: limit)).rule == .requestLineLength) }
  }

  @Test func fieldCount() {
    for (count, rule) in [(64, nil), (65, RequestRefusal.Rule.fieldCount)] {
      let extra = (1..<count).map { "X-\($0): y\r\n" }.joined()
      let text = Array("GET / HTTP/1.1\r\nHost: a\r\n\(extra)\r\n".utf8)
      #expect(whole(text).rule == rule)
      #expect(byteByByte(text).answer == whole(text))
    }
  }
}

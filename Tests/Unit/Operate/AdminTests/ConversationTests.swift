import HTTPWire
import Testing

@testable import Admin

/// Bytes of a peer, whole and byte by byte: what is a request, what is refused, and what follows it.
@Suite struct ConversationTests {
  static let table: [(String, [String])] = [
    ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET / "]),
    (
      "GET /livez HTTP/1.1\r\nHost: a\r\n\r\nHEAD /readyz HTTP/1.1\r\nHost: a\r\n\r\n",
      ["GET /livez ", "HEAD /readyz "]
    ),
    ("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na=1", ["POST /a a=1"]),
    ("POST /a HTTP/1.1\r\nHost: a\r\n\r\n", ["POST /a "]),
    (
      "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na=1GET /b HTTP/1.1\r\nHost: a\r\n\r\n",
      ["POST /a a=1", "GET /b "]
    ),
    // Framing in doubt: whatever follows is not read as a request.
    ("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", ["400!"]),
    ("HEAD / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", ["400!"]),
    ("DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", ["405!"]),
    ("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", ["405!"]),
    (
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET / HTTP/1.1",
      ["400!"]
    ),
    (
      "POST /a HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n2\r\n=1\r\n0\r\n\r\nGET /b HTTP/1.1\r\nHost: a\r\n\r\n",
      ["POST /a a=1", "GET /b "]
    ),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ["POST / "]),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a\r\n{}\r\n0\r\n\r\n", ["400!"]),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n", ["400!"]),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n", ["413!"]),
    ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", ["501!"]),
    ("POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ["400!"]),
    ("HEAD / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ["400!"]),
    ("DELETE / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", ["405!"]),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", ["400!"]),
    ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n", ["413!"]),
    ("GET / HTTP/1.1\n\n", ["400!"]), ("\u{16}\u{3}\u{1}\u{2}", ["400!"]),
    ("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n", ["400!"]), ("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", ["400!"]),
    ("GET / HTTP/1.1\r\n\r\n", ["400!"]), ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", ["400!"]),
    ("PRI * HTTP/2.0\r\n\r\n", ["505!"]),
    // Refused, and no doubt about the next.
    (
      "GET / HTTP/1.1\r\nHost: a\r\nOrigin: a\r\nOrigin: b\r\n\r\nGET /c HTTP/1.1\r\nHost: a\r\n\r\n",
      ["400", "GET /c "]
    ),
  ]

  @Test(arguments: table)
  func requests(text: String, expected: [String]) {
    let bytes = Array(text.utf8)
    for step in [bytes.count, 7, 1] { #expect(steps(of: bytes, every: step) == expected, "by \(step)") }
  }

  @Test func aBodyAtItsLimitAndAbove() {
    let limit = AdminConversation.Limits.bodyBytes
    let body = String(repeating: "a", count: limit)
    let head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: "
    #expect(steps(of: Array("\(head)\(limit)\r\n\r\n\(body)".utf8), every: 16_384) == ["POST /a \(body)"])
    #expect(steps(of: Array("\(head)\(limit + 1)\r\n\r\n".utf8), every: 16_384) == ["413!"])
  }

  @Test func aHeadAtItsLimitAndAbove() {
    let limit = AdminConversation.Limits.head.headBytes
    let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n"
    func head(_ count: Int) -> [UInt8] {
      Array(
        "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "x", count: count - frame.utf8.count))\r\n\r\n"
          .utf8)
    }
    #expect(steps(of: head(limit), every: 1024) == ["GET / "])
    #expect(steps(of: head(limit + 1), every: 1024) == ["431!"])
    let fields = (0..<65).map { "X\($0): y\r\n" }.joined()
    #expect(steps(of: Array("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n".utf8), every: 100) == ["431!"])
    let target = String(repeating: "a", count: limit)
    #expect(steps(of: Array("GET /\(target)".utf8), every: 1024) == ["414!"])
  }

  @Test func whoWaitsToSendABodyIsToldTo() {
    let head = "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    #expect(steps(of: Array((head + "a=1").utf8), every: head.utf8.count) == ["100", "POST /a a=1"])
    // Not where it is there already.
    #expect(steps(of: Array((head + "a=1").utf8), every: 4096) == ["POST /a a=1"])
  }

  /// Nobody reads on while a request is answered, so thousands at once take no more than one read.
  @Test func pipelinedRequestsComeOneByOne() {
    let one = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\n"
    let many = Array(String(repeating: one, count: 400).utf8)
    #expect(many.count < AdminConversation.Limits.readBytes)
    #expect(steps(of: many, every: many.count).count == 400)
  }
}

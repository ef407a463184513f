import HTTPWire
import Testing

@testable import Admin

/// What goes out: the fields that every answer has, and what only some have.
@Suite struct ReplyTests {
  private func sent(
    _ reply: AdminReply, isHead: Bool = false, isClosing: Bool = false, isChunked: Bool = true
  ) -> String {
    let manner = AdminReply.Manner(
      date: "Sun, 06 Nov 1994 08:49:37 GMT", isHead: isHead, isClosing: isClosing, isChunked: isChunked)
    return String(decoding: reply.encoded(manner), as: UTF8.self)
  }

  static let every: [AdminReply] = [
    .text(.ok, "ok"), .text(.badRequest, "no"), .busy(), .unauthorized(), .methodNotAllowed(),
    .seeOther("/a"),
    AdminReply(.page(.ok, Array("<p>".utf8)), isVersioned: false),
    AdminReply(.json(.ok, Array("{}".utf8)), isVersioned: false),
    AdminReply(.json(.ok, Array("{}".utf8)), isVersioned: false).answering(["*"]),
    AdminReply(.asset(contentType: "text/css", Array("p{}".utf8)), isVersioned: true),
    AdminReply(.stream(contentType: "text/plain", fileName: "a", Pieces([])), isVersioned: false),
  ]

  @Test(arguments: every)
  func everyAnswerKeepsOthersOut(reply: AdminReply) {
    let text = sent(reply)
    for line in [
      "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      "X-Content-Type-Options: nosniff", "Cross-Origin-Opener-Policy: same-origin",
      "Cross-Origin-Resource-Policy: same-origin", "Referrer-Policy: no-referrer",
      "Date: Sun, 06 Nov 1994 08:49:37 GMT",
    ] {
      #expect(text.contains("\r\n\(line)\r\n"))
    }
    #expect(text.components("\r\nCache-Control: ") == 1 && !text.contains("\r\nServer:"))
  }

  @Test func whatIsKept() {
    let json = AdminReply(.json(.ok, Array("{}".utf8)), isVersioned: false)
    // SHA-256 of "{}" begins so.
    let tag = "\"44136fa355b3678a1146ad16f7e8649e\""
    #expect(sent(json).contains("\r\nETag: \(tag)\r\n") && sent(json).hasSuffix("\r\n\r\n{}"))
    #expect(sent(json).contains("\r\nCache-Control: no-store\r\n"))
    for known in [tag, "W/\(tag)", "*"] {
      let again = json.answering(["\"x\"", known])
      #expect(again.status == .notModified)
      let text = sent(again)
      #expect(text.hasPrefix("HTTP/1.1 304 Not Modified\r\n") && text.hasSuffix("\r\n\r\n"))
      #expect(text.contains("\r\nCache-Control: no-store\r\n"))
      #expect(text.contains("ETag: \(tag)") && !text.contains("Content-Length") && !text.contains("{}"))
    }
    #expect(json.answering(["\"x\""]) == json && json.answering([]) == json)
    // What went wrong may go well the next time, and pages are nobody's to keep.
    for answer in [AdminAnswer.json(.conflict, []), .page(.ok, Array("{}".utf8))] {
      let reply = AdminReply(answer, isVersioned: true).answering(["*"])
      #expect(reply.status != .notModified && sent(reply).contains("Cache-Control: no-store"))
    }
    let style = AdminAnswer.asset(contentType: "text/css", [])
    #expect(sent(AdminReply(style, isVersioned: true)).contains("max-age=31536000, immutable"))
    #expect(sent(AdminReply(style, isVersioned: false)).contains("private, no-cache"))
  }

  @Test func whoIsToTryAgainIsToldWhen() {
    for answer in [AdminAnswer.page(.unavailable, []), .json(.unavailable, [])] {
      #expect(sent(AdminReply(answer, isVersioned: false)).contains("\r\nRetry-After: 2\r\n"))
    }
    #expect(sent(.busy()).contains("\r\nRetry-After: 2\r\n") && !sent(.text(.ok, "ok")).contains("Retry"))
  }

  @Test func aHeadHasTheLengthAndNoBody() {
    let text = sent(.text(.ok, "ok"), isHead: true)
    #expect(text.contains("Content-Length: 3\r\n") && text.hasSuffix("\r\n\r\n"))
  }

  @Test func theEndOfTheConnectionIsSaid() {
    #expect(sent(.text(.ok, "ok"), isClosing: true).contains("\r\nConnection: close\r\n"))
    #expect(!sent(.text(.ok, "ok")).contains("Connection"))
  }

  @Test func aDownload() {
    let stream = AdminAnswer.stream(contentType: "text/plain", fileName: "a\"b/\r\nc-1.json", Pieces([]))
    let text = sent(AdminReply(stream, isVersioned: false))
    #expect(text.contains("\r\nTransfer-Encoding: chunked\r\n") && !text.contains("Content-Length"))
    #expect(text.contains(#"attachment; filename="a_b___c-1.json""#))
    // HTTP/1.0 knows no chunks: the end of the connection is the end.
    #expect(
      !sent(AdminReply(stream, isVersioned: false), isClosing: true, isChunked: false).contains("Transfer"))
    #expect(Chunk.encoded(Array(repeating: 0x61, count: 16)) == Array("10\r\naaaaaaaaaaaaaaaa\r\n".utf8))
  }

  /// Where a change leads to is never another site, nor a second field.
  @Test(arguments: [
    ("/sessions?done=ended", "/sessions?done=ended"), ("//evil.example/", "/"), ("https://evil.example", "/"),
    ("/\\evil.example", "/"), ("/a\r\nSet-Cookie: a=b", "/"), ("", "/"), ("/ä", "/"), ("sessions", "/"),
  ])
  func whereTo(path: String, location: String) {
    let text = sent(AdminReply(.seeOther(path), isVersioned: false))
    #expect(text.hasPrefix("HTTP/1.1 303 See Other\r\n") && text.contains("\r\nLocation: \(location)\r\n"))
  }
}

extension String {
  /// How often `text` is in it.
  fileprivate func components(_ text: String) -> Int {
    var (count, rest) = (0, self[...])
    while let range = rest.firstRange(of: text) {
      count += 1
      rest = rest[range.upperBound...]
    }
    return count
  }
}

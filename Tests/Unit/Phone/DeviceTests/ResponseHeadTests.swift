@testable import Dialing
import Testing

/// Response heads by the rules of RFC 9112 §4 to §6.
@Suite struct ResponseHeadTests {
  private func parse(_ text: String) throws(GateClientError) -> ResponseHead.Parsed? {
    try ResponseHead.parse(Array(text.utf8))
  }

  @Test func aHeadIsReadHoweverItComes() throws {
    let text =
      "HTTP/1.1 401 Unauthorized\r\nPortcullis-Error: key_unknown\r\nX:  a b \t\r\nContent-Length: 5\r\n\r\n"
    let bytes = Array(text.utf8)
    for count in 0..<bytes.count { #expect(try ResponseHead.parse(Array(bytes[..<count])) == nil) }
    let head = try #require(try ResponseHead.parse(bytes))
    #expect(head.response.status == 401)
    #expect(head.response.errorCode == "key_unknown")
    #expect(head.response["x"] == "a b")
    #expect(head.body == .length(5))
    #expect(head.keepsAlive)
    #expect(head.length == bytes.count)
    #expect(try ResponseHead.parse(bytes + Array("HTTP/1.1 200".utf8)) == head)
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ResponseHead.Body.length(0), true),
    ("HTTP/1.1 200\r\nContent-Length: 0\r\nConnection: Close\r\n\r\n", .length(0), false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n", .length(1_048_576), true),
    ("HTTP/1.1 204 No Content\r\n\r\n", .length(0), true),
    ("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n\r\n", .length(0), true),
    ("HTTP/1.1 200 OK\r\n\r\n", .untilClose, false),
    ("HTTP/1.0 200 ok\r\nContent-Length: 3\r\n\r\n", .length(3), false),
  ])
  func bodies(text: String, body: ResponseHead.Body, keepsAlive: Bool) throws {
    let head = try #require(try parse(text))
    #expect(head.body == body)
    #expect(head.keepsAlive == keepsAlive)
  }

  @Test(arguments: [
    "HTTP/2 200 OK\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n", "HTTP/1.1 +20 OK\r\n\r\n",
    "HTTP/1.1 600 X\r\n\r\n", "HTTP/1.1\r\n\r\n", "\r\n\r\n", "HTTP/1.1 200 OK\r\nnothing\r\n\r\n",
    "HTTP/1.1 200 OK\r\n: x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
  ])
  func whatIsNoResponse(text: String) {
    #expect(throws: GateClientError.self) { try parse(text) }
  }

  @Test func anEndlessHeadIsGivenUpOn() throws {
    let bytes =
      Array("HTTP/1.1 200 OK\r\nX: ".utf8) + [UInt8](repeating: 0x61, count: ResponseHead.largestHead)
    #expect(try ResponseHead.parse(Array(bytes[..<ResponseHead.largestHead])) == nil)
    #expect(throws: GateClientError.self) {
      try ResponseHead.parse(Array(bytes[...ResponseHead.largestHead]))
    }
  }
}

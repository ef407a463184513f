import Dialing
import Testing

@Suite struct GateURLTests {
  @Test(
    arguments: [
      ("wss://mud.example.org", "mud.example.org", 443, "/", "mud.example.org"),
      ("https://mud.example.org/", "mud.example.org", 443, "/", "mud.example.org"),
      ("WSS://localhost:8443/play?room=1", "localhost", 8443, "/play?room=1", "localhost:8443"),
      ("wss://localhost?room=1", "localhost", 443, "/?room=1", "localhost"),
      ("wss://[::1]:8443/x", "::1", 8443, "/x", "[::1]:8443"),
      ("wss://[2001:db8::1]", "2001:db8::1", 443, "/", "[2001:db8::1]"),
      ("wss://127.0.0.1:65535", "127.0.0.1", 65535, "/", "127.0.0.1:65535"),
      ("wss://127.0.0.1:1", "127.0.0.1", 1, "/", "127.0.0.1:1"),
    ] as [(String, String, UInt16, String, String)])
  func parts(text: String, host: String, port: UInt16, path: String, authority: String) {
    let url = GateURL(text)
    #expect(url == GateURL(host: host, port: port, path: path))
    #expect(url?.authority == authority)
  }

  @Test(arguments: [
    "", "localhost", "ws://localhost", "http://localhost", "wss://", "wss://:8443", "wss://host:",
    "wss://host:0",
    "wss://host:65536", "wss://host:+80", "wss://host:8x", "wss://user@host", "wss://host/#part",
    "wss://host/a b",
    "wss://host/\r\nX: y", "wss://h\u{E4}st", "wss://[::1", "wss://[::1]8443", "wss://[]",
  ])
  func whatIsNone(text: String) {
    #expect(GateURL(text) == nil)
  }
}

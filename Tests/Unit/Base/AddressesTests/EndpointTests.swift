import Testing

@testable import Addresses

@Suite struct CIDRBlockTests {
  /// An unknown port is not shown as one.
  @Test(arguments: [
    ("192.0.2.1:80", "192.0.2.1:80"), ("192.0.2.1:0", "192.0.2.1"), ("[2001:db8::1]:0", "2001:db8::1"),
  ])
  func peers(text: String, shown: String) throws {
    #expect(try #require(Endpoint(text)).peerDescription == shown)
  }

  @Test(arguments: [
    ("10.0.0.0/8", "10.255.255.255", true), ("10.0.0.0/8", "11.0.0.0", false),
    ("10.0.0.0/8", "9.255.255.255", false),
    ("0.0.0.0/0", "255.255.255.255", true), ("0.0.0.0/0", "::1", false), ("::/0", "1.2.3.4", false),
    ("::/0", "ff::1", true), ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
    ("192.0.2.0/31", "192.0.2.1", true), ("192.0.2.0/31", "192.0.2.2", false),
    ("10.0.0.0/8", "::ffff:10.1.2.3", true), ("::ffff:10.0.0.0/104", "10.1.2.3", true),
    ("::ffff:10.0.0.0/104", "11.1.2.3", false), ("2001:db8::/32", "2001:db8:ffff::1", true),
    ("2001:db8::/32", "2001:db9::", false), ("2001:db8::/64", "2001:db8::ffff:0:0:1", true),
    ("2001:db8::/64", "2001:db8:0:1::", false), ("2001:db8::/65", "2001:db8::7fff:0:0:1", true),
    ("2001:db8::/65", "2001:db8::8000:0:0:0", false), ("::1/128", "::1", true), ("::1", "::2", false),
  ])
  func contains(block: String, address: String, expected: Bool) throws {
    let address = try #require(IPAddress(address))
    #expect(try CIDRBlock(parsing: block).contains(address) == expected)
  }

  @Test(arguments: [
    ("", CIDRBlock.ParseError.malformedAddress), ("/8", .malformedAddress), ("10/8", .malformedAddress),
    ("10.0.0.0/", .malformedLength), ("10.0.0.0/08", .malformedLength), ("10.0.0.0/-1", .malformedLength),
    ("10.0.0.0/8/8", .malformedLength), ("10.0.0.0/8 ", .malformedLength),
    ("10.0.0.0/1000", .malformedLength),
    ("10.0.0.0/33", .lengthOutOfRange), ("::/129", .lengthOutOfRange),
    ("10.0.0.1/8", .hostBitsSet(CIDRBlock(masking: IPAddress(v4: 0x0A00_0000), to: 8))),
    ("::1/64", .hostBitsSet(CIDRBlock(masking: .anyV6, to: 64))),
  ])
  func refused(text: String, error: CIDRBlock.ParseError) {
    #expect(throws: error) { try CIDRBlock(parsing: text) }
  }

  @Test(arguments: [
    ("10.0.0.0/8", "10.0.0.0/8"), ("1.2.3.4", "1.2.3.4/32"), ("::1", "::1/128"), ("::/0", "::/0"),
    ("::ffff:0.0.0.0/96", "0.0.0.0/0"),
  ])
  func written(text: String, canonical: String) throws {
    #expect(try CIDRBlock(parsing: text).description == canonical)
  }
}

@Suite struct EndpointTests {
  @Test(arguments: [
    ("1.2.3.4:80", "1.2.3.4:80"), ("[::1]:80", "[::1]:80"), ("0.0.0.0:0", "0.0.0.0:0"),
    ("[::]:65535", "[::]:65535"),
    ("[0:0:0:0:0:0:0:1]:1", "[::1]:1"),
  ])
  func read(text: String, canonical: String) {
    #expect(Endpoint(text)?.description == canonical)
  }

  @Test(arguments: [
    "", ":", ":80", "1.2.3.4", "1.2.3.4:", "1.2.3.4:65536", "1.2.3.4:080", "1.2.3.4:+80", "1.2.3.4:80 ",
    "::1:80",
    "[::1]", "[::1]80", "[1.2.3.4]:80", "[]:80", "[::1:80", "::1]:80", "localhost:80", "[[::1]]:80",
    "1.2.3.4:00",
    "[::1%lo]:80",
  ])
  func refused(text: String) {
    #expect(Endpoint(text) == nil)
  }

  @Test(arguments: [
    ("8443", ListenAddress.ParseError.malformed), ("localhost:8443", .malformed), ("", .malformed),
    ("[::ffff:1.2.3.4]:80", .mapped), ("224.0.0.1:80", .multicast), ("[ff02::1]:80", .multicast),
  ])
  func notToListenOn(text: String, error: ListenAddress.ParseError) {
    #expect(throws: error) { try ListenAddress(parsing: text) }
  }
}

@Suite struct BackendTargetTests {
  @Test(arguments: [
    ("127.0.0.1:4000", BackendTarget.tcp(host: "127.0.0.1", port: 4000)),
    ("[::1]:4000", .tcp(host: "::1", port: 4000)),
    ("mud.example.com:23", .tcp(host: "mud.example.com", port: 23)), ("mud:1", .tcp(host: "mud", port: 1)),
    ("mud.example.:1", .tcp(host: "mud.example.", port: 1)),
    ("mud_server-1:65535", .tcp(host: "mud_server-1", port: 65535)),
    ("3com.net:23", .tcp(host: "3com.net", port: 23)),
    ("unix:/run/mud.sock", .unix(path: "/run/mud.sock")), ("unix:mud.sock", .unix(path: "mud.sock")),
    ("echo:", .echo),
  ])
  func read(text: String, target: BackendTarget) throws {
    #expect(try BackendTarget(parsing: text) == target)
    #expect(target.description == text)
  }

  /// Port 53 for a name that has to be looked up.
  @Test(
    arguments: [
      ("127.0.0.1:4000", [4000]), ("[::1]:23", [23]), ("mud.example.com:4000", [4000, 53]),
      ("unix:/run/mud.sock", []),
      ("echo:", []),
    ] as [(String, [UInt16])])
  func portsThatAreCalled(text: String, ports: [UInt16]) throws {
    #expect(try BackendTarget(parsing: text).calledPorts == ports)
  }

  @Test(arguments: [
    ("", BackendTarget.ParseError.malformed), ("mud", .malformed), ("mud:", .malformedPort),
    ("mud:x", .malformedPort),
    ("::1:4000", .malformedPort), (":4000", .malformedPort), ("mud:65536", .malformedPort),
    ("mud:0", .portZero),
    ("256.1.1.1:80", .malformedHost), ("1.2.3:80", .malformedHost), ("-mud:80", .malformedHost),
    ("mud-:80", .malformedHost), ("a..b:80", .malformedHost), ("mud..:80", .malformedHost),
    (".:80", .malformedHost), ("1.2.3.:80", .malformedHost),
    ("m\u{FC}:80", .malformedHost),
    ("m ud:80", .malformedHost), ("[mud]:80", .malformedHost), ("[1.2.3.4]:80", .malformedHost),
    ("unix:", .malformedPath), ("unix:/\0", .malformedPath), ("echo:80x", .malformedPort),
  ])
  func refused(text: String, error: BackendTarget.ParseError) {
    #expect(throws: error) { try BackendTarget(parsing: text) }
  }

  @Test func limits() throws {
    let longest = "/" + String(repeating: "a", count: 106)
    #expect(try BackendTarget(parsing: "unix:\(longest)") == .unix(path: longest))
    #expect(throws: BackendTarget.ParseError.malformedPath) { try BackendTarget(parsing: "unix:\(longest)a") }
    let label = String(repeating: "a", count: 63)
    #expect(try BackendTarget(parsing: "\(label):1") == .tcp(host: label, port: 1))
    #expect(throws: BackendTarget.ParseError.malformedHost) { try BackendTarget(parsing: "\(label)a:1") }
    let name = [label, label, label, String(repeating: "a", count: 61)].joined(separator: ".")
    #expect(try BackendTarget(parsing: "\(name):1") == .tcp(host: name, port: 1))
    #expect(throws: BackendTarget.ParseError.malformedHost) { try BackendTarget(parsing: "\(name)a:1") }
  }
}

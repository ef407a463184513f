import Addresses
import Testing

@testable import ProxyProtocol

@Suite struct ForwardedForTests {
  /// 10.0.0.0/8 and 2001:db8:f::/48.
  static func isTrusted(_ address: IPAddress) -> Bool {
    address.family == .v4 ? address.low >> 24 == 10 : address.high >> 16 == 0x2001_0DB8_000F
  }

  private func client(_ value: String) throws(ForwardedFor.Malformed) -> String {
    let bytes = [UInt8](value.utf8)
    return try ForwardedFor.client(in: bytes.span, isTrusted: Self.isTrusted).description
  }

  @Test(arguments: [
    ("203.0.113.9", "203.0.113.9:0"), ("2001:db8::7", "[2001:db8::7]:0"),
    ("[2001:db8::7]", "[2001:db8::7]:0"),
    ("203.0.113.9:4660", "203.0.113.9:4660"), ("[2001:db8::7]:4660", "[2001:db8::7]:4660"),
    ("::ffff:203.0.113.9", "203.0.113.9:0"), ("[::ffff:203.0.113.9]:1", "203.0.113.9:1"),
    (
      "[ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255]:65535",
      "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"
    ),
    // The last one that is no proxy of ours counts, and not what it claims itself.
    ("192.0.2.1, 203.0.113.9", "203.0.113.9:0"), ("192.0.2.1,203.0.113.9,10.1.2.3", "203.0.113.9:0"),
    ("203.0.113.9, 10.0.0.1, 2001:db8:f::1, 10.0.0.2", "203.0.113.9:0"),
    ("10.0.0.9, 203.0.113.9, 10.0.0.1", "203.0.113.9:0"),
    ("203.0.113.9, ::ffff:10.0.0.1", "203.0.113.9:0"), ("203.0.113.9, 10.0.0.1:8080", "203.0.113.9:0"),
    // Our own machines alone: the one that began.
    ("10.0.0.3", "10.0.0.3:0"), ("10.0.0.3:7, 10.0.0.2", "10.0.0.3:7"),
    // White space around a hop (RFC 9110 §5.6.1).
    (" \t203.0.113.9\t , \t10.0.0.1 ", "203.0.113.9:0"),
  ])
  func found(value: String, source: String) throws {
    #expect(try client(value) == source)
  }

  @Test(
    arguments: [
      ("", .emptyHop), (" \t", .emptyHop), (",", .emptyHop), ("203.0.113.9,", .emptyHop),
      (", 203.0.113.9", .emptyHop),
      ("192.0.2.1, ,203.0.113.9", .emptyHop), ("10.0.0.1,,", .emptyHop),
      ("nonsense", .hop), ("unknown", .hop), ("_hidden", .hop), ("localhost", .hop), ("1.2.3.400", .hop),
      ("1.2.3", .hop),
      ("1.2.3.4.5", .hop), ("01.2.3.4", .hop), ("1.2.3.4:", .hop), ("1.2.3.4:65536", .hop),
      ("1.2.3.4:080", .hop),
      ("1.2.3.4:http", .hop), ("1.2.3.4 5.6.7.8", .hop), ("[1.2.3.4]", .hop), ("[1.2.3.4]:80", .hop),
      ("[::1", .hop),
      ("::1]", .hop), ("[]", .hop), ("[", .hop), ("]", .hop), ("[::1]80", .hop), ("[::1]:", .hop),
      ("\"[::1]:80\"", .hop),
      ("fe80::1%eth0", .hop), ("203.0.113.9/32", .hop), ("1.2.3.4;5.6.7.8", .hop), ("1.2.3.4\0", .hop),
      ("é", .hop),
      // Also where it is only claimed.
      ("nonsense, 203.0.113.9", .hop), ("unknown, 203.0.113.9, 10.0.0.1", .hop),
      ("203.0.113.9, nonsense", .hop),
    ] as [(String, ForwardedFor.Malformed)])
  func malformed(value: String, problem: ForwardedFor.Malformed) {
    #expect(throws: problem) { try client(value) }
  }

  /// As much as a head can carry is one walk.
  @Test func longList() throws {
    let list = "203.0.113.9" + String(repeating: ",10.0.0.1", count: 900)
    #expect(try client(list) == "203.0.113.9:0")
    #expect(throws: ForwardedFor.Malformed.hop) { try client(String(repeating: "1", count: 8000)) }
  }
}

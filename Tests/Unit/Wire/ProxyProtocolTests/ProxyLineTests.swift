import Testing

@testable import ProxyProtocol

/// Version 1 (HAProxy's text, §2.1).
@Suite struct ProxyLineTests {
  @Test(arguments: [
    ("PROXY TCP4 203.0.113.9 198.51.100.1 1234 443\r\n", relayed("203.0.113.9:1234", "198.51.100.1:443")),
    ("PROXY TCP4 0.0.0.0 255.255.255.255 0 65535\r\n", relayed("0.0.0.0:0", "255.255.255.255:65535")),
    ("PROXY TCP6 2001:db8::7 2001:DB8:0::1 1 2\r\n", relayed("[2001:db8::7]:1", "[2001:db8::1]:2")),
    // An IPv4 client of an IPv6 listener, and the other way round: the IPv4 address is meant.
    ("PROXY TCP6 ::ffff:203.0.113.9 2001:db8::1 1 2\r\n", relayed("203.0.113.9:1", "[2001:db8::1]:2")),
    ("PROXY TCP6 ::ffff:cb00:7109 ::ffff:0:1 1 2\r\n", relayed("203.0.113.9:1", "0.0.0.1:2")),
    // The longest of §2.1 with both families.
    (
      "PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n",
      relayed("255.255.255.255:65535", "255.255.255.255:65535")
    ),
    (
      "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
      relayed(
        "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535")
    ),
    ("PROXY UNKNOWN\r\n", .socketAddresses),
    ("PROXY UNKNOWN nobody knows \0 what this is\r\n", .socketAddresses),
    (
      "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
      .socketAddresses
    ),
  ])
  func good(line: String, header: ProxyHeader?) throws {
    let line = bytes(line)
    let header = try #require(header)
    let whole = ProxyHeaderParser.Outcome.header(header, consumed: line.count)
    #expect(parse(line) == whole)
    #expect(parse(line + bytes("\u{16}\u{3}\u{1}\r\n")) == whole)
    #expect(outcomes(line).dropLast().allSatisfy { $0 == .needMore })
  }

  @Test(
    arguments: [
      ("GET / HTTP/1.1\r\n", .signature), ("proxy TCP4 1.2.3.4 1.2.3.4 1 1\r\n", .signature),
      ("PROXI TCP4 1.2.3.4 1.2.3.4 1 1\r\n", .signature), ("PROXY\tTCP4 1.2.3.4 1.2.3.4 1 1\r\n", .signature),
      ("\u{16}\u{3}\u{1}\u{2}\0", .signature), (" PROXY UNKNOWN\r\n", .signature), ("PROXY\r\n", .signature),
      ("PROXY UNKNOWN\n", .lineEnd), ("PROXY UNKNOWN\rX", .lineEnd), ("PROXY UNKNOWN\r\r\n", .lineEnd),
      ("PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n\r\n", .lineEnd),
      ("PROXY \r\n", .lineFamily), ("PROXY  TCP4 1.2.3.4 1.2.3.4 1 1\r\n", .lineFamily),
      ("PROXY tcp4 1.2.3.4 1.2.3.4 1 1\r\n", .lineFamily),
      ("PROXY UDP4 1.2.3.4 1.2.3.4 1 1\r\n", .lineFamily),
      ("PROXY TCP5 1.2.3.4 1.2.3.4 1 1\r\n", .lineFamily), ("PROXY UNKNOWNS\r\n", .lineFamily),
      ("PROXY TCP4\r\n", .lineFields), ("PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n", .lineFields),
      ("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 \r\n", .lineFields),
      ("PROXY TCP4 1.2.3.4 1.2.3.4 1 1 1\r\n", .lineFields),
      ("PROXY TCP4 1.2.3.4  1.2.3.4 1 1\r\n", .lineFields), ("PROXY TCP4  1.2.3.4 1.2.3.4 1\r\n", .address),
      ("PROXY TCP4 1.2.3.400 1.2.3.4 1 1\r\n", .address), ("PROXY TCP4 1.2.3.4 1.2.3.04 1 1\r\n", .address),
      ("PROXY TCP4 ::1 ::1 1 1\r\n", .address), ("PROXY TCP6 1.2.3.4 1.2.3.4 1 1\r\n", .address),
      ("PROXY TCP6 ::1 1.2.3.4 1 1\r\n", .address), ("PROXY TCP6 [::1] [::1] 1 1\r\n", .address),
      ("PROXY TCP6 fe80::1%eth0 ::1 1 1\r\n", .address), ("PROXY TCP4 host 1.2.3.4 1 1\r\n", .address),
      ("PROXY TCP4 1.2.3.4 1.2.3.4 01 1\r\n", .port), ("PROXY TCP4 1.2.3.4 1.2.3.4 65536 1\r\n", .port),
      ("PROXY TCP4 1.2.3.4 1.2.3.4 1 -1\r\n", .port), ("PROXY TCP4 1.2.3.4 1.2.3.4 1 123456\r\n", .port),
      ("PROXY TCP4 1.2.3.4 1.2.3.4 1 \r\n", .port), ("PROXY TCP4 1.2.3.4 1.2.3.4 1 +1\r\n", .port),
    ] as [(String, ProxyHeaderViolation)])
  func refused(line: String, violation: ProxyHeaderViolation) {
    #expect(parse(bytes(line)) == .refused(violation))
    // And it stays refused, from the byte on at which it was.
    let refusals = outcomes(bytes(line)).drop { $0 == .needMore }
    #expect(refusals.allSatisfy { $0 == .refused(violation) } && !refusals.isEmpty)
  }

  /// 107 bytes with CR LF are the most.
  @Test func length() {
    func line(_ count: Int) -> [UInt8] {
      bytes("PROXY UNKNOWN ") + [UInt8](repeating: UInt8(ascii: "x"), count: count - 16) + bytes("\r\n")
    }
    #expect(parse(line(106)) == .header(.socketAddresses, consumed: 106))
    #expect(parse(line(107)) == .header(.socketAddresses, consumed: 107))
    #expect(parse(line(108)) == .refused(.lineTooLong))
    #expect(parse(Array(line(108).prefix(106))) == .needMore)
    #expect(parse(Array(line(108).prefix(107))) == .refused(.lineTooLong))
    #expect(parse(line(5000)) == .refused(.lineTooLong))
  }

  /// Nobody has to wait for the line's end to learn that it is none.
  @Test func signatureIsJudgedAtOnce() {
    #expect(parse([]) == .needMore)
    #expect(parse(bytes("P")) == .needMore)
    #expect(parse(bytes("Q")) == .refused(.signature))
    #expect(parse(bytes("PROXI")) == .refused(.signature))
  }
}

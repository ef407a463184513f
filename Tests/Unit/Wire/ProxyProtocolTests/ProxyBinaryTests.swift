import Testing

@testable import ProxyProtocol

/// Version 2 (HAProxy's text, §2.2).
@Suite struct ProxyBinaryTests {
  static let ipv4 = relayed("203.0.113.9:4660", "198.51.100.1:443")
  static let ipv6 = relayed("[2001:db8::7]:4660", "[2001:db8::1]:443")
  /// An empty value, and one of three bytes.
  static let values: [UInt8] = [0x04, 0, 0, 0xEA, 0, 3, 1, 2, 3]

  @Test(arguments: [
    (binary(0x21, 0x11, ipv4Block), ipv4), (binary(0x21, 0x21, ipv6Block), ipv6),
    (binary(0x21, 0x11, ipv4Block + values), ipv4), (binary(0x21, 0x21, ipv6Block + values), ipv6),
    (
      binary(
        0x21, 0x21,
        [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 203, 0, 113, 9] + Array(ipv6Block.dropFirst(16))),
      relayed("203.0.113.9:4660", "[2001:db8::1]:443")
    ),
    // A UNIX socket's client is at the proxy itself.
    (binary(0x21, 0x31, [UInt8](repeating: 47, count: 216)), .socketAddresses),
    (binary(0x21, 0x31, [UInt8](repeating: 47, count: 216) + values), .socketAddresses),
    // UNSPEC, and LOCAL with whatever family and block.
    (binary(0x21, 0x00, []), .socketAddresses), (binary(0x21, 0x00, [1, 2, 3]), .socketAddresses),
    (binary(0x20, 0x00, []), .socketAddresses), (binary(0x20, 0x11, ipv4Block), .socketAddresses),
    (binary(0x20, 0xFF, [1, 2, 3]), .socketAddresses), (binary(0x20, 0x11, []), .socketAddresses),
  ])
  func good(header: [UInt8], meaning: ProxyHeader?) throws {
    let meaning = try #require(meaning)
    let whole = ProxyHeaderParser.Outcome.header(meaning, consumed: header.count)
    #expect(parse(header) == whole)
    #expect(parse(header + [0x16, 0x03, 0x01]) == whole)
    #expect(outcomes(header).dropLast().allSatisfy { $0 == .needMore })
  }

  /// What load balancers add, by their documents: AWS the id of a VPC endpoint (0xEA, 01) and NOOPs for alignment, beside a
  /// CRC32C; Google the id of a Private Service Connect connection (0xE0); Azure that of a private link (0xEE, 01); HAProxy
  /// ALPN, the name, a unique id and what TLS was.
  @Test(
    arguments: [
      [0xEA, 0, 23, 0x01] + Array("vpce-08d2bf15fac5001c9".utf8)
        + [0x04, 0, 3, 0, 0, 0],
      [0xE0, 0, 8, 0x12, 0x34, 0x56, 0x78, 0x9A, 0xBC, 0xDE, 0xF0],
      [0xEE, 0, 5, 0x01, 0x16, 0x00, 0x00, 0x0A],
      [0x01, 0, 8] + Array("http/1.1".utf8) + [0x02, 0, 9] + Array("localhost".utf8) + [
        0x05, 0, 4, 1, 2, 3, 4,
      ]
        + [0x20, 0, 15, 0x01, 0, 0, 0, 0, 0x21, 0, 7] + Array("TLSv1.3".utf8),
    ] as [[UInt8]])
  func ofLoadBalancers(values: [UInt8]) throws {
    for (family, block, meaning) in [(0x11, ipv4Block, Self.ipv4), (0x21, ipv6Block, Self.ipv6)] {
      let header = binary(0x21, UInt8(family), block + values)
      let whole = ProxyHeaderParser.Outcome.header(try #require(meaning), consumed: header.count)
      #expect(parse(header + [0x16, 0x03, 0x01]) == whole)
    }
  }

  @Test(
    arguments: [
      (binary(0x31, 0x11, ipv4Block), .version), (binary(0x11, 0x11, ipv4Block), .version),
      (binary(0x01, 0x11, ipv4Block), .version),
      (binary(0x22, 0x11, ipv4Block), .command), (binary(0x2F, 0x11, ipv4Block), .command),
      // Datagrams, halves of a family, and values that nobody has given a meaning.
      (binary(0x21, 0x12, ipv4Block), .family), (binary(0x21, 0x22, ipv6Block), .family),
      (binary(0x21, 0x32, [UInt8](repeating: 0, count: 216)), .family),
      (binary(0x21, 0x01, ipv4Block), .family),
      (binary(0x21, 0x10, ipv4Block), .family), (binary(0x21, 0x41, ipv6Block), .family),
      (binary(0x21, 0x13, ipv4Block), .family),
      (binary(0x21, 0x11, []), .addressLength),
      (binary(0x21, 0x11, Array(ipv4Block.dropLast())), .addressLength),
      (binary(0x21, 0x21, ipv4Block), .addressLength),
      (binary(0x21, 0x21, Array(ipv6Block.dropLast())), .addressLength),
      (binary(0x21, 0x31, [UInt8](repeating: 0, count: 215)), .addressLength),
      (binary(0x21, 0x11, ipv4Block + [4]), .values), (binary(0x21, 0x11, ipv4Block + [4, 0]), .values),
      (binary(0x21, 0x11, ipv4Block + [4, 0, 1]), .values),
      (binary(0x21, 0x11, ipv4Block + [4, 0, 2, 1]), .values),
      (binary(0x21, 0x11, ipv4Block + values + [4, 0xFF, 0xFF]), .values),
      ([0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0D], .signature),
      ([0x0D, 0x0D], .signature),
    ] as [([UInt8], ProxyHeaderViolation)])
  func refused(header: [UInt8], violation: ProxyHeaderViolation) {
    #expect(parse(header) == .refused(violation))
    let refusals = outcomes(header).drop { $0 == .needMore }
    #expect(refusals.allSatisfy { $0 == .refused(violation) } && !refusals.isEmpty)
  }

  /// 4,096 bytes in all are the most, and the length alone decides.
  @Test func length() {
    func header(_ count: Int) -> [UInt8] {
      let value = count - 16 - 12 - 3
      return binary(
        0x21, 0x11,
        ipv4Block + [0xEA, UInt8(value >> 8), UInt8(value & 0xFF)] + [UInt8](repeating: 7, count: value))
    }
    for count in [537, 4095, 4096] {
      let outcome = parse(header(count) + [1])
      guard case .header(_, let consumed) = outcome else {
        Issue.record("\(count) bytes: \(outcome)")
        continue
      }
      #expect(consumed == count)
    }
    #expect(parse(header(4097)) == .refused(.tooLong))
    #expect(parse(Array(header(4097).prefix(15))) == .needMore)
    #expect(parse(Array(header(4097).prefix(16))) == .refused(.tooLong))
    #expect(parse(binary(0x21, 0x11, [], length: 0xFFFF)) == .refused(.tooLong))
    // LOCAL is discarded, but not without end.
    #expect(parse(binary(0x20, 0x00, [], length: 4081)) == .refused(.tooLong))
    #expect(parse(binary(0x20, 0x00, [], length: 4080)) == .needMore)
  }

  /// A value of type `PP2_TYPE_SSL` with the client's certificate in it (§2.2.6), and NOOP values after it.
  @Test(arguments: [550, 1100, 2048]) func aClientCertificate(bytes count: Int) throws {
    func value(_ type: UInt8, _ bytes: [UInt8]) -> [UInt8] {
      [type, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes
    }
    let certificate = value(0x28, [UInt8](repeating: 0x30, count: count))
    let secured = value(0x20, [0x07, 0, 0, 0, 0] + value(0x21, Array("TLSv1.3".utf8)) + certificate)
    let header = binary(0x21, 0x11, ipv4Block + secured + value(0x04, [UInt8](repeating: 0, count: 600)))
    let meaning = try #require(Self.ipv4)
    #expect(parse(header) == .header(meaning, consumed: header.count))
    #expect(outcomes(header).dropLast().allSatisfy { $0 == .needMore })
  }

  // MARK: CRC-32C (§2.2.3)

  /// Of the header with `ipv4Block` and this value alone, computed by a few lines of Python.
  private static let sum: [UInt8] = [0x56, 0xD6, 0x7B, 0xC0]

  @Test func theChecksumIsChecked() throws {
    let meaning = try #require(Self.ipv4)
    let good = binary(0x21, 0x11, ipv4Block + [0x03, 0, 4] + Self.sum)
    #expect(parse(good) == .header(meaning, consumed: good.count))
    #expect(outcomes(good).dropLast().allSatisfy { $0 == .needMore })
    // Each bit of the addresses and of the sum counts.
    for index in 16..<good.count where !(28..<31).contains(index) {
      for bit in 0..<8 {
        var bad = good
        bad[index] ^= 1 << UInt8(bit)
        #expect(parse(bad) == .refused(.checksum))
      }
    }
  }

  @Test(
    arguments: [
      [0x03, 0, 0], [0x03, 0, 3, 0, 0, 0], [0x03, 0, 5, 0, 0, 0, 0, 0],
      [0x03, 0, 4] + sum + [0x03, 0, 4] + sum,
    ] as [[UInt8]])
  func aChecksumThatIsNone(values: [UInt8]) {
    #expect(parse(binary(0x21, 0x11, ipv4Block + values)) == .refused(.checksum))
  }

  /// The block of LOCAL and of an unspecified family is discarded as it is.
  @Test func whatIsDiscardedIsNotSummed() {
    let values: [UInt8] = [0x03, 0, 4, 9, 9, 9, 9]
    for header in [binary(0x20, 0x11, ipv4Block + values), binary(0x21, 0x00, values)] {
      #expect(parse(header) == .header(.socketAddresses, consumed: header.count))
    }
  }

  @Test func versionAndCommandAreJudgedAtOnce() {
    let whole = binary(0x33, 0x11, ipv4Block)
    #expect(parse(Array(whole.prefix(12))) == .needMore)
    #expect(parse(Array(whole.prefix(13))) == .refused(.version))
    #expect(parse(Array(binary(0x23, 0x11, ipv4Block).prefix(13))) == .refused(.command))
  }
}

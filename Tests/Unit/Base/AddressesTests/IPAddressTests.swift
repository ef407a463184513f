import Testing

@testable import Addresses

/// RFC 4291 §2.2 for reading, RFC 5952 §4 and §5 for writing.
@Suite struct IPAddressTests {
  @Test(arguments: [
    ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"), ("192.0.2.1", "192.0.2.1"),
    ("::", "::"), ("::1", "::1"), ("1::", "1::"), ("2001:DB8::1", "2001:db8::1"),
    ("ABCD:EF01:2345:6789:ABCD:EF01:2345:6789", "abcd:ef01:2345:6789:abcd:ef01:2345:6789"),
    ("2001:DB8:0:0:8:800:200C:417A", "2001:db8::8:800:200c:417a"), ("FF01:0:0:0:0:0:0:101", "ff01::101"),
    ("0:0:0:0:0:0:13.1.68.3", "::d01:4403"), ("0:0:0:0:0:FFFF:129.144.52.38", "::ffff:129.144.52.38"),
    ("::13.1.68.3", "::d01:4403"), ("::FFFF:129.144.52.38", "::ffff:129.144.52.38"),
    // RFC 5952 §4.1, §4.2.2, §4.2.3: leading zeros, one zero group alone, the first of two equal runs.
    ("2001:0db8::0001", "2001:db8::1"), ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"),
    ("2001:db8::1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
    ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"),
    ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"), ("1:0:0:0:0:0:0:0", "1::"), ("0:0:0:0:0:0:0:8", "::8"),
    ("::ffff:0.0.0.0", "::ffff:0.0.0.0"), ("1:2:3:4:5:6:7.8.9.10", "1:2:3:4:5:6:708:90a"),
  ])
  func readAndWritten(text: String, canonical: String) {
    let address = IPAddress(text)
    #expect(address?.description == canonical)
    #expect(IPAddress(canonical) == address)
    let again = address.flatMap { IPAddress(networkBytes: $0.networkBytes.span) }
    #expect(again == address)
  }

  @Test(arguments: [
    "", ".", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "1.2.3.04", "01.2.3.4", "1.2.3.", ".1.2.3", "1..2.3",
    "1.2.3.4 ", " 1.2.3.4", "0x7f.0.0.1", "1.2.3.+4", "1.2.3.-4", "1.2.3.1000", "1.2.3.4\0",
    ":", ":::", ":1", "1:", "1:2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::",
    "::1:2:3:4:5:6:7:8", "1::2::3", "12345::", "g::", "::1%eth0", "[::1]", "::1/64", "1:2:3:4:5:6:7:",
    ":2:3:4:5:6:7:8", "1.2.3.4::", "::1.2.3.4:5", "::1.2.3", "::1.2.3.256", "1:2:3:4:5:6:7:1.2.3.4",
    "0000:0000:0000:0000:0000:0000:255.255.255.2555", "::-1", "::\u{E9}",
  ])
  func refused(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test(arguments: [
    ("192.0.2.200", "192.0.2.200"), ("::ffff:192.0.2.200", "192.0.2.200"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"), ("2001:db8:1:2::", "2001:db8:1:2::"),
    ("::ffff:0:1.2.3.4", "::"), ("::1", "::"),
  ])
  func countedBy(text: String, prefix: String) {
    #expect(IPAddress(text)?.accountingPrefix.description == prefix)
  }

  @Test func differentSubscribersAreCountedApart() {
    #expect(IPAddress("2001:db8:0:1::1")?.accountingPrefix != IPAddress("2001:db8:0:2::1")?.accountingPrefix)
    #expect(IPAddress("192.0.2.1")?.accountingPrefix != IPAddress("192.0.2.2")?.accountingPrefix)
    #expect(IPAddress("0.0.0.0")?.accountingPrefix != IPAddress("::")?.accountingPrefix)
  }

  @Test func mapping() {
    #expect(IPAddress("1.2.3.4")?.mapped.description == "::ffff:1.2.3.4")
    #expect(IPAddress("::ffff:1.2.3.4")?.unmapped == IPAddress("1.2.3.4"))
    #expect(IPAddress("::ffff:1.2.3.4") != IPAddress("1.2.3.4"))
    #expect(IPAddress("::1.2.3.4")?.isMapped == false)
    #expect(IPAddress("::fffe:1.2.3.4")?.isMapped == false)
  }

  @Test(arguments: [
    ("127.0.0.1", true, false), ("127.255.255.255", true, false), ("128.0.0.1", false, false),
    ("::1", true, false),
    ("::ffff:127.0.0.1", true, false), ("::2", false, false), ("224.0.0.1", false, true),
    ("239.255.255.255", false, true), ("240.0.0.0", false, false), ("ff02::1", false, true),
    ("fe80::1", false, false),
    ("0.0.0.1", false, false),
  ])
  func kinds(text: String, isLoopback: Bool, isMulticast: Bool) {
    #expect(IPAddress(text)?.isLoopback == isLoopback)
    #expect(IPAddress(text)?.isMulticast == isMulticast)
  }

  @Test(arguments: [0, 1, 3, 5, 8, 15, 17, 32]) func networkBytesOfAnotherCount(count: Int) {
    let bytes = [UInt8](repeating: 1, count: count)
    let address = IPAddress(networkBytes: bytes.span)
    #expect(address == nil)
  }
}

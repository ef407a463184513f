import Addresses
import Bytes
import Identity
import Testing

@testable import ProxyProtocol

@Suite struct ProxyEncodingTests {
  @Test(arguments: [
    (relayed("203.0.113.9:4660", "198.51.100.1:443"), "PROXY TCP4 203.0.113.9 198.51.100.1 4660 443\r\n"),
    (relayed("203.0.113.9:0", "198.51.100.1:443"), "PROXY TCP4 203.0.113.9 198.51.100.1 0 443\r\n"),
    (relayed("[2001:db8::7]:4660", "[2001:db8::1]:443"), "PROXY TCP6 2001:db8::7 2001:db8::1 4660 443\r\n"),
    (relayed("[2001:db8::7]:0", "198.51.100.1:443"), "PROXY TCP6 2001:db8::7 ::ffff:198.51.100.1 0 443\r\n"),
    (relayed("203.0.113.9:1", "[2001:db8::1]:443"), "PROXY TCP6 ::ffff:203.0.113.9 2001:db8::1 1 443\r\n"),
    (.socketAddresses, "PROXY UNKNOWN\r\n"),
  ])
  func line(header: ProxyHeader?, line: String) throws {
    #expect(try #require(header).encodedLine == bytes(line))
  }

  @Test(arguments: [
    (relayed("203.0.113.9:4660", "198.51.100.1:443"), binary(0x21, 0x11, ipv4Block)),
    (relayed("[2001:db8::7]:4660", "[2001:db8::1]:443"), binary(0x21, 0x21, ipv6Block)),
    (
      relayed("[2001:db8::7]:0", "198.51.100.1:443"),
      binary(
        0x21, 0x21,
        Array(ipv6Block.prefix(16)) + [UInt8](repeating: 0, count: 10)
          + [0xFF, 0xFF, 198, 51, 100, 1, 0, 0, 0x01, 0xBB])
    ),
    (.socketAddresses, binary(0x20, 0x00, [])),
  ])
  func binaryForm(header: ProxyHeader?, whole: [UInt8]) throws {
    #expect(try #require(header).encodedBinary(keyID: nil, device: nil) == whole)
  }

  /// The key's 32 bytes as they are, in a value of type 0xE0.
  @Test func keyIdentifier() throws {
    let digest = (0..<32).map { UInt8($0 * 8) }
    let keyID = KeyIdentifier(try #require(Bytes32(digest)))
    let header = try #require(relayed("203.0.113.9:4660", "198.51.100.1:443"))
    let encoded = header.encodedBinary(keyID: keyID, device: nil)
    #expect(encoded == binary(0x21, 0x11, ipv4Block + [0xE0, 0x00, 0x20] + digest))
    #expect(parse(encoded) == .header(header, consumed: encoded.count))
    #expect(
      ProxyHeader.socketAddresses.encodedBinary(keyID: keyID, device: nil)
        == binary(0x20, 0x00, [0xE0, 0x00, 0x20] + digest))
  }

  /// The pseudonym's 16 bytes as they are, in a value of type 0xE1 behind the key's; a client certificate has no key.
  @Test func pseudonym() throws {
    let bytes = (0..<16).map { UInt8($0 * 16) }
    let device = try #require(DevicePseudonym(Base64.encode(bytes.span)))
    let header = try #require(relayed("203.0.113.9:4660", "198.51.100.1:443"))
    let value: [UInt8] = [0xE1, 0x00, 0x10] + bytes
    #expect(header.encodedBinary(keyID: nil, device: device) == binary(0x21, 0x11, ipv4Block + value))
    let both = header.encodedBinary(keyID: KeyIdentifier(Bytes32()), device: device)
    #expect(
      both == binary(0x21, 0x11, ipv4Block + [0xE0, 0x00, 0x20] + [UInt8](repeating: 0, count: 32) + value))
    #expect(parse(both) == .header(header, consumed: both.count))
  }

  /// What is written is read as it was meant, whatever the families, within both limits.
  @Test func roundTrip() throws {
    var random = SystemRandomNumberGenerator()
    func endpoint() -> Endpoint {
      let address =
        Bool.random(using: &random)
        ? IPAddress(v4: .random(in: 0...UInt32.max, using: &random))
        : IPAddress(
          v6: .random(in: 1...UInt64.max, using: &random), .random(in: 0...UInt64.max, using: &random))
      return Endpoint(address: address, port: .random(in: 0...UInt16.max, using: &random))
    }
    for _ in 0..<2000 {
      let header = ProxyHeader.relayed(source: endpoint(), destination: endpoint())
      for encoded in [
        header.encodedLine, header.encodedBinary(keyID: nil, device: nil),
        header.encodedBinary(keyID: KeyIdentifier(Bytes32()), device: nil),
        header.encodedBinary(
          keyID: KeyIdentifier(Bytes32()), device: DevicePseudonym("AAAAAAAAAAAAAAAAAAAAAA")),
      ] {
        #expect(parse(encoded + [0x50]) == .header(header, consumed: encoded.count))
      }
    }
  }
}

import Bytes
import Testing

@testable import DeviceWire

@Suite struct PairingURITests {
  private static let pairingID = (0..<16).map { UInt8($0) }
  private static let secret = (0..<16).map { UInt8(255 - $0) }
  private static let hash = Bytes32((0..<32).map { UInt8($0 * 8) }) ?? Bytes32()
  private static let start =
    "PORTCULLIS:/1/AAAQEAYEAUDAOCAJBIFQYDIOB4/777P37H37L47R57W6X2PH4XR6A"
    + "/AAEBAGBAFAYDQQCIKBMGA2DQPCAIREEYUCULBOGAZDINRYHI6D4A"
  private static let text = start + "/GATE.EXAMPLE.COM:8443"

  private static func uri(_ host: String, _ port: UInt16 = 8443) -> PairingURI? {
    guard let pairingID = PairingID(pairingID), let secret = PairingSecret(secret) else { return nil }
    return PairingURI(pairingID: pairingID, secret: secret, serverKeyHash: hash, host: host, port: port)
  }

  @Test(arguments: [
    ("gate.example.com", 8443, "GATE.EXAMPLE.COM:8443"), ("192.0.2.1", 443, "192.0.2.1:443"),
    ("2001:db8::1", 1, "[2001:DB8::1]:1"), ("::ffff:192.0.2.1", 65535, "[::FFFF:192.0.2.1]:65535"),
    ("my_host-2", 80, "MY_HOST-2:80"),
  ])
  func roundTrip(host: String, port: Int, authority: String) throws {
    let uri = try #require(Self.uri(host, UInt16(port)))
    #expect(uri.text == "\(Self.start)/\(authority)")
    let read = try #require(PairingURI(uri.text))
    #expect(read.text == uri.text)
    #expect(read.pairingID.bytes == Self.pairingID && read.secret.bytes == Self.secret)
    #expect(read.serverKeyHash == Self.hash && read.host == host.uppercased() && read.port == UInt16(port))
  }

  @Test(arguments: [
    "", "a..b", ".", "a/b", "a b", "ä", "[::1]", "a:b:x", String(repeating: "a", count: 64),
  ])
  func hostsThatAreNone(host: String) {
    #expect(Self.uri(host) == nil)
  }

  @Test func longestHost() {
    let name = Array(repeating: String(repeating: "a", count: 62), count: 4).joined(separator: ".")
    #expect(Self.uri(name + ".b").map { PairingURI($0.text)?.text == $0.text } == true)
    #expect(Self.uri(name + ".bcd") == nil)
  }

  @Test func noPort() {
    #expect(Self.uri("a", 0) == nil)
  }

  @Test(arguments: [
    "", "PORTCULLIS:/1/", text.lowercased(), "portcullis" + text.dropFirst(10),
    text.replacing("/1/", with: "/2/"), text + "/", text + " ", " " + text,
    text.replacing(":8443", with: ""),
    text.replacing("8443", with: ""), text.replacing("8443", with: "0"),
    text.replacing("8443", with: "08443"), text.replacing("8443", with: "+8443"),
    text.replacing("8443", with: "65536"), text.replacing("GATE", with: "gate"),
    text.replacing("GATE.EXAMPLE.COM", with: "[GATE.EXAMPLE.COM]"),
    text.replacing("GATE.EXAMPLE.COM", with: "::1"),
    // A spare bit, padding, a part too short and one too many.
    text.replacing("R6A/", with: "R6B/"), text.replacing("R6A/", with: "R6A======/"),
    text.replacing("R6A/", with: "R6/"), text.replacing("R6A/", with: "R6AAA/"),
    text.replacing("/777P", with: "//777P"), text + "\n",
  ])
  func refused(text: String) {
    #expect(PairingURI(text) == nil)
  }

  /// Nothing that is left out or changed reads as another pairing, but for letters of the host and digits of the port.
  @Test func oneByteChanged() {
    let bytes = Array(Self.text.utf8)
    for index in bytes.indices.prefix(Self.start.utf8.count) {
      var changed = bytes
      changed[index] ^= 1
      #expect(PairingURI(String(decoding: changed, as: UTF8.self))?.text != Self.text)
      changed = bytes
      changed.remove(at: index)
      #expect(PairingURI(String(decoding: changed, as: UTF8.self)) == nil)
    }
  }
}

/// What the QR code of a pairing says: which pairing, its secret, whom to talk to and by which key to know him.
///
/// `PORTCULLIS:/1/<pairing id>/<secret>/<hash of the server's SPKI>/<HOST:PORT>`. All of it is upper case and the bytes are
/// base32, so that a code needs 11 bits for two characters. One spelling for each value: whoever reads it compares nothing.
package import Bytes

package struct PairingURI: Sendable {
  package let pairingID: PairingID
  /// Known to those alone who have seen the code.
  package let secret: PairingSecret
  /// SHA-256 of the SubjectPublicKeyInfo in the server's certificate.
  package let serverKeyHash: Bytes32
  /// A name, an IPv4 address, or an IPv6 address without its brackets; in upper case.
  package let host: String
  package let port: UInt16

  /// Nil for a host that cannot stand in the code.
  /// - Parameter host: in any case.
  package init?(
    pairingID: PairingID, secret: PairingSecret, serverKeyHash: Bytes32, host: String, port: UInt16
  ) {
    let host = host.uppercased()
    guard port > 0, Self.isName(host) || Self.isIPv6(host) else { return nil }
    self.pairingID = pairingID
    self.secret = secret
    self.serverKeyHash = serverKeyHash
    self.host = host
    self.port = port
  }

  // MARK: Text

  package var text: String {
    let parts = [pairingID.bytes, secret.bytes, serverKeyHash.array].map { Base32.encode($0.span) }
    let host = Self.isIPv6(host) ? "[\(host)]" : host
    return "\(Self.start)\(parts.joined(separator: "/"))/\(host):\(port)"
  }

  /// Nil for all that `text` would not have written.
  package init?(_ text: String) {
    guard text.utf8.count <= Self.longest, text.hasPrefix(Self.start) else { return nil }
    let parts = text.dropFirst(Self.start.count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4, let colon = parts[3].lastIndex(of: ":"),
      let pairingID = Base32.decode(Array(parts[0].utf8).span).flatMap({ PairingID($0) }),
      let secret = Base32.decode(Array(parts[1].utf8).span).flatMap({ PairingSecret($0) }),
      let hash = Base32.decode(Array(parts[2].utf8).span).flatMap({ Bytes32($0) }),
      let port = UInt16(parts[3][parts[3].index(after: colon)...])
    else { return nil }
    var host = parts[3][..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    self.init(pairingID: pairingID, secret: secret, serverKeyHash: hash, host: String(host), port: port)
    // A sign or a zero before the port, lower case, brackets around a name.
    if self.text != text { return nil }
  }

  private static let start = "PORTCULLIS:/1/"
  /// The parts before the host, and a name of 253 bytes with a port behind it.
  private static let longest = 14 + 26 + 26 + 52 + 3 + 259

  // MARK: Hosts

  private static func isName(_ host: String) -> Bool {
    host.utf8.count <= 253
      && host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
        (1...63).contains(label.utf8.count)
          && label.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
            default: byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            }
          }
      }
  }

  /// As far as its characters tell; that it is an address, resolving it shows.
  private static func isIPv6(_ host: String) -> Bool {
    host.utf8.count <= 45 && host.contains(":")
      && host.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: ":"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: byte == UInt8(ascii: ".")
        }
      }
  }
}

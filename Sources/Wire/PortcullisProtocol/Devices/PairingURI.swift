/// What the QR code of a pairing says: which pairing, its secret, whom to talk to and by which key to know him.

/// `PORTCULLIS:/1/<pairing id>/<secret>/<hash of the server's SPKI>/<HOST:PORT>`. All of it is upper case and the bytes are
/// base32, so that a code needs 11 bits for two characters. Each value has one spelling, and a reader compares nothing.
public struct PairingURI: Sendable {
  /// Which pairing it begins.
  public let pairingID: PairingID
  /// Known to those alone who have seen the code.
  public let secret: PairingSecret
  /// SHA-256 of the SubjectPublicKeyInfo in the server's certificate.
  public let pin: Octets32
  /// A name, an IPv4 address, or an IPv6 address without its brackets; in upper case.
  public let host: String
  /// Not 0.
  public let port: UInt16

  /// Nil for a host that cannot stand in the code.
  /// - Parameters:
  ///   - pairingID: which pairing it begins.
  ///   - secret: of the pairing.
  ///   - pin: SHA-256 of the server's SPKI.
  ///   - host: in any case.
  ///   - port: not 0.
  public init?(pairingID: PairingID, secret: PairingSecret, pin: Octets32, host: String, port: UInt16) {
    let host = host.uppercased()
    guard port > 0, Self.isName(host) || Self.isIPv6(host) else { return nil }
    self.pairingID = pairingID
    self.secret = secret
    self.pin = pin
    self.host = host
    self.port = port
  }

  // MARK: Text

  /// As the code has it.
  public var text: String {
    let parts = [pairingID.bytes, secret.bytes, pin.bytes].map { Base32.encode($0) }
    let host = Self.isIPv6(host) ? "[\(host)]" : host
    return "\(Self.start)\(parts.joined(separator: "/"))/\(host):\(port)"
  }

  /// Nil for all that `text` would not have written.
  public init?(_ text: String) {
    guard let uri = try? Self(parsing: text) else { return nil }
    self = uri
  }

  /// Throws why it is none.
  public init(parsing text: String) throws(PairingURIError) {
    guard text.uppercased().hasPrefix(Self.scheme) else { throw .otherCode }
    guard text.hasPrefix(Self.scheme) else { throw .lowerCase }
    guard text.hasPrefix(Self.start) else { throw .laterVersion }
    guard text.utf8.count <= Self.longest else { throw .length }
    let parts = text.dropFirst(Self.start.count).split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 4 else { throw .length }
    guard let pairingID = Base32.decode(parts[0]).flatMap({ PairingID($0) }),
      let secret = Base32.decode(parts[1]).flatMap({ PairingSecret($0) }),
      let pin = Base32.decode(parts[2]).flatMap({ Octets32($0) })
    else { throw text == text.uppercased() ? .length : .lowerCase }
    guard let colon = parts[3].lastIndex(of: ":") else { throw .port }
    guard let port = UInt16(parts[3][parts[3].index(after: colon)...]), port > 0 else { throw .port }
    var host = parts[3][..<colon]
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard
      let uri = Self(pairingID: pairingID, secret: secret, pin: pin, host: String(host), port: port)
    else { throw .host }
    // A sign or a zero before the port, lower case, brackets around a name.
    guard uri.text.isSameText(as: text) else {
      throw text.isSameText(as: text.uppercased()) ? .host : .lowerCase
    }
    self = uri
  }

  private static let scheme = "PORTCULLIS:"
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

/// Why a text is not what a pairing's QR code says.
public enum PairingURIError: Error, Equatable, Sendable {
  /// It belongs to something else.
  case otherCode
  /// All of it is upper case.
  case lowerCase
  /// Made by a gate of later times: the app is too old.
  case laterVersion
  /// A part is missing, or has another length than it should.
  case length
  /// No name and no address, or with something before it, as a user.
  case host
  /// 1 to 65535, without a sign and without a zero before it.
  case port
}

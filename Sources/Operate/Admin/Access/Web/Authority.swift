/// The name and the port that a browser called, as `Host` and `Origin` have them (RFC 9110 §7.2, RFC 6454 §7).
internal import Addresses

struct Authority: Equatable, Sendable {
  /// In lower case, without the brackets of an IPv6 address and without the dot of a whole domain name.
  let name: String
  /// Nil where the scheme says it.
  let port: Int?
  let isAddress: Bool

  /// `host[:port]`; nil for what is none.
  init?(_ text: some StringProtocol) {
    var host = Substring(text)
    var port: Int?
    if let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") {
      let digits = host[host.index(after: colon)...].utf8
      guard digits.count <= 5, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      // `host:` names no port.
      if !digits.isEmpty {
        guard let number = Int(String(Substring(digits))), number <= 65_535 else { return nil }
        port = number
      }
      host = host[..<colon]
    }
    self.port = port
    if host.hasPrefix("["), host.hasSuffix("]") {
      guard let address = IPAddress(String(host.dropFirst().dropLast())), address.family == .v6
      else { return nil }
      (name, isAddress) = (address.description, true)
      return
    }
    if let address = IPAddress(String(host)) {
      guard address.family == .v4 else { return nil }
      (name, isAddress) = (address.description, true)
      return
    }
    if host.hasSuffix(".") { host = host.dropLast() }
    guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfName) else { return nil }
    (name, isAddress) = (host.lowercased(), false)
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
      true
    default: false
    }
  }
}

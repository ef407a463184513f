/// An address with a port, and the endpoints that a listener may be bound to.
package struct Endpoint: Hashable, Sendable {
  package let address: IPAddress
  package let port: UInt16

  package init(address: IPAddress, port: UInt16) {
    self.address = address
    self.port = port
  }

  /// `1.2.3.4:80` or `[::1]:80`, else nil.
  package init?(_ text: String) {
    guard let (host, isBracketed, port) = splitPort(text), let address = IPAddress(host),
      isBracketed == (address.family == .v6)
    else { return nil }
    self.init(address: address, port: port)
  }
}

extension Endpoint {
  /// As a peer is shown: without the port where nobody knows it, which 0 stands for.
  package var peerDescription: String { port == 0 ? address.description : description }
}

extension Endpoint: CustomStringConvertible {
  package var description: String { address.family == .v4 ? "\(address):\(port)" : "[\(address)]:\(port)" }
}

/// An endpoint to listen on. An IPv6 one takes IPv6 only (docs/settings.md), so `0.0.0.0` and `[::]` stand side by
/// side. With port 0 the kernel chooses, once for all workers, when the port is first tried.
package struct ListenAddress: Hashable, Sendable {
  package let endpoint: Endpoint

  package enum ParseError: Error, Equatable, Sendable {
    case malformed
    /// A socket for IPv6 only cannot be bound to `::ffff:…`.
    case mapped
    case multicast
  }

  package init(parsing text: String) throws(ParseError) {
    guard let endpoint = Endpoint(text) else { throw .malformed }
    guard !endpoint.address.isMapped else { throw .mapped }
    guard !endpoint.address.isMulticast else { throw .multicast }
    self.endpoint = endpoint
  }
}

/// Splits `host:port` or `[host]:port`; the port is decimal without leading zeros, the host unchecked but not
/// empty.
func splitPort(_ text: String) -> (host: String, isBracketed: Bool, port: UInt16)? {
  guard let colon = text.lastIndex(of: ":") else { return nil }
  let digits = text[text.index(after: colon)...].utf8
  guard (1...5).contains(digits.count), digits.allSatisfy({ decimalDigit($0) != nil }),
    digits.count == 1 || digits.first != UInt8(ascii: "0"), let port = UInt16(String(digits) ?? "")
  else { return nil }
  var host = text[..<colon]
  let isBracketed = host.first == "[" && host.last == "]" && host.count > 2
  if isBracketed { host = host.dropFirst().dropLast() }
  guard !host.isEmpty, isBracketed || !host.contains(":") else { return nil }
  return (String(host), isBracketed, port)
}

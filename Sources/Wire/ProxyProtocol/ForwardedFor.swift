/// Finds the client in `X-Forwarded-For`: each proxy has appended the address of whoever called it, so the
/// list is walked from the right, past the proxies that are trusted, to the first address that is not one of
/// them.
///
/// What stands left of that address is the client's own claim and is not believed, but it still has to be a
/// list of addresses (docs/protocol-connections.md, "Proxies in front"): whoever writes something else is no app of ours.
package import Addresses

package enum ForwardedFor {
  /// How a list is malformed; the raw value is the word for the log.
  package enum Malformed: String, Error, CaseIterable, Sendable {
    /// Nothing between two commas, or nothing at all.
    case emptyHop = "forwarded_for_empty_hop"
    /// Neither an address, nor one with a port.
    case hop = "forwarded_for_hop"
  }

  /// The client that `value`, all fields joined by commas, names.
  ///
  /// A hop is an IPv4 or IPv6 address, an IPv6 address in brackets, or either with a port behind a colon (the
  /// IPv6 one in brackets then), as load balancers in the wild write them. Names, `unknown`, obfuscated
  /// identifiers of RFC 7239, zones and quotation marks are malformed. When all hops are trusted, the
  /// leftmost counts. The port is 0 when the hop has none.
  package static func client(
    in value: Span<UInt8>, isTrusted: (IPAddress) -> Bool
  ) throws(Malformed) -> Endpoint {
    var found: Endpoint?
    var isFound = false
    var end = value.count
    while end >= 0 {
      var start = end
      while start > 0, value[start - 1] != UInt8(ascii: ",") { start -= 1 }
      let hop = try parse(value.extracting(trimmed(start..<end, of: value)))
      if !isFound {
        found = hop
        isFound = !isTrusted(hop.address)
      }
      end = start - 1
    }
    guard let found else { throw .emptyHop }
    return found
  }

  private static func parse(_ hop: Span<UInt8>) throws(Malformed) -> Endpoint {
    if hop.isEmpty { throw .emptyHop }
    if let address = IPAddress(parsing: hop) { return Endpoint(address: address.unmapped, port: 0) }
    if hop[0] == UInt8(ascii: "["), hop[hop.count - 1] == UInt8(ascii: "]"),
      let address = IPAddress(parsing: hop.extracting(1..<hop.count - 1)), address.family == .v6
    {
      return Endpoint(address: address.unmapped, port: 0)
    }
    guard hop.count <= longestHop, let endpoint = Endpoint(text(hop)) else { throw .hop }
    return Endpoint(address: endpoint.address.unmapped, port: endpoint.port)
  }

  /// Without the spaces and tabs around it (RFC 9110 §5.6.1).
  private static func trimmed(_ hop: Range<Int>, of value: Span<UInt8>) -> Range<Int> {
    var start = hop.lowerBound
    var end = hop.upperBound
    while start < end, isWhiteSpace(value[start]) { start += 1 }
    while end > start, isWhiteSpace(value[end - 1]) { end -= 1 }
    return start..<end
  }

  private static func isWhiteSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func text(_ bytes: Span<UInt8>) -> String {
    var text = ""
    for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
    return text
  }

  /// 45 characters of an IPv6 address with an IPv4 tail, two brackets, a colon and five digits.
  private static let longestHop = 53
}

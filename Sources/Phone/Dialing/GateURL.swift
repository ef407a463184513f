/// Where a gate is: `wss://host[:port][/path]`, or `https://` which means the same here (RFC 3986, RFC 6455
/// §3).
package struct GateURL: Equatable, Sendable {
  /// A name or an address; an IPv6 address without its brackets.
  package let host: String
  package let port: UInt16
  /// With the query; at least "/".
  package let path: String

  package init(host: String, port: UInt16, path: String = "/") {
    self.host = host
    self.port = port
    self.path = path
  }

  /// Nil for another scheme, user information, a fragment, or what a request line cannot carry.
  package init?(_ text: String) {
    let lowercased = text.lowercased()
    guard let scheme = ["wss://", "https://"].first(where: { lowercased.hasPrefix($0) }) else { return nil }
    let rest = text.dropFirst(scheme.count)
    guard rest.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !rest.contains("#") else { return nil }
    let split = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    let authority = rest[..<split]
    let target = rest[split...]
    guard !authority.contains("@") else { return nil }
    let digits: Substring
    if authority.hasPrefix("[") {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = String(authority[authority.index(after: authority.startIndex)..<end])
      digits = authority[authority.index(after: end)...]
    } else {
      let colon = authority.firstIndex(of: ":") ?? authority.endIndex
      host = String(authority[..<colon])
      digits = authority[colon...]
    }
    guard !host.isEmpty else { return nil }
    if digits.isEmpty {
      port = 443
    } else {
      guard digits.first == ":", digits.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = UInt16(digits.dropFirst()), number > 0
      else { return nil }
      port = number
    }
    path = target.hasPrefix("/") ? String(target) : "/" + target
  }

  /// As in the `Host` field: the port is left out when it is the scheme's own.
  package var authority: String {
    let name = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? name : "\(name):\(port)"
  }
}

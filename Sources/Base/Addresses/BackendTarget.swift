/// Where the game is, as `BACKEND` names it (docs/protocol-connections.md, "The game's side").
package enum BackendTarget: Hashable, Sendable {
  /// The host is a name (resolved again and again) or an address, IPv6 without brackets.
  case tcp(host: String, port: UInt16)
  case unix(path: String)
  /// No game: each message comes back as it was.
  case echo

  package enum ParseError: Error, Equatable, Sendable {
    case malformed
    case malformedPort
    case portZero
    /// Neither an address nor a host name (RFC 1123 §2.1).
    case malformedHost
    /// Empty, with a NUL, or longer than the 107 bytes that `sockaddr_un` holds.
    case malformedPath
  }

  /// The TCP ports that are connected to for it: its own, and with a name that of DNS, whose long answers come so
  /// (RFC 7766).
  package var calledPorts: [UInt16] {
    switch self {
    case .tcp(let host, let port): IPAddress(host) == nil ? [port, 53] : [port]
    case .unix, .echo: []
    }
  }

  /// The longest path of a UNIX socket: `sun_path` less the final NUL (unix(7)).
  package static let longestSocketPath = 107

  package init(parsing text: String) throws(ParseError) {
    if text == "echo:" {
      self = .echo
      return
    }
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard (1...Self.longestSocketPath).contains(path.utf8.count), !path.utf8.contains(0) else {
        throw .malformedPath
      }
      self = .unix(path: path)
      return
    }
    guard text.contains(":") else { throw .malformed }
    guard let (host, isBracketed, port) = splitPort(text) else { throw .malformedPort }
    guard port != 0 else { throw .portZero }
    if let address = IPAddress(host) {
      guard isBracketed == (address.family == .v6) else { throw .malformedHost }
      self = .tcp(host: address.description, port: port)
      return
    }
    guard !isBracketed, Self.isHostName(host) else { throw .malformedHost }
    self = .tcp(host: host, port: port)
  }

  /// RFC 1123 §2.1, with the underscore that container networks allow; a last label of digits alone would be
  /// read as an address by some resolvers, so it is none. A final dot makes the name absolute (RFC 1034
  /// §3.1).
  private static func isHostName(_ text: String) -> Bool {
    guard text.utf8.count <= 253 else { return false }
    let relative = text.hasSuffix(".") ? text.dropLast() : text[...]
    let labels = relative.split(separator: ".", omittingEmptySubsequences: false)
    guard let last = labels.last, !last.utf8.allSatisfy({ decimalDigit($0) != nil }) else { return false }
    return labels.allSatisfy { label in
      (1...63).contains(label.utf8.count) && label.first != "-" && label.last != "-"
        && label.utf8.allSatisfy { byte in
          switch byte {
          case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
          default: false
          }
        }
    }
  }
}

extension BackendTarget: CustomStringConvertible {
  /// As `BACKEND` is written.
  package var description: String {
    switch self {
    case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): "unix:\(path)"
    case .echo: "echo:"
    }
  }
}

/// Which `Origin` headers may upgrade (docs/protocol.md, "Admission"; RFC 6454 §6.2 for their form).
internal import Addresses

/// A list of exact origins, with `*` for any.
package struct AllowedOrigins: Sendable, Equatable {
  /// Nil when `ALLOWED_ORIGINS` is not set.
  private let listed: Set<String>?

  /// Whatever the header says.
  package static let unrestricted = AllowedOrigins(listed: nil)

  private init(listed: Set<String>?) {
    self.listed = listed
  }

  /// - Parameter entries: each `*`, `null` or `scheme://host[:port]`; nil when one is malformed.
  package init?(entries: [String]) {
    guard entries.allSatisfy(Self.isEntry) else { return nil }
    listed = Set(entries)
  }

  package var isRestricted: Bool { listed != nil }

  /// Compared byte by byte: clients write scheme and host in lower case and leave default ports out. `*` is
  /// any but
  /// `null`, which stands for "no origin to speak of" and is permitted only by name.
  package func permits(_ origin: String) -> Bool {
    guard let listed else { return true }
    if listed.contains(origin) { return origin != "*" }
    return origin != "null" && listed.contains("*")
  }

  static func isEntry(_ text: String) -> Bool {
    text == "*" || text == "null" || isOrigin(text)
  }

  private static func isOrigin(_ text: String) -> Bool {
    guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://") else { return false }
    let scheme = text[..<colon].utf8
    guard let first = scheme.first, isLetter(first),
      scheme.allSatisfy({ isLetter($0) || isDigit($0) || [0x2B, 0x2D, 0x2E].contains($0) })
    else { return false }
    var host = text[text.index(colon, offsetBy: 3)...]
    if let mark = host.lastIndex(of: ":"), !host[mark...].contains("]") {
      let digits = host[host.index(after: mark)...].utf8
      guard (1...5).contains(digits.count), digits.allSatisfy(isDigit),
        let port = Int(host[mark...].dropFirst()),
        (1...65_535).contains(port)
      else { return false }
      host = host[..<mark]
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      return IPAddress(String(host.dropFirst().dropLast()))?.family == .v6
    }
    return !host.isEmpty
      && host.utf8.allSatisfy { isLetter($0) || isDigit($0) || [0x2D, 0x2E, 0x5F].contains($0) }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

/// A time zone by its name in the IANA time zone database, so that two can be told apart.

/// Names alone: what they mean at some hour stands in files that a gate in its sandbox does not read.
struct TimeZoneName: Equatable {
  private let name: String

  /// Nil for no name, and for what only says how far off UTC the time is, such as `+01:00` or `GMT+2`: several zones may be.
  /// `Etc/GMT+5` and `EST5EDT` are names.
  init?(_ text: String?) {
    guard let text, !text.isEmpty, !Self.isOffset(text) else { return nil }
    name = text
  }

  private static func isOffset(_ text: String) -> Bool {
    let isAgainstUTC = text.hasPrefix("GMT") || text.hasPrefix("UTC")
    return text.utf8.dropFirst(isAgainstUTC ? 3 : 0).first.map(signs.contains) == true
  }

  private static let signs: [UInt8] = [UInt8(ascii: "+"), UInt8(ascii: "-")]
}

/// A time zone by its name in the IANA time zone database, so that two can be told apart.

/// Names alone: what they mean at some hour stands in files that a gate in its sandbox does not read.
struct TimeZoneName: Equatable {
  private let name: [UInt8]

  /// Nil for no name, and for what only says how far off UTC the time is, such as `GMT+2`: several zones may be.
  init?(_ text: String?) {
    guard let text else { return nil }
    let bytes = Array(text.utf8)
    let isName = bytes.starts(with: "Etc/".utf8) || !bytes.contains { Self.digitsAndColon.contains($0) }
    guard isName, !bytes.isEmpty else { return nil }
    name = bytes
  }

  private static let digitsAndColon = UInt8(ascii: "0")...UInt8(ascii: ":")
}

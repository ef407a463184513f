/// What a database knows of an address: in which country it is, which time zone is kept there, whose network it is.

package struct Place: Hashable, Sendable {
  package var country: CountryCode?
  /// A name of the IANA time zone database.
  package var timeZone: String?
  /// The number of the autonomous system (RFC 6793).
  package var network: UInt32?

  package init(country: CountryCode? = nil, timeZone: String? = nil, network: UInt32? = nil) {
    self.country = country
    self.timeZone = timeZone
    self.network = network
  }

  package static let unknown = Place()
}

/// Where addresses are; asked by several threads.
package protocol PlaceDirectory: Sendable {
  /// What is not known of it is nil.
  func place(of address: IPAddress) -> Place
}

/// Two capital letters (ISO 3166-1 alpha-2, and the `XK` that databases have for Kosovo).
package struct CountryCode: Hashable, Sendable {
  private let first: UInt8
  private let second: UInt8

  package init?(_ text: String) {
    let letters = Array(text.utf8)
    let capitals = UInt8(ascii: "A")...UInt8(ascii: "Z")
    guard letters.count == 2, capitals.contains(letters[0]), capitals.contains(letters[1]) else { return nil }
    first = letters[0]
    second = letters[1]
  }
}

extension CountryCode: CustomStringConvertible {
  package var description: String { String(decoding: [first, second], as: UTF8.self) }
}

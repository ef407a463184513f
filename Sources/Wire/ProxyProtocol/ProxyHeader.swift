/// What a PROXY header says (HAProxy, "The PROXY protocol, versions 1 & 2", §2): whose connection is being
/// relayed.
package import Addresses

package enum ProxyHeader: Equatable, Sendable {
  /// The sender speaks for itself (LOCAL: a health check), or cannot name a client by an internet address
  /// (UNKNOWN, UNSPEC, a UNIX socket): the addresses of the connection itself count.
  case socketAddresses
  /// The client's address, and the one that it called. IPv4-mapped addresses are given as the IPv4 ones
  /// meant.
  case relayed(source: Endpoint, destination: Endpoint)

  /// Of version 2, its first 16 bytes included (docs/protocol-connections.md, "Proxies in front"). The largest honest header
  /// carries a client's certificate (`PP2_SUBTYPE_SSL_CLIENT_CERT`) of 1 to 2 KiB; other receivers allow 4,096 bytes as well.
  package static let byteLimit = 4096
  /// Of version 1, its CR LF included (§2.1).
  package static let lineLimit = 107

  /// §2.1: every version 1 line begins so.
  static let lineSignature = [UInt8]("PROXY ".utf8)
  /// §2.2: twelve bytes that no other protocol begins with.
  static let binarySignature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]
  /// Signature, version and command, family and transport, length.
  static let binaryPrefixBytes = 16
  /// §2.2.3: the type of a value that holds CRC-32C over the whole header, taken with its own four bytes as zeros.
  static let checksumType: UInt8 = 0x03
}

/// The rule that a PROXY header breaks; the raw value is the word for the log.
package enum ProxyHeaderViolation: String, Error, CaseIterable, Sendable {
  /// Neither version begins like this.
  case signature
  // Version 1.
  case lineTooLong = "line_too_long"
  /// CR without LF, or LF without CR.
  case lineEnd = "line_end"
  /// Neither `TCP4`, `TCP6` nor `UNKNOWN`.
  case lineFamily = "line_family"
  /// Not exactly two addresses and two ports, with one space between each.
  case lineFields = "line_fields"
  case address
  case port
  // Version 2.
  case version
  /// Neither LOCAL nor PROXY.
  case command
  /// Not one of §2.2's values for a stream.
  case family
  case tooLong = "too_long"
  /// Shorter than the addresses of its family.
  case addressLength = "address_length"
  /// A type-length-value reaches past the end.
  case values
  /// There is a CRC-32C, and it is not that of the header.
  case checksum
}

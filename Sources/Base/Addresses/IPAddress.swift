/// One IPv4 or IPv6 address in seventeen bytes, without allocation (RFC 791, RFC 4291).
///
/// An IPv4-mapped address (`::ffff:1.2.3.4`) is an IPv6 address, as the wire has it; `unmapped` is what it
/// stands for.
package struct IPAddress: Hashable, Sendable {
  package enum Family: UInt8, Sendable {
    case v4
    case v6
  }

  /// Bits 127 to 64; zero for IPv4.
  package let high: UInt64
  /// Bits 63 to 0; the 32 bits of IPv4 at the low end.
  package let low: UInt64
  /// Last, so that a port beside it fits where else there would be padding.
  package let family: Family

  private init(family: Family, high: UInt64, low: UInt64) {
    self.family = family
    self.high = high
    self.low = low
  }

  /// From 32 bits in host order: `0x7F00_0001` is 127.0.0.1.
  package init(v4 bits: UInt32) {
    self.init(family: .v4, high: 0, low: UInt64(bits))
  }

  package init(v6 high: UInt64, _ low: UInt64) {
    self.init(family: .v6, high: high, low: low)
  }

  /// From 4 or 16 bytes in network order, as sockets and the PROXY header carry them; nil for any other
  /// count.
  package init?(networkBytes bytes: Span<UInt8>) {
    func word(_ range: Range<Int>) -> UInt64 {
      var word: UInt64 = 0
      for index in range { word = word << 8 | UInt64(bytes[index]) }
      return word
    }
    switch bytes.count {
    case 4: self.init(family: .v4, high: 0, low: word(0..<4))
    case 16: self.init(family: .v6, high: word(0..<8), low: word(8..<16))
    default: return nil
    }
  }

  /// 4 or 16 bytes in network order.
  package var networkBytes: [UInt8] {
    var bytes: [UInt8] = []
    if family == .v6 {
      for shift in stride(from: 56, through: 0, by: -8) {
        bytes.append(UInt8(truncatingIfNeeded: high >> shift))
      }
    }
    for shift in stride(from: family == .v6 ? 56 : 24, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: low >> shift))
    }
    return bytes
  }

  package static let anyV4 = IPAddress(v4: 0)
  package static let anyV6 = IPAddress(v6: 0, 0)
  package static let loopbackV4 = IPAddress(v4: 0x7F00_0001)
  package static let loopbackV6 = IPAddress(v6: 0, 1)

  /// Whether this is `::ffff:0:0/96` (RFC 4291 §2.5.5.2).
  package var isMapped: Bool { family == .v6 && high == 0 && low >> 32 == 0xFFFF }

  /// The IPv4 address that a mapped one stands for; any other address as it is.
  package var unmapped: IPAddress { isMapped ? IPAddress(v4: UInt32(truncatingIfNeeded: low)) : self }

  /// The IPv6 form of an IPv4 address; any other address as it is.
  package var mapped: IPAddress { family == .v4 ? IPAddress(v6: 0, 0xFFFF << 32 | low) : self }

  /// Whether the address stands for "any" when bound; nobody can connect from it.
  package var isUnspecified: Bool { high == 0 && low == 0 }

  /// 127.0.0.0/8 or ::1, mapped or not.
  package var isLoopback: Bool {
    let address = unmapped
    return address.family == .v4 ? address.low >> 24 == 127 : address == .loopbackV6
  }

  /// 224.0.0.0/4 or ff00::/8: never a listener, never a peer.
  package var isMulticast: Bool {
    let address = unmapped
    return address.family == .v4 ? address.low >> 28 == 0xE : address.high >> 56 == 0xFF
  }

  /// What one peer is counted by (docs/settings.md, "More about some limits"): an IPv4 address whole, also when it
  /// comes mapped, and IPv6 by its /64, because a subscriber is given at least that much and can take a new address for
  /// every connection.
  package var accountingPrefix: IPAddress {
    let address = unmapped
    return address.family == .v4 ? address : IPAddress(v6: address.high, 0)
  }
}

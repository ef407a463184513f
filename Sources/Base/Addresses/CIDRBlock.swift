/// A range of addresses with a common prefix (RFC 4632, RFC 4291 §2.3), as `TRUSTED_PROXIES` lists them.
package struct CIDRBlock: Hashable, Sendable {
  /// All bits after the prefix are zero.
  package let network: IPAddress
  package let prefixLength: Int

  package enum ParseError: Error, Equatable, Sendable {
    case malformedAddress
    case malformedLength
    /// More than 32 for IPv4, more than 128 for IPv6.
    case lengthOutOfRange
    /// Bits after the prefix are set: either the address or the length is not what was meant. Carries the
    /// block.
    case hostBitsSet(CIDRBlock)
  }

  /// `10.0.0.0/8`, `2001:db8::/32`, or an address alone for itself. A block of mapped addresses is one of
  /// IPv4.
  package init(parsing text: String) throws(ParseError) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = parts.first, let address = IPAddress(String(first)) else { throw .malformedAddress }
    let width = address.family == .v4 ? 32 : 128
    var length = width
    if parts.count == 2 {
      let digits = Array(parts[1].utf8)
      guard (1...3).contains(digits.count), digits.allSatisfy({ decimalDigit($0) != nil }),
        digits.count == 1 || digits[0] != UInt8(ascii: "0"), let number = Int(parts[1])
      else { throw .malformedLength }
      guard number <= width else { throw .lengthOutOfRange }
      length = number
    }
    let block =
      address.isMapped && length >= 96
      ? CIDRBlock(masking: address.unmapped, to: length - 96) : CIDRBlock(masking: address, to: length)
    guard block.network == (block.network.family == .v4 ? address.unmapped : address) else {
      throw .hostBitsSet(block)
    }
    self = block
  }

  /// The block of this length around `address`; the length is brought into range.
  package init(masking address: IPAddress, to length: Int) {
    switch address.family {
    case .v4:
      prefixLength = min(max(length, 0), 32)
      network = IPAddress(v4: UInt32(truncatingIfNeeded: address.low) & ~(UInt32.max >> UInt32(prefixLength)))
    case .v6:
      prefixLength = min(max(length, 0), 128)
      // Swift's smart shift by 64 or more gives zero, so each word is masked on its own.
      let highMask = ~(UInt64.max >> UInt64(min(prefixLength, 64)))
      let lowMask = ~(UInt64.max >> UInt64(max(prefixLength - 64, 0)))
      network = IPAddress(v6: address.high & highMask, address.low & lowMask)
    }
  }

  /// A mapped address is looked for as the IPv4 address that it stands for.
  package func contains(_ address: IPAddress) -> Bool {
    let address = address.unmapped
    return address.family == network.family
      && CIDRBlock(masking: address, to: prefixLength).network == network
  }
}

extension CIDRBlock: CustomStringConvertible {
  package var description: String { "\(network)/\(prefixLength)" }
}

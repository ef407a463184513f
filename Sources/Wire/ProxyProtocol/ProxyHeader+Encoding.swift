/// Writes the PROXY header that a game server is told its player by (HAProxy's text, §2.1 and §2.2).
internal import Addresses
package import Bytes
package import Identity

extension ProxyHeader {
  /// The type of the value with the key: the first of those left to applications (§2.2.8).
  package static let keyIdentifierType: UInt8 = 0xE0
  /// And of the one with the device's pseudonym.
  package static let pseudonymType: UInt8 = 0xE1

  /// Version 1, a line of text; ports that nobody knows are 0.
  package var encodedLine: [UInt8] {
    switch self {
    case .socketAddresses: return [UInt8]("PROXY UNKNOWN\r\n".utf8)
    case .relayed(let source, let destination):
      let (source, destination) = Self.inOneFamily(source, destination)
      let family = source.address.family == .v4 ? "TCP4" : "TCP6"
      let line =
        "PROXY \(family) \(source.address) \(destination.address) \(source.port) \(destination.port)\r\n"
      return [UInt8](line.utf8)
    }
  }

  /// Version 2, with the key's 32 bytes as a value of type 0xE0 and the pseudonym's 16 as one of type 0xE1, each when
  /// there is one.
  package func encodedBinary(keyID: KeyIdentifier?, device: DevicePseudonym?) -> [UInt8] {
    var block: [UInt8] = []
    var command: UInt8 = 0x20
    var family: UInt8 = 0x00
    if case .relayed(let source, let destination) = self {
      let (source, destination) = Self.inOneFamily(source, destination)
      command = 0x21
      family = source.address.family == .v4 ? 0x11 : 0x21
      block += source.address.networkBytes + destination.address.networkBytes
      block += Self.bigEndian(source.port) + Self.bigEndian(destination.port)
    }
    if let keyID {
      block += [Self.keyIdentifierType] + Self.bigEndian(32)
      keyID.digest.append(to: &block)
    }
    if let device {
      block += [Self.pseudonymType] + Self.bigEndian(UInt16(DevicePseudonym.byteCount)) + device.bytes
    }
    // 36 bytes of addresses, 35 of the key and 19 of the pseudonym at most.
    return Self.binarySignature + [command, family] + Self.bigEndian(UInt16(block.count)) + block
  }

  /// A header has one family for both ends: an IPv4 address beside an IPv6 one is written as the mapped one.
  private static func inOneFamily(_ first: Endpoint, _ second: Endpoint) -> (Endpoint, Endpoint) {
    if first.address.family == second.address.family { return (first, second) }
    return (
      Endpoint(address: first.address.mapped, port: first.port),
      Endpoint(address: second.address.mapped, port: second.port)
    )
  }

  private static func bigEndian(_ number: UInt16) -> [UInt8] {
    [UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]
  }
}

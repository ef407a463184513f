import Addresses
import Bytes

@testable import ProxyProtocol

/// A header of version 2 from its parts; `length` lies about the block's.
func binary(_ versionAndCommand: UInt8, _ family: UInt8, _ block: [UInt8], length: Int? = nil) -> [UInt8] {
  let length = length ?? block.count
  return [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A, versionAndCommand, family]
    + [UInt8(length >> 8), UInt8(length & 0xFF)] + block
}

/// 203.0.113.9:4660 calls 198.51.100.1:443.
let ipv4Block: [UInt8] = [203, 0, 113, 9, 198, 51, 100, 1, 0x12, 0x34, 0x01, 0xBB]
/// [2001:db8::7]:4660 calls [2001:db8::1]:443.
let ipv6Block: [UInt8] =
  [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [7]
  + [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1] + [0x12, 0x34, 0x01, 0xBB]

func bytes(_ text: String) -> [UInt8] { [UInt8](text.utf8) }

func parse(_ bytes: [UInt8]) -> ProxyHeaderParser.Outcome { ProxyHeaderParser.parse(bytes.span) }

/// From `address:port` twice.
func relayed(_ source: String, _ destination: String) -> ProxyHeader? {
  guard let source = Endpoint(source), let destination = Endpoint(destination) else { return nil }
  return .relayed(source: source, destination: destination)
}

/// What reading says of each beginning of `bytes`, from none of them to all.
func outcomes(_ bytes: [UInt8]) -> [ProxyHeaderParser.Outcome] {
  (0...bytes.count).map { parse(Array(bytes.prefix($0))) }
}

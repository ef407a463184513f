/// The few forms of CBOR (RFC 8949 §3) that App Attest objects are written with, in their shortest encoding.
enum CBORHeads {
  static func unsigned(_ value: Int) -> [UInt8] { head(0, value) }
  /// -1 - value
  static func negative(_ value: Int) -> [UInt8] { head(1, value) }
  static func bytes(_ value: [UInt8]) -> [UInt8] { head(2, value.count) + value }
  static func text(_ value: String) -> [UInt8] { head(3, value.utf8.count) + Array(value.utf8) }
  static func array(_ members: [[UInt8]]) -> [UInt8] { head(4, members.count) + members.flatMap { $0 } }
  static func map(_ members: [(key: [UInt8], value: [UInt8])]) -> [UInt8] {
    head(5, members.count) + members.flatMap { $0.key + $0.value }
  }

  private static func head(_ major: UInt8, _ value: Int) -> [UInt8] {
    let top = major << 5
    switch value {
    case 0..<24: return [top | UInt8(value)]
    case 24..<0x100: return [top | 24, UInt8(value)]
    case 0x100..<0x10000: return [top | 25, UInt8(value >> 8), UInt8(value & 0xFF)]
    default:
      return [top | 26] + (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
    }
  }
}

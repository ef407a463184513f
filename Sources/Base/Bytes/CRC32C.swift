/// CRC-32C (Castagnoli, RFC 3720 §B.4), eight bytes a step: the checksum of a journal batch, of other files that may be half
/// written, and of PROXY headers.
package struct CRC32C {
  private var state: UInt32 = ~0

  package init() {}

  package var value: UInt32 { ~state }

  package mutating func update(_ bytes: Span<UInt8>) {
    let tables = Self.tables.span
    var index = 0
    while bytes.count - index >= 8 {
      let low =
        state ^ UInt32(bytes[index]) ^ UInt32(bytes[index + 1]) << 8 ^ UInt32(bytes[index + 2]) << 16
        ^ UInt32(bytes[index + 3]) << 24
      state =
        tables[7 << 8 + Int(low & 0xFF)] ^ tables[6 << 8 + Int(low >> 8 & 0xFF)]
        ^ tables[5 << 8 + Int(low >> 16 & 0xFF)] ^ tables[4 << 8 + Int(low >> 24)]
      state ^= tables[3 << 8 + Int(bytes[index + 4])] ^ tables[2 << 8 + Int(bytes[index + 5])]
      state ^= tables[1 << 8 + Int(bytes[index + 6])] ^ tables[Int(bytes[index + 7])]
      index += 8
    }
    while index < bytes.count {
      state = state >> 8 ^ tables[Int(UInt8(truncatingIfNeeded: state) ^ bytes[index])]
      index += 1
    }
  }

  /// Row k holds the checksum of one byte followed by k zeros.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 << 8)
    for byte in 0..<256 {
      var remainder = UInt32(byte)
      for _ in 0..<8 { remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0x82F6_3B78 }
      tables[byte] = remainder
    }
    for index in 256..<tables.count {
      let before = tables[index - 256]
      tables[index] = before >> 8 ^ tables[Int(before & 0xFF)]
    }
    return tables
  }()
}

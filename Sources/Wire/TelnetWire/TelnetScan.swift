/// Searches of bytes that mean something, eight at a time, since most text has none.

enum TelnetScan {
  /// The first index at or after `start` of IAC or NUL.
  static func endOfText(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while bytes.count - index >= 8 {
      let word = word(bytes.extracting(index..<index + 8))
      let found = zeros(word) | zeros(~word)
      if found != 0 { return index + found.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < bytes.count, bytes[index] != TelnetByte.iac, bytes[index] != TelnetByte.null { index += 1 }
    return index
  }

  /// The first index at or after `start` of IAC.
  static func endOfBody(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while bytes.count - index >= 8 {
      let found = zeros(~word(bytes.extracting(index..<index + 8)))
      if found != 0 { return index + found.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < bytes.count, bytes[index] != TelnetByte.iac { index += 1 }
    return index
  }

  /// The first index at or after `start` of a byte that is not typed as it stands.
  static func endOfTyped(_ bytes: Span<UInt8>, from start: Int) -> Int {
    var index = start
    while bytes.count - index >= 8 {
      let word = word(bytes.extracting(index..<index + 8))
      let found =
        zeros(word) | zeros(~word) | zeros(word ^ each(TelnetByte.cr)) | zeros(word ^ each(TelnetByte.lf))
      if found != 0 { return index + found.trailingZeroBitCount / 8 }
      index += 8
    }
    while index < bytes.count, isTypedAsIs(bytes[index]) { index += 1 }
    return index
  }

  private static func isTypedAsIs(_ byte: UInt8) -> Bool {
    switch byte {
    case TelnetByte.null, TelnetByte.lf, TelnetByte.cr, TelnetByte.iac: false
    default: true
    }
  }

  /// The top bit of each byte that is zero, and maybe of some behind the first such.
  @inline(__always)
  private static func zeros(_ word: UInt64) -> UInt64 { (word &- each(1)) & ~word & each(0x80) }

  /// Eight single loads of a span whose length is known become one of the processor's.
  @inline(__always)
  private static func word(_ bytes: Span<UInt8>) -> UInt64 {
    let low =
      UInt64(bytes[0]) | UInt64(bytes[1]) << 8 | UInt64(bytes[2]) << 16 | UInt64(bytes[3]) << 24
    let high =
      UInt64(bytes[4]) << 32 | UInt64(bytes[5]) << 40 | UInt64(bytes[6]) << 48 | UInt64(bytes[7]) << 56
    return low | high
  }

  @inline(__always)
  private static func each(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }
}

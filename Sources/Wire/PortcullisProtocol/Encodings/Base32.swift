/// Base32 (RFC 4648 §6) in upper case and without padding, as it stands in a QR code: one spelling for each value.

/// Five bits a character.
public enum Base32 {
  /// In upper case, without padding.
  public static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 8 + 4) / 5)
    var bits: UInt32 = 0
    var count = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 5 {
        count -= 5
        text.append(alphabet[Int(bits >> UInt32(count) & 31)])
      }
      bits &= 31
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(5 - count) & 31)]) }
    return String(decoding: text, as: UTF8.self)
  }

  /// Nil for a symbol of no meaning, lower case and padding included, for a length that no bytes have, and for spare bits
  /// that are not zero.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    let symbols = Array(text.utf8)
    switch symbols.count % 8 {
    case 1, 3, 6: return nil
    default: break
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(symbols.count * 5 / 8)
    var bits: UInt32 = 0
    var count = 0
    for symbol in symbols {
      guard let value = value(of: symbol) else { return nil }
      bits = bits << 5 | value
      count += 5
      guard count >= 8 else { continue }
      count -= 8
      bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      bits &= 1 << UInt32(count) - 1
    }
    return bits & (1 << UInt32(count) - 1) == 0 ? bytes : nil
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".utf8)

  private static func value(of symbol: UInt8) -> UInt32? {
    switch symbol {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(symbol - UInt8(ascii: "A"))
    case UInt8(ascii: "2")...UInt8(ascii: "7"): UInt32(symbol - UInt8(ascii: "2")) + 26
    default: nil
    }
  }
}

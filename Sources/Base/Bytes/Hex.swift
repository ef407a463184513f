/// Hexadecimal as the gate speaks it: two lower-case digits a byte, and nothing else is read (docs/protocol.md,
/// "Registration").
package enum Hex {
  package static func encode(_ bytes: Span<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.count * 2)
    for index in bytes.indices {
      text.append(digit(bytes[index] >> 4))
      text.append(digit(bytes[index] & 0x0F))
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes, or nil unless `text` is an even number of lower-case digits.
  package static func decode(_ text: Span<UInt8>) -> [UInt8]? {
    guard text.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 2)
    var index = 0
    while index < text.count {
      guard let high = value(text[index]), let low = value(text[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
      index += 2
    }
    return bytes
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    default: nil
    }
  }
}

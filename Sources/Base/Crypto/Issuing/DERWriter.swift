/// Writes ASN.1 in the distinguished encoding (ITU-T X.690 §8 and §10), just what certificates need.
package enum DERWriter {
  /// A tag of one byte, the shortest length, the contents.
  package static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
    [tag] + length(contents.count) + contents
  }

  package static func sequence(_ members: [UInt8]...) -> [UInt8] {
    element(0x30, members.flatMap { $0 })
  }

  package static func set(_ member: [UInt8]) -> [UInt8] { element(0x31, member) }

  package static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xFF : 0x00]) }

  /// From the bytes of a number that is not negative, most significant first.
  package static func integer(magnitude: [UInt8]) -> [UInt8] {
    var digits = Array(magnitude.drop { $0 == 0 })
    // A leading one bit would make it negative, and zero needs a byte (X.690 §8.3).
    if (digits.first ?? 0x80) & 0x80 != 0 { digits.insert(0, at: 0) }
    return element(0x02, digits)
  }

  package static func integer(_ value: UInt32) -> [UInt8] {
    integer(magnitude: (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) })
  }

  package static func octetString(_ contents: [UInt8]) -> [UInt8] { element(0x04, contents) }

  /// Whole bytes, no bit unused.
  package static func bitString(_ contents: [UInt8]) -> [UInt8] { element(0x03, [0] + contents) }

  /// Named bits, the first one most significant; trailing zero bits are not written (X.690 §11.2.2).
  package static func bitString(bits: Set<Int>) -> [UInt8] {
    guard let last = bits.max() else { return element(0x03, [0]) }
    var contents = [UInt8](repeating: 0, count: last / 8 + 1)
    for bit in bits { contents[bit / 8] |= 0x80 >> UInt8(bit % 8) }
    return element(0x03, [UInt8(7 - last % 8)] + contents)
  }

  package static func utf8String(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }

  /// From at least two arcs.
  package static func objectIdentifier(_ arcs: [UInt32]) -> [UInt8] {
    var contents: [UInt8] = []
    for arc in [arcs[0] * 40 + arcs[1]] + arcs.dropFirst(2) { contents += base128(arc) }
    return element(0x06, contents)
  }

  /// `[number]` of the context class around whole elements, of any number (X.690 §8.1.2.4).
  package static func explicit(_ number: UInt32, _ contents: [UInt8]) -> [UInt8] {
    guard number > 30 else { return element(0xA0 | UInt8(number), contents) }
    return [0xBF] + base128(number) + length(contents.count) + contents
  }

  /// `[number]` in place of a primitive type's own tag; `number` is at most 30.
  package static func implicit(_ number: UInt8, _ contents: [UInt8]) -> [UInt8] {
    element(0x80 | number, contents)
  }

  private static func base128(_ value: UInt32) -> [UInt8] {
    var digits = [UInt8(value & 0x7F)]
    var rest = value >> 7
    while rest > 0 {
      digits.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
      rest >>= 7
    }
    return digits
  }

  private static func length(_ count: Int) -> [UInt8] {
    guard count > 127 else { return [UInt8(count)] }
    var digits: [UInt8] = []
    var rest = count
    while rest > 0 {
      digits.insert(UInt8(rest & 0xFF), at: 0)
      rest >>= 8
    }
    return [0x80 | UInt8(digits.count)] + digits
  }
}

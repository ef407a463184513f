/// Fields one behind the other, numbers with their lowest byte first, whatever has a length behind it.
internal import Bytes

struct FieldWriter {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  mutating func put(_ number: some FixedWidthInteger & UnsignedInteger) {
    var rest = UInt64(number)
    for _ in 0..<number.bitWidth / 8 {
      bytes.append(UInt8(truncatingIfNeeded: rest))
      rest >>= 8
    }
  }

  /// Never below zero.
  mutating func put(_ count: Int) { put(UInt64(count)) }

  mutating func put(_ digest: Bytes32) { digest.append(to: &bytes) }

  /// Bytes of a number that stands elsewhere.
  mutating func put(bare field: [UInt8]) { bytes += field }

  /// At most 255 bytes.
  mutating func put(short field: [UInt8]) {
    put(UInt8(field.count))
    bytes += field
  }

  mutating func put(long field: [UInt8]) {
    put(UInt32(field.count))
    bytes += field
  }

  /// One byte more tells whether there is anything.
  mutating func put(optional field: [UInt8]?) {
    put(UInt8(field == nil ? 0 : 1))
    if let field { put(long: field) }
  }
}

/// Reads what `FieldWriter` writes, of bytes that anybody may have written: nothing is taken that is not there, and no length
/// is believed before that many bytes are.
internal import Bytes

struct FieldReader {
  private let bytes: [UInt8]
  private var position: Int
  private let end: Int

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    position = 0
    end = bytes.count
  }

  var left: Int { end - position }

  mutating func byte() throws(KeptError) -> UInt8 {
    guard position < end else { throw .endsEarly }
    position += 1
    return bytes[position - 1]
  }

  mutating func number<Number: FixedWidthInteger & UnsignedInteger>(_: Number.Type = Number.self)
    throws(KeptError)
    -> Number
  {
    let size = Number.bitWidth / 8
    guard left >= size else { throw .endsEarly }
    var number: UInt64 = 0
    for index in 0..<size { number |= UInt64(bytes[position + index]) << UInt64(index * 8) }
    position += size
    return Number(truncatingIfNeeded: number)
  }

  /// What a message's number or a count of bytes may be (docs/sessions.md, "Counting").
  mutating func count(_ field: KeptField) throws(KeptError) -> Int {
    let number = try number(UInt64.self)
    guard number <= Self.highestCount else { throw .unfit(field) }
    return Int(number)
  }

  /// True or false and nothing else.
  mutating func flag(_ field: KeptField) throws(KeptError) -> Bool {
    switch try byte() {
    case 0: false
    case 1: true
    default: throw .unfit(field)
    }
  }

  mutating func digest() throws(KeptError) -> Bytes32 {
    guard let digest = Bytes32(try take(32)) else { throw .endsEarly }
    return digest
  }

  mutating func take(_ count: Int) throws(KeptError) -> [UInt8] {
    guard count <= left else { throw .endsEarly }
    position += count
    return Array(bytes[position - count..<position])
  }

  mutating func short(_ field: KeptField, limit: Int) throws(KeptError) -> [UInt8] {
    let count = Int(try byte())
    guard count <= limit else { throw .unfit(field) }
    return try take(count)
  }

  /// As long as it says, which is no longer than all that there is.
  mutating func long() throws(KeptError) -> [UInt8] {
    try take(Int(try number(UInt32.self)))
  }

  mutating func optional(_ field: KeptField) throws(KeptError) -> [UInt8]? {
    try flag(field) ? try long() : nil
  }

  func finish() throws(KeptError) {
    if position != end { throw .trailingBytes }
  }

  static let highestCount: UInt64 = 1 << 53
}

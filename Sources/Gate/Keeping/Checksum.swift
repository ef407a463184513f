/// The sum by which a half-written copy, or one that something else has written over, is known: 64 bits, mixed a word at a
/// time. It is none against somebody who wants to deceive; who holds the memory may do with it as they like.

struct Checksum {
  private var state: UInt64

  /// - Parameter seed: for whom the words are: those of another one do not check.
  init(seed: UInt64) {
    state = seed ^ 0x9E37_79B9_7F4A_7C15
  }

  @inline(__always)
  mutating func add(_ word: UInt64) {
    let mixed = (state ^ word) &* 0xD6E8_FEB8_6659_FD93
    state = mixed ^ mixed >> 32
  }

  /// Never zero, which memory has that nobody has written.
  var value: UInt64 { max(state, 1) }

  /// Of bytes, the last word filled with zeros; their number counts too.
  static func of(_ bytes: Span<UInt8>, seed: UInt64) -> UInt64 {
    var sum = Checksum(seed: seed)
    var index = 0
    while index + 8 <= bytes.count {
      var word: UInt64 = 0
      for place in 0..<8 { word |= UInt64(bytes[index + place]) << UInt64(place * 8) }
      sum.add(word)
      index += 8
    }
    var last: UInt64 = 0
    for place in index..<bytes.count { last |= UInt64(bytes[place]) << UInt64((place - index) * 8) }
    sum.add(last)
    sum.add(UInt64(bytes.count))
    return sum.value
  }
}

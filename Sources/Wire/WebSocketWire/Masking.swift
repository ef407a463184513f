/// The masking key of a frame and the exclusive or with it (RFC 6455 §5.3), a block at a time.
package struct MaskingKey: Equatable, Sendable {
  /// The byte due next lies lowest; zero leaves bytes as they are.
  private(set) var word: UInt32

  /// The four bytes in the order of the wire.
  package init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
    word = UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16 | UInt32(fourth) << 24
  }

  init() {
    word = 0
  }

  var wireBytes: [UInt8] {
    [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
  }

  /// Takes the next byte of the key from the wire; after four of them the first lies lowest.
  mutating func append(_ byte: UInt8) {
    word = word >> 8 | UInt32(byte) << 24
  }

  mutating func advance(by count: Int) {
    let bits = UInt32(truncatingIfNeeded: count & 3) * 8
    word = word >> bits | word << (32 - bits)
  }

  mutating func apply(to byte: UInt8) -> UInt8 {
    defer { advance(by: 1) }
    return byte ^ UInt8(truncatingIfNeeded: word)
  }

  /// Moves `count` bytes from `source` down to `destination`, or leaves them where they are, and applies the
  /// key, which is then ready for the bytes that follow.
  ///
  /// A block is read whole before it is written, and never behind where it was read, so overlap does no harm.
  mutating func apply(
    in buffer: inout MutableSpan<UInt8>, from source: Int, to destination: Int, count: Int
  ) {
    guard destination <= source else { fatalError("MaskingKey: payload only moves towards the front") }
    let pattern = UInt64(word) << 32 | UInt64(word)
    var done = 0
    while count - done >= 32 {
      let first: UInt64
      let second: UInt64
      let third: UInt64
      let fourth: UInt64
      do {
        let block = buffer.span.extracting(source + done..<source + done + 32)
        first = Self.load(block, 0) ^ pattern
        second = Self.load(block, 8) ^ pattern
        third = Self.load(block, 16) ^ pattern
        fourth = Self.load(block, 24) ^ pattern
      }
      var target = buffer._mutatingExtracting(destination + done..<destination + done + 32)
      Self.store(first, &target, 0)
      Self.store(second, &target, 8)
      Self.store(third, &target, 16)
      Self.store(fourth, &target, 24)
      done += 32
    }
    while count - done >= 8 {
      let word = Self.load(buffer.span.extracting(source + done..<source + done + 8), 0) ^ pattern
      var target = buffer._mutatingExtracting(destination + done..<destination + done + 8)
      Self.store(word, &target, 0)
      done += 8
    }
    advance(by: done)
    while done < count {
      buffer[destination + done] = apply(to: buffer[source + done])
      done += 1
    }
  }

  /// Eight single loads of a span whose length is known become one of the processor's.
  @inline(__always)
  private static func load(_ bytes: borrowing Span<UInt8>, _ index: Int) -> UInt64 {
    let low =
      UInt64(bytes[index]) | UInt64(bytes[index + 1]) << 8 | UInt64(bytes[index + 2]) << 16
      | UInt64(bytes[index + 3]) << 24
    let high =
      UInt64(bytes[index + 4]) << 32 | UInt64(bytes[index + 5]) << 40 | UInt64(bytes[index + 6]) << 48
      | UInt64(bytes[index + 7]) << 56
    return low | high
  }

  /// Into a span whose length is known, so that nothing is checked byte by byte.
  @inline(__always)
  private static func store(_ word: UInt64, _ block: inout MutableSpan<UInt8>, _ index: Int) {
    for offset in 0..<8 {
      block[index &+ offset] = UInt8(truncatingIfNeeded: word >> UInt64(offset &* 8))
    }
  }
}

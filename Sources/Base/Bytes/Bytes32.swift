/// Thirty-two bytes that lie where they are used, without an allocation: digests, key identifiers, nonces.
package struct Bytes32: Hashable, Sendable {
  private let words: InlineWords

  private struct InlineWords: Hashable, Sendable {
    var a: UInt64
    var b: UInt64
    var c: UInt64
    var d: UInt64
  }

  /// Nil unless there are exactly 32 bytes.
  package init?(_ bytes: Span<UInt8>) {
    guard bytes.count == 32 else { return nil }
    words = InlineWords(
      a: Self.word(bytes, 0), b: Self.word(bytes, 8), c: Self.word(bytes, 16), d: Self.word(bytes, 24))
  }

  package init?(_ bytes: [UInt8]) {
    self.init(bytes.span)
  }

  package init(_ bytes: [32 of UInt8]) {
    let span = bytes.span
    words = InlineWords(
      a: Self.word(span, 0), b: Self.word(span, 8), c: Self.word(span, 16), d: Self.word(span, 24))
  }

  /// From 64 lower-case digits, else nil.
  package init?(hex text: String) {
    guard text.utf8.count == 64, let bytes = Hex.decode(Array(text.utf8).span) else { return nil }
    self.init(bytes.span)
  }

  /// All zero.
  package init() {
    words = InlineWords(a: 0, b: 0, c: 0, d: 0)
  }

  /// From four numbers, the first byte the highest of the first.
  package init(words a: UInt64, _ b: UInt64, _ c: UInt64, _ d: UInt64) {
    words = InlineWords(a: a, b: b, c: c, d: d)
  }

  /// The first sixteen bytes as two numbers: what a table hashes of an identifier that is a digest already.
  package var leadingWords: (UInt64, UInt64) { (words.a, words.b) }

  /// Appends the 32 bytes, without an allocation of its own.
  package func append(to bytes: inout [UInt8]) {
    bytes.append(addingCapacity: 32) { output in
      func put(_ word: UInt64) {
        for place in 1...8 { output.append(UInt8(truncatingIfNeeded: word >> UInt64(64 - place * 8))) }
      }
      put(words.a)
      put(words.b)
      put(words.c)
      put(words.d)
    }
  }

  package subscript(index: Int) -> UInt8 {
    let word: UInt64 =
      switch index >> 3 {
      case 0: words.a
      case 1: words.b
      case 2: words.c
      case 3: words.d
      default: fatalError("Bytes32: index \(index) out of range")
      }
    return UInt8(truncatingIfNeeded: word >> UInt64(56 - (index & 7) * 8))
  }

  package var array: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  /// The same bytes in place, for what wants a span of them.
  package var inlineArray: [32 of UInt8] { InlineArray { index in self[index] } }

  package var hex: String { Hex.encode(array.span) }
  package var base64: String { Base64.encode(array.span) }

  /// In time that does not depend on where they differ.
  package func equalsInConstantTime(_ other: Bytes32) -> Bool {
    let difference =
      (words.a ^ other.words.a) | (words.b ^ other.words.b) | (words.c ^ other.words.c)
      | (words.d ^ other.words.d)
    return difference == 0
  }

  private static func word(_ bytes: Span<UInt8>, _ start: Int) -> UInt64 {
    var word: UInt64 = 0
    for index in start..<start + 8 { word = word << 8 | UInt64(bytes[index]) }
    return word
  }
}

/// In time that depends on the lengths alone; unequal lengths are unequal.
package func equalInConstantTime(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Bool {
  guard left.count == right.count else { return false }
  var difference: UInt8 = 0
  for index in left.indices { difference |= left[index] ^ right[index] }
  return difference == 0
}

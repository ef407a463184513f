/// Deterministic CBOR (RFC 8949 §4.2.1) for what has to be written: a head at a time, the caller keeps the
/// counts.
package struct CBOREncoder: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(unsigned value: UInt64) { appendHead(majorType: 0, value) }
  /// The number -1 - `argument`.
  package mutating func append(negative argument: UInt64) { appendHead(majorType: 1, argument) }

  package mutating func append(bytes content: some Collection<UInt8>) {
    appendHead(majorType: 2, UInt64(content.count))
    bytes += content
  }

  package mutating func append(text: String) {
    appendHead(majorType: 3, UInt64(text.utf8.count))
    bytes += text.utf8
  }

  /// `count` data items must follow.
  package mutating func beginArray(count: Int) { appendHead(majorType: 4, UInt64(count)) }
  /// `pairs` keys, each with its value, must follow.
  package mutating func beginMap(pairs: Int) { appendHead(majorType: 5, UInt64(pairs)) }

  private mutating func appendHead(majorType: UInt8, _ argument: UInt64) {
    let (information, width): (UInt8, Int) =
      switch argument {
      case ..<24: (UInt8(argument), 0)
      case ...UInt64(UInt8.max): (24, 1)
      case ...UInt64(UInt16.max): (25, 2)
      case ...UInt64(UInt32.max): (26, 4)
      default: (27, 8)
      }
    bytes.append(majorType << 5 | information)
    for index in (0..<width).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: argument >> UInt64(index * 8)))
    }
  }
}

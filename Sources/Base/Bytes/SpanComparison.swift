/// Text inside a span of bytes, compared as bytes.
extension Span<UInt8> {
  /// Whether these are exactly the text's bytes: no Unicode equivalence, no change of case.
  package func isText(_ text: String) -> Bool {
    guard text.utf8.count == count else { return false }
    var index = 0
    for byte in text.utf8 {
      if self[index] != byte { return false }
      index += 1
    }
    return true
  }

  /// Whether these are exactly the bytes of `other`.
  package func isEqual(to other: Span<UInt8>) -> Bool {
    guard count == other.count else { return false }
    for index in indices where self[index] != other[index] { return false }
    return true
  }

  package func isEqual(to other: [UInt8]) -> Bool { isEqual(to: other.span) }

  package func startsWith(_ prefix: [UInt8]) -> Bool {
    count >= prefix.count && extracting(0..<prefix.count).isEqual(to: prefix.span)
  }

  package var array: [UInt8] {
    var copy: [UInt8] = []
    copy.reserveCapacity(count)
    for index in indices { copy.append(self[index]) }
    return copy
  }
}

/// Appending a span to an array.
extension Array where Element == UInt8 {
  /// In time proportional to `bytes`, however often: the array grows by a part of itself when it has to grow.
  package mutating func append(copying bytes: Span<UInt8>) {
    // As one block: from the span itself it would be a byte at a time. The pointer is good for the closure, with the
    // span's own count, and the array is another one, as it is changed while the span is borrowed.
    unsafe bytes.withUnsafeBufferPointer { block in unsafe append(contentsOf: block) }
  }
}

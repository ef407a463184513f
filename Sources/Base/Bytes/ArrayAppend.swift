/// Appending a span to an array.
extension Array where Element == UInt8 {
  /// In time proportional to `bytes`, however often: the array grows by a part of itself when it has to grow.
  package mutating func append(copying bytes: Span<UInt8>) {
    append(addingCapacity: bytes.count) { output in
      for index in bytes.indices { output.append(bytes[index]) }
    }
  }
}

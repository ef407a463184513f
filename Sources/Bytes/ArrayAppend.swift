/// Appending a span to an array.
extension Array where Element == UInt8 {
  package mutating func append(copying bytes: Span<UInt8>) {
    reserveCapacity(count + bytes.count)
    for index in bytes.indices { append(bytes[index]) }
  }
}

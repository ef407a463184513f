/// Appending a span to an array.
extension Array where Element == UInt8 {
  package mutating func append(copying bytes: Span<UInt8>) {
    let needed = count + bytes.count
    // Reserving just what is needed now would undo the doubling that keeps many small appends linear.
    if needed > capacity { reserveCapacity(Swift.max(needed, capacity * 2)) }
    for index in bytes.indices { append(bytes[index]) }
  }
}

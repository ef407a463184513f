/// Bytes waiting in order for a side that is slow; holds no memory while it is empty.
package struct ByteQueue: Sendable {
  private var storage: [UInt8] = []
  private var head = 0

  package init() {}

  package var count: Int { storage.count - head }
  package var isEmpty: Bool { head == storage.count }

  package mutating func append(_ bytes: Span<UInt8>) {
    if head > 0, head >= storage.count / 2 { compact() }
    storage.append(copying: bytes)
  }

  /// What waits, oldest first.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self) get { storage.span.extracting(head..<storage.count) }
  }

  package mutating func removeFirst(_ count: Int) {
    head += count
    precondition(head <= storage.count)
    if head == storage.count {
      storage = []
      head = 0
    }
  }

  private mutating func compact() {
    storage.removeFirst(head)
    head = 0
  }
}

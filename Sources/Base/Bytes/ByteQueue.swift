/// Bytes waiting in order for a side that is slow; holds no memory while it is empty.
///
/// They stay in the pieces they came in, so that a queue which is filled and emptied at the same time takes up what it
/// holds and not twice that: one growing array would keep what was sent, and double when it is full. Only small pieces
/// are put together.
public struct ByteQueue: Sendable {
  private var first: [UInt8] = []
  /// How much of `first` has gone.
  private var head = 0
  private var later: [[UInt8]] = []
  public private(set) var count = 0

  package init() {}

  @inlinable public var isEmpty: Bool { count == 0 }

  package mutating func append(_ bytes: Span<UInt8>) {
    if bytes.isEmpty { return }
    count += bytes.count
    if later.isEmpty {
      if Self.fits(bytes, behind: first) { return first.append(copying: bytes) }
    } else if Self.fits(bytes, behind: later[later.count - 1]) {
      return later[later.count - 1].append(copying: bytes)
    }
    var piece: [UInt8] = []
    piece.reserveCapacity(bytes.count)
    piece.append(copying: bytes)
    later.append(piece)
  }

  /// The oldest piece of what waits; empty only if nothing does.
  package var bytes: Span<UInt8> {
    @_lifetime(borrow self) get { first.span.extracting(head..<first.count) }
  }

  /// The first `count` bytes that wait, or all if they are fewer.
  package func copy(first count: Int) -> [UInt8] {
    var copied = Array(first[head...].prefix(count))
    for piece in later where copied.count < count { copied += piece.prefix(count - copied.count) }
    return copied
  }

  package mutating func removeFirst(_ count: Int) {
    precondition(count <= self.count)
    self.count -= count
    head += count
    while head >= first.count {
      head -= first.count
      if later.isEmpty {
        first = []
        return
      }
      first = later.removeFirst()
    }
  }

  private static func fits(_ bytes: Span<UInt8>, behind piece: [UInt8]) -> Bool {
    piece.isEmpty || piece.count + bytes.count <= pieceBytes
  }

  /// Up to here pieces are put together.
  private static let pieceBytes = 16 * 1024
}

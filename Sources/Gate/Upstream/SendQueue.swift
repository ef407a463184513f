/// What one socket would not take yet, in order, and whether it would take more now.
public import Bytes
package import Sockets
package import System

/// How far sending got.
package enum FlushResult: Equatable {
  case drained
  /// The rest waits for the socket to become writable.
  case blocked
  case failed(SystemError)
}

public struct SendQueue {
  @usableFromInline var queue = ByteQueue()
  /// False from the first refusal until the poller reports the socket writable.
  @usableFromInline var isWritable = true

  /// The socket took some of what waited since this was last asked for.
  @usableFromInline var hasProgressed = false

  /// - Parameter waiting: what is to be sent first.
  package init(_ waiting: [UInt8] = []) {
    if !waiting.isEmpty { queue.append(waiting.span) }
  }

  /// Of what waits.
  package func copy(first count: Int) -> [UInt8] { queue.copy(first: count) }

  // Asked in each turn of a connection: put in where they are called, they are reads without a check of exclusive access.
  @inlinable public var isEmpty: Bool { queue.isEmpty }
  @inlinable public var count: Int { queue.count }

  @inlinable
  public mutating func noteWritable() { isWritable = true }

  @inlinable
  public mutating func takeProgress() -> Bool {
    defer { hasProgressed = false }
    return hasProgressed
  }

  /// Sends `bytes` after what already waits, and keeps what the socket does not take.
  package mutating func send(_ bytes: Span<UInt8>, on socket: borrowing Socket) -> FlushResult {
    guard queue.isEmpty else {
      queue.append(bytes)
      return resume(on: socket)
    }
    var sent = 0
    while sent < bytes.count {
      guard isWritable else {
        queue.append(bytes.extracting(sent..<bytes.count))
        return .blocked
      }
      switch socket.send(bytes.extracting(sent..<bytes.count)) {
      case .bytes(let count): sent += count
      case .wouldBlock: isWritable = false
      case .failed(let error): return .failed(error)
      }
    }
    return .drained
  }

  // MARK: One call after the other

  /// Whether the next call to the socket may come to something.
  package var mayGoOn: Bool { isWritable && !queue.isEmpty }
  package var mayBegin: Bool { isWritable }
  /// What the next call offers of what waits.
  package var firstPiece: Int { queue.bytes.count }

  /// The same with one call at most, of which there is none where anything waits or the socket is full: what comes of it
  /// can be noted before the next.
  package mutating func sendOnce(_ bytes: Span<UInt8>, on socket: borrowing Socket) -> FlushResult {
    guard queue.isEmpty, isWritable else {
      queue.append(bytes)
      return .blocked
    }
    switch socket.send(bytes) {
    case .bytes(let count):
      if count == bytes.count { return .drained }
      queue.append(bytes.extracting(count..<bytes.count))
      return .blocked
    case .wouldBlock:
      isWritable = false
      queue.append(bytes)
      return .blocked
    case .failed(let error): return .failed(error)
    }
  }

  package mutating func resumeOnce(on socket: borrowing Socket) -> FlushResult {
    guard mayGoOn else { return queue.isEmpty ? .drained : .blocked }
    switch socket.send(queue.bytes) {
    case .bytes(let count):
      queue.removeFirst(count)
      hasProgressed = true
    case .wouldBlock: isWritable = false
    case .failed(let error): return .failed(error)
    }
    return queue.isEmpty ? .drained : .blocked
  }

  /// Goes on with what waits.
  package mutating func resume(on socket: borrowing Socket) -> FlushResult {
    while !queue.isEmpty {
      guard isWritable else { return .blocked }
      switch socket.send(queue.bytes) {
      case .bytes(let count):
        queue.removeFirst(count)
        hasProgressed = true
      case .wouldBlock: isWritable = false
      case .failed(let error): return .failed(error)
      }
    }
    return .drained
  }
}

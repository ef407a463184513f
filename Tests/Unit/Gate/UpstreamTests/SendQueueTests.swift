import Sockets
import System
import Testing

@testable import Upstream

@Suite struct SendQueueTests {
  /// More than a socket's buffers take.
  private static let much = [UInt8]((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) })

  private static func pair() throws -> SocketPair {
    let pair = try Socket.pair()
    pair.first.set(.sendBuffer(bytes: 16 * 1024))
    return pair
  }

  /// All that is there, appended to `received`.
  private static func read(_ socket: borrowing Socket, into received: inout [UInt8]) {
    var room = [UInt8](repeating: 0, count: 65_536)
    while true {
      var span = room.mutableSpan
      guard case .bytes(let count) = socket.receive(into: &span) else { return }
      received += room.prefix(count)
    }
  }

  @Test func whatTheSocketTakesIsNotKept() throws {
    let pair = try Self.pair()
    var queue = SendQueue()
    let result = queue.send([1, 2, 3].span, on: pair.first)
    #expect(result == .drained)
    #expect(queue.isEmpty)
    // Progress is of what waited, and nothing did.
    let hasProgressed = queue.takeProgress()
    #expect(!hasProgressed)
    var received: [UInt8] = []
    Self.read(pair.second, into: &received)
    #expect(received == [1, 2, 3])
  }

  @Test func theRestWaitsUntilTheSocketIsReportedWritable() throws {
    let pair = try Self.pair()
    var queue = SendQueue()
    let sent = queue.send(Self.much.span, on: pair.first)
    #expect(sent == .blocked)
    let waiting = queue.count
    #expect(waiting > 0 && waiting < Self.much.count)
    var received: [UInt8] = []
    Self.read(pair.second, into: &received)
    #expect(received.count + waiting == Self.much.count)
    // There is room, but nobody has said so.
    let unasked = queue.resume(on: pair.first)
    #expect(unasked == .blocked && queue.count == waiting)
    let idle = queue.takeProgress()
    #expect(!idle)
    queue.noteWritable()
    let resumed = queue.resume(on: pair.first)
    #expect(resumed == .blocked && queue.count < waiting)
    let progressed = queue.takeProgress()
    let again = queue.takeProgress()
    #expect(progressed && !again)
  }

  @Test func orderIsKeptBehindWhatWaits() throws {
    let pair = try Self.pair()
    var queue = SendQueue()
    _ = queue.send(Self.much.span, on: pair.first)
    let behind = queue.send([1, 2, 3].span, on: pair.first)
    #expect(behind == .blocked)
    var received: [UInt8] = []
    for _ in 0..<100_000 where !queue.isEmpty {
      Self.read(pair.second, into: &received)
      queue.noteWritable()
      _ = queue.resume(on: pair.first)
    }
    #expect(queue.isEmpty)
    Self.read(pair.second, into: &received)
    let isWhole = received == Self.much + [1, 2, 3]
    #expect(isWhole)
    let nothing = queue.resume(on: pair.first)
    #expect(nothing == .drained)
  }

  @Test func aFailureIsSaidByEither() throws {
    let pair = try Self.pair()
    var queue = SendQueue()
    _ = queue.send(Self.much.span, on: pair.first)
    pair.first.finishSending()
    queue.noteWritable()
    guard case .failed = queue.resume(on: pair.first) else {
      Issue.record("resumed on a socket that is shut")
      return
    }
    var fresh = SendQueue()
    guard case .failed = fresh.send([1].span, on: pair.first) else {
      Issue.record("sent on a socket that is shut")
      return
    }
    #expect(fresh.isEmpty)
  }
}

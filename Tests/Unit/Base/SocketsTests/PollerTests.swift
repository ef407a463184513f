import System
import Testing

@testable import Sockets

/// Edge-triggered: each change is told once.
@Suite struct PollerTests {
  /// The events of one turn, without waiting for more.
  private static func events(_ poller: inout Poller, wait: Int32 = 0) -> [ReadyEvent] {
    let count = poller.wait(milliseconds: wait)
    return (0..<count).map { poller.event($0) }
  }

  @Test func eachChangeIsToldOnce() throws {
    let pair = try Socket.pair()
    var poller = try Poller()
    try poller.add(pair.second, token: 0x1234_5678_9ABC_DEF0)
    let first = Self.events(&poller)
    #expect(first.map(\.token) == [0x1234_5678_9ABC_DEF0])
    #expect(first.map(\.isWritable) == [true])
    #expect(first.map(\.isReadable) == [false])
    #expect(first.map(\.hasHangup) == [false])
    #expect(Self.events(&poller).isEmpty)

    pair.first.send("one")
    #expect(Self.events(&poller).map(\.isReadable) == [true])
    // Not read yet, and told already.
    #expect(Self.events(&poller).isEmpty)
    pair.first.send("two")
    #expect(Self.events(&poller).map(\.isReadable) == [true])
    #expect(pair.second.receive(100).result == .bytes(6))
    #expect(Self.events(&poller).isEmpty)
  }

  @Test func writableIsToldAgainWhenThereIsRoom() throws {
    let pair = try Socket.pair()
    var poller = try Poller()
    try poller.add(pair.first, token: 1)
    #expect(Self.events(&poller).map(\.isWritable) == [true])
    let block = [UInt8](repeating: 0, count: 65_536)
    while case .bytes = pair.first.send(block.span) {}
    #expect(Self.events(&poller).isEmpty)
    while case .bytes = pair.second.receive(65_536).result {}
    #expect(Self.events(&poller, wait: 5000).map(\.isWritable) == [true])
  }

  @Test func dataAndFINTogether() throws {
    let connected = try Connected()
    var poller = try Poller()
    connected.client.send("last words")
    connected.client.finishSending()
    try waitUntilReadable(connected.server)
    try poller.add(connected.server, token: 1)
    // Both may come in one event or the FIN in a second one; in the end there is a hang-up with the data unread.
    var sawHangup = false
    while !sawHangup {
      let events = Self.events(&poller, wait: 5000)
      try #require(!events.isEmpty)
      #expect(events.map(\.isReadable) == events.map { _ in true })
      sawHangup = events.contains(where: \.hasHangup)
    }
    #expect(connected.server.receive(100).result == .bytes(10))
    #expect(connected.server.receive(100).result == .ended)
    // A half-closed connection is no error: it can be written to.
    #expect(connected.server.send("reply") == .bytes(5))
  }

  @Test func aResetIsAHangup() throws {
    let connected = try Connected()
    var poller = try Poller()
    try poller.add(connected.server, token: 1)
    _ = Self.events(&poller)
    connected.client.resetOnClose()
    close(connected.client)
    let events = Self.events(&poller, wait: 5000)
    #expect(events.map(\.hasHangup) == [true])
    #expect(events.map(\.isReadable) == [true])
    #expect(events.map(\.isWritable) == [true])
  }

  @Test func readableOnlyIsToldUntilItIsRead() throws {
    let pair = try Socket.pair()
    var poller = try Poller()
    try poller.addReadable(pair.second, token: 1)
    #expect(Self.events(&poller).isEmpty)
    pair.first.send("x")
    for _ in 0..<3 { #expect(Self.events(&poller).count == 1) }
    _ = pair.second.receive(1)
    #expect(Self.events(&poller).isEmpty)
  }

  @Test func removedIsNotToldAndCanComeBack() throws {
    let pair = try Socket.pair()
    var poller = try Poller()
    try poller.addReadable(pair.second, token: 1)
    pair.first.send("x")
    poller.remove(pair.second)
    #expect(Self.events(&poller).isEmpty)
    try poller.addReadable(pair.second, token: 2)
    #expect(Self.events(&poller).map(\.token) == [2])
  }

  @Test func aClosedSocketIsForgotten() throws {
    let connected = try Connected()
    var poller = try Poller()
    try poller.add(connected.server, token: 1)
    close(connected.server)
    connected.client.send("x")
    #expect(Self.events(&poller).isEmpty)
  }

  @Test func noMoreEventsThanThereIsRoomForAndNoneLost() throws {
    let pairs = try (0..<10).map { _ in try PairBox() }
    var poller = try Poller(capacity: 4)
    for (index, box) in pairs.enumerated() { try poller.addReadable(box.pair.second, token: UInt64(index)) }
    for box in pairs { box.pair.first.send("x") }
    var seen = Set<UInt64>()
    for _ in 0..<10 {
      let events = Self.events(&poller)
      #expect(events.count <= 4)
      for event in events {
        seen.insert(event.token)
        _ = pairs[Int(event.token)].pair.second.receive(1)
      }
    }
    #expect(seen.count == 10)
  }

  private final class PairBox {
    let pair: SocketPair
    init() throws { pair = try Socket.pair() }
  }
}

@Suite struct WakeUpTests {
  @Test func manySignalsAreOneUntilCleared() throws {
    let wakeUp = try WakeUp()
    let poller = try Poller()
    try wakeUp.register(with: poller, token: 42)
    #expect(poller.wait(milliseconds: 0) == 0)
    for _ in 0..<5 { wakeUp.signal() }
    #expect(poller.wait(milliseconds: 0) == 1)
    #expect(poller.event(0).token == 42)
    // It rings until it is answered.
    #expect(poller.wait(milliseconds: 0) == 1)
    wakeUp.clear()
    #expect(poller.wait(milliseconds: 0) == 0)
    wakeUp.clear()
    wakeUp.signal()
    #expect(poller.wait(milliseconds: 0) == 1)
  }

  @Test func anotherThreadEndsTheWait() throws {
    let shared = Shared(try WakeUp())
    let poller = try Poller()
    try shared.wakeUp.register(with: poller, token: 1)
    let thread = try System.Thread(name: "ring") { shared.wakeUp.signal() }
    #expect(poller.wait(milliseconds: 10_000) == 1)
    thread.join()
  }

  private final class Shared: Sendable {
    let wakeUp: WakeUp
    init(_ wakeUp: consuming WakeUp) { self.wakeUp = wakeUp }
  }
}

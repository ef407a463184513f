import Addresses
import Glibc
import System
import Testing

@testable import Sockets

@Suite struct SocketTests {
  @Test func aPairTalksBothWays() throws {
    let pair = try Socket.pair()
    #expect(pair.first.send("to second") == .bytes(9))
    #expect(pair.second.send("to first") == .bytes(8))
    let second = pair.second.receive(20)
    #expect(second.result == .bytes(9))
    #expect(second.bytes.prefix(9) == Array("to second".utf8)[...])
    #expect(second.bytes[9] == 0xEE)
    #expect(pair.first.receive(8).result == .bytes(8))
  }

  /// Its own name, which a second descriptor of it has as well.
  @Test func cookies() throws {
    let pair = try Socket.pair()
    let (first, second) = (pair.first.cookie, pair.second.cookie)
    #expect(first != 0 && second != 0 && first != second)
    let again = Socket(owning: dup(pair.first.descriptor))
    let same = again.cookie
    #expect(same == first)
  }

  @Test func nothingWouldBlock() throws {
    let pair = try Socket.pair()
    #expect(pair.first.receive(10).result == .wouldBlock)
  }

  @Test func takesNoMoreThanThereIsRoomFor() throws {
    let pair = try Socket.pair()
    pair.first.send("abcdef")
    #expect(pair.second.receive(4).bytes == Array("abcd".utf8))
    #expect(pair.second.receive(4).result == .bytes(2))
    #expect(pair.second.receive(4).result == .wouldBlock)
  }

  @Test func aPeekLeavesWhatItSaw() throws {
    let pair = try Socket.pair()
    var room = [UInt8](repeating: 0, count: 4)
    func peek() -> ReceiveResult {
      var span = room.mutableSpan
      return pair.second.peek(into: &span)
    }
    let before = peek()
    #expect(before == .wouldBlock)
    pair.first.send("abcdef")
    let first = peek()
    let again = peek()
    #expect(first == .bytes(4) && again == .bytes(4))
    #expect(room == Array("abcd".utf8))
    #expect(pair.second.receive(6).bytes == Array("abcdef".utf8))
    pair.first.finishSending()
    let ended = peek()
    #expect(ended == .ended)
  }

  @Test func aFinishedPeerEndsAndCanStillBeTalkedTo() throws {
    let connected = try Connected()
    connected.client.send("last")
    connected.client.finishSending()
    try waitUntilReadable(connected.server)
    #expect(connected.server.receive(10).result == .bytes(4))
    #expect(connected.server.receive(10).result == .ended)
    #expect(connected.server.receive(10).result == .ended)
    #expect(connected.server.send("answer") == .bytes(6))
    try waitUntilReadable(connected.client)
    #expect(connected.client.receive(10).result == .bytes(6))
  }

  @Test func aResetIsAFailure() throws {
    let connected = try Connected()
    connected.client.resetOnClose()
    close(connected.client)
    let server = connected.server
    try waitUntilReadable(server)
    #expect(server.receive(10).result == .failed(SystemError("recv", ECONNRESET)))
  }

  @Test func sendingToTheGoneIsAFailureAndNoSignal() throws {
    let pair = try Socket.pair()
    _ = shutdown(pair.second.descriptor, Int32(SHUT_RDWR))
    #expect(pair.first.send("x") == .failed(SystemError("send", EPIPE)))
  }

  @Test func aFullSocketWouldBlock() throws {
    let pair = try Socket.pair()
    let block = [UInt8](repeating: 7, count: 65_536)
    var sent = 0
    filling: while sent < 100_000_000 {
      switch pair.first.send(block.span) {
      case .bytes(let count): sent += count
      case .wouldBlock: break filling
      case .failed(let error): throw error
      }
    }
    #expect(sent > 0)
    #expect(sent < 100_000_000)
    var received = 0
    while case .bytes(let count) = pair.second.receive(65_536).result { received += count }
    #expect(received == sent)
    #expect(pair.first.send("again") == .bytes(5))
  }

  @Test func aRefusedConnectIsTold() throws {
    // The port of a connection that is held: nobody can listen there meanwhile.
    let listener = try loopbackListener()
    let holder = try Socket.connecting(to: try SocketsTests.address(of: listener.socket))
    let local = holder.localAddress()
    let refusing = try #require(local)
    do throws(SystemError) {
      let socket = try Socket.connecting(to: refusing)
      let poller = try Poller()
      try poller.add(socket, token: 1)
      #expect(poller.wait(milliseconds: 5000) == 1)
      #expect(poller.event(0).isWritable)
      #expect(socket.connectFailure() == SystemError("connect", ECONNREFUSED))
    } catch {
      #expect(error == SystemError("connect", ECONNREFUSED))
    }
  }

  @Test func aGoodConnectHasNoFailure() throws {
    let connected = try Connected()
    #expect(connected.client.connectFailure() == nil)
    #expect(connected.client.localAddress()?.endpoint?.address == .loopbackV4)
  }

  @Test func unixSocketsAndTheirPaths() throws {
    let missing = SocketAddress.unix(path: "/nonexistent/mud.sock")
    #expect(throws: SystemError("connect", ENOENT)) { _ = try Socket.connecting(to: missing) }
    let long = SocketAddress.unix(path: "/" + String(repeating: "x", count: 107))
    #expect(throws: SystemError("unix socket path", ENAMETOOLONG)) { _ = try Socket.connecting(to: long) }
    let longest = SocketAddress.unix(path: "/" + String(repeating: "x", count: 106))
    #expect(throws: SystemError("connect", ENOENT)) { _ = try Socket.connecting(to: longest) }
    #expect(missing.description == "unix:/nonexistent/mud.sock")
    #expect(missing.endpoint == nil)
  }
}

/// Reads with room before each slot for a frame header.
@Suite struct GappedReceiveTests {
  private static func receive(
    _ socket: borrowing Socket, room: Int, gap: Int, slot: Int, slots: Int
  ) -> (result: ReceiveResult, bytes: [UInt8]) {
    var bytes = [UInt8](repeating: 0xEE, count: room)
    var span = bytes.mutableSpan
    let result = socket.receive(into: &span, gapBytes: gap, slotBytes: slot, slots: slots)
    return (result, bytes)
  }

  /// Payloads that end within, at and beyond each slot's end.
  @Test(arguments: [1, 9, 10, 11, 20, 25, 29, 30, 31, 100])
  func laysBytesBehindTheGaps(count: Int) throws {
    let pair = try Socket.pair()
    let payload = (0..<count).map { UInt8($0) }
    #expect(pair.first.send(payload.span) == .bytes(count))
    // Three slots of ten bytes with four before each, and five bytes that belong to none.
    let (result, bytes) = Self.receive(pair.second, room: 47, gap: 4, slot: 10, slots: 3)
    let taken = min(count, 30)
    #expect(result == .bytes(taken))
    for slot in 0..<3 {
      let start = slot * 14
      #expect(bytes[start..<start + 4].allSatisfy { $0 == 0xEE }, "gap \(slot)")
      for offset in 0..<10 {
        let index = slot * 10 + offset
        #expect(bytes[start + 4 + offset] == (index < taken ? UInt8(index) : 0xEE))
      }
    }
    #expect(bytes[42...].allSatisfy { $0 == 0xEE })
  }

  /// What a game says is short as a rule: one slot, and the rest stays with the kernel.
  @Test(arguments: [1, 9, 10, 11, 100])
  func oneSlot(count: Int) throws {
    let pair = try Socket.pair()
    let payload = (0..<count).map { UInt8($0) }
    #expect(pair.first.send(payload.span) == .bytes(count))
    let (result, bytes) = Self.receive(pair.second, room: 47, gap: 4, slot: 10, slots: 1)
    let taken = min(count, 10)
    #expect(result == .bytes(taken))
    #expect(Array(bytes[4..<4 + taken]) == Array(payload[..<taken]))
    #expect((bytes[..<4] + bytes[(4 + taken)...]).allSatisfy { $0 == 0xEE })
    let rest = Self.receive(pair.second, room: 112, gap: 4, slot: 10, slots: 8).result
    #expect(rest == (count > taken ? .bytes(min(count - taken, 80)) : .wouldBlock))
  }

  @Test func wouldBlockAndEnd() throws {
    let pair = try Socket.pair()
    for slots in [1, 2] {
      #expect(Self.receive(pair.second, room: 28, gap: 4, slot: 10, slots: slots).result == .wouldBlock)
    }
    pair.first.finishSending()
    for slots in [1, 2] {
      #expect(Self.receive(pair.second, room: 28, gap: 4, slot: 10, slots: slots).result == .ended)
    }
  }
}

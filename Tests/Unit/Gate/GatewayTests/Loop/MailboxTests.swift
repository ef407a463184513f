import Sockets
import Synchronization
import System
import Testing
import Time

@testable import Admission
@testable import Gateway
@testable import Scheduling

@Suite struct MailboxTests {
  /// A mailbox with the poller of the loop that it belongs to.
  private struct Awaited: ~Copyable {
    let mailbox: Mailbox
    let poller: Poller

    init() throws {
      let mailbox = try Mailbox()
      let poller = try Poller()
      try mailbox.register(with: poller)
      self.mailbox = mailbox
      self.poller = poller
    }

    /// As a loop's turn does; nothing once `milliseconds` are over.
    borrowing func turn(milliseconds: Int32 = 5000) -> [UInt64] {
      let events = poller.wait(milliseconds: mailbox.prepareToWait() ? milliseconds : 0)
      let isWoken = (0..<events).contains { poller.event($0).token == Token.mailbox.rawValue }
      return MailboxTests.numbers(mailbox.takeAll(woken: isWoken))
    }
  }

  private static func message(_ number: UInt64) -> LoopMessage {
    .end(Token(rawValue: number), .draining, nil)
  }

  fileprivate static func numbers(_ messages: [LoopMessage]) -> [UInt64] {
    messages.compactMap { message in
      if case .end(let token, _, _) = message { return token.rawValue }
      return nil
    }
  }

  @Test func whatComesBeforeTheWaitKeepsTheLoopFromIt() throws {
    let awaited = try Awaited()
    for number in 1...3 { awaited.mailbox.post(Self.message(UInt64(number))) }
    #expect(!awaited.mailbox.prepareToWait())
    #expect(Self.numbers(awaited.mailbox.takeAll(woken: false)) == [1, 2, 3])
    #expect(awaited.mailbox.takeAll(woken: false).isEmpty)
  }

  @Test func nobodyIsWokenWhoDoesNotWait() throws {
    let awaited = try Awaited()
    awaited.mailbox.post(Self.message(1))
    #expect(awaited.poller.wait(milliseconds: 0) == 0)
    #expect(awaited.turn() == [1])
  }

  @Test func whatComesDuringTheWaitEndsItOnce() throws {
    let awaited = try Awaited()
    #expect(awaited.mailbox.prepareToWait())
    let mailbox = awaited.mailbox
    let thread = try Thread(name: "poster") { mailbox.post(Self.message(7)) }
    #expect(awaited.poller.wait(milliseconds: 5000) == 1)
    #expect(awaited.poller.event(0).token == Token.mailbox.rawValue)
    thread.join()
    #expect(Self.numbers(mailbox.takeAll(woken: true)) == [7])
    #expect(awaited.turn(milliseconds: 0).isEmpty)
  }

  @Test func nothingIsLostOfManyThreadsAndEachKeepsItsOrder() throws {
    let awaited = try Awaited()
    let mailbox = awaited.mailbox
    let (threads, each) = (4, UInt64(2000))
    var running: [JoinHandle] = []
    for thread in 0..<threads {
      running.append(
        JoinHandle(
          try Thread(name: "poster-\(thread)") {
            for number in 0..<each { mailbox.post(Self.message(UInt64(thread) * each + number)) }
          }))
    }
    var heard: [UInt64] = []
    let deadline = SystemClock().monotonic() + .seconds(60)
    // A signal may come behind its message, so a turn may find nothing.
    while heard.count < threads * Int(each), SystemClock().monotonic() < deadline {
      heard += awaited.turn(milliseconds: 60_000)
    }
    #expect(heard.count == threads * Int(each))
    // A message whose signal is lost would be found all the same, but when the wait is over.
    #expect(SystemClock().monotonic() < deadline)
    for thread in running { thread.join() }
    for thread in 0..<UInt64(threads) {
      #expect(heard.filter { $0 / each == thread } == Array(thread * each..<(thread + 1) * each))
    }
  }

  /// Before and after its end alike: who asks a loop that has ended is answered, and not left to wait.
  @Test func aClosedOneAnswersForItsLoop() throws {
    let mailbox = try Mailbox()
    let latch = CountDownLatch(count: 2)
    let replies = Mutex(0)
    let order = RevocationOrder(loops: 1) { question, _ in mailbox.post(.revoked(question)) }
    let sessions = (1...2 as ClosedRange<UInt64>).map { SessionReference(loop: 0, token: $0) }
    order.ending(sessions)
    order.complete()
    for isClosed in [false, true] {
      if isClosed { mailbox.close() }
      let session = sessions[isClosed ? 1 : 0]
      mailbox.post(.end(Token(rawValue: session.token), .keyRevoked, SessionEnding(session, [order])))
      mailbox.post(.pass(latch))
      mailbox.post(.listSessions { found in replies.withLock { $0 += found.isEmpty ? 1 : 100 } })
    }
    #expect(latch.count == 0)
    let outcome = order.settled()
    #expect(outcome.sessionsEnded == 2 && !outcome.isSilent)
    #expect(replies.withLock { $0 } == 2)
    #expect(mailbox.takeAll(woken: false).isEmpty)
  }
}

@Suite struct CountDownLatchTests {
  @Test func nobodyIsWaitedFor() {
    #expect(CountDownLatch(count: 0).wait(within: .seconds(60)) == 0)
  }

  @Test func theLastOneEndsTheWait() throws {
    let latch = CountDownLatch(count: 3)
    var threads: [JoinHandle] = []
    for index in 0..<3 { threads.append(JoinHandle(try Thread(name: "ends-\(index)") { latch.countDown() })) }
    #expect(latch.wait(within: .seconds(60)) == 0)
    for thread in threads { thread.join() }
  }

  @Test func whoDoesNotEndIsCounted() {
    let latch = CountDownLatch(count: 3)
    latch.countDown()
    #expect(latch.wait(within: .milliseconds(20)) == 2)
  }
}

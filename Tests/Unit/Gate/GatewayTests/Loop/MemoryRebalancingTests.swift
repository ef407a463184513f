import Time
import Testing

@testable import Admission
@testable import Gateway
@testable import Scheduling

/// Who gives way when all sessions keep too much, and how the loops come to that.
@Suite struct MemoryRebalancingTests {
  private func entry(_ loop: UInt16, _ number: Int, _ bytes: Int) -> MemoryRebalancing.Entry {
    MemoryRebalancing.Entry(
      session: SessionReference(loop: loop, token: Self.token(number).rawValue), bytes: bytes)
  }

  private static func token(_ number: Int) -> Token { Token(rawValue: UInt64(number)) }

  private func plan(_ entries: [MemoryRebalancing.Entry], excess: Int) -> [String] {
    let (cuts, isEnough) = MemoryRebalancing.plan(entries, excess: excess)
    let words = cuts.map { "\($0.loop).\($0.cut.session.rawValue) to \($0.cut.bytes)" }
    return isEnough ? words : words + ["more"]
  }

  @Test func theFullestOfAllLoopsGiveFirst() {
    let entries = [
      entry(0, 1, 100), entry(1, 2, 400), entry(0, 3, 300), entry(2, 4, 50), entry(2, 5, 0),
    ]
    #expect(plan(entries, excess: 0) == [])
    #expect(plan(entries, excess: 10) == ["1.2 to 390"])
    #expect(plan(entries, excess: 250) == ["1.2 to 150"])
    #expect(plan(entries, excess: 251) == ["1.2 to 150", "0.3 to 299"])
    #expect(plan(entries, excess: 500) == ["1.2 to 150", "0.3 to 50"])
    #expect(plan(entries, excess: 620) == ["1.2 to 150", "0.3 to 50", "0.1 to 25", "2.4 to 5"])
    #expect(plan(entries, excess: 625) == ["1.2 to 150", "0.3 to 50", "0.1 to 25", "2.4 to 0"])
    #expect(plan(entries, excess: 626) == ["1.2 to 150", "0.3 to 50", "0.1 to 25", "2.4 to 0", "more"])
    #expect(plan([], excess: 1) == ["more"])
  }

  private func cuts(in mailbox: Mailbox) -> [MemoryRebalancing.Cut] {
    var found: [MemoryRebalancing.Cut] = []
    for case .cut(let cuts) in mailbox.takeAll(woken: false) { found += cuts }
    return found
  }

  /// One round at a time; its cuts come with the last loop's word, to the loops that have something to cut.
  @Test func aRoundNeedsTheWordOfEachLoop() throws {
    let rebalancing = MemoryRebalancing()
    let mailboxes = try (0..<3).map { _ in try Mailbox() }
    let now = MonotonicTime(nanoseconds: 1_000_000_000)
    let limit = 1000
    let round = try #require(rebalancing.begin(mailboxes, limit: limit, now: now))
    #expect(rebalancing.begin(mailboxes, limit: limit, now: now) == nil)
    round.add([entry(0, 7, 600)], sum: 1100)
    round.add([entry(1, 8, 500)], sum: 1100)
    #expect(mailboxes.allSatisfy { cuts(in: $0).isEmpty })
    // A loop that has ended has none.
    LoopMessage.level(round).goUnheard()
    #expect(mailboxes.allSatisfy { cuts(in: $0).isEmpty }, "nobody knew the sum")
    let next = try #require(rebalancing.begin(mailboxes, limit: limit, now: now))
    next.add([entry(1, 8, 500)], sum: 1100)
    next.add([], sum: 1100)
    next.add([entry(0, 7, 600)], sum: 1100)
    // Down to two hundredths below the limit.
    #expect(cuts(in: mailboxes[0]) == [MemoryRebalancing.Cut(session: Self.token(7), bytes: 480)])
    #expect(cuts(in: mailboxes[1]).isEmpty && cuts(in: mailboxes[2]).isEmpty)
  }

  /// Where there is too little to be had, nobody looks again at once.
  @Test func aRoundThatFindsTooLittleIsNotRepeatedAtOnce() throws {
    let rebalancing = MemoryRebalancing()
    let mailboxes = [try Mailbox()]
    let now = MonotonicTime(nanoseconds: 1_000_000_000)
    let round = try #require(rebalancing.begin(mailboxes, limit: 1000, now: now))
    round.add([entry(0, 7, 50)], sum: 1100)
    #expect(rebalancing.isPaused(at: now + .milliseconds(99)))
    #expect(rebalancing.begin(mailboxes, limit: 1000, now: now + .milliseconds(99)) == nil)
    #expect(!rebalancing.isPaused(at: now + .milliseconds(100)))
    #expect(rebalancing.begin(mailboxes, limit: 1000, now: now + .milliseconds(100)) != nil)
  }
}

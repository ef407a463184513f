import Addresses
import Kit
import System
import Testing
import Time

@testable import Admission

/// docs/settings.md, "More about some limits": token buckets in a table of fixed size.
@Suite struct RateTableTests {
  private let table = RateTable()
  private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)
  /// Five at once, and ten a second.
  private let allowance = RateTable.Allowance(count: 10, per: .seconds(1), burst: 5)

  @Test func aBurstThenOneEveryInterval() {
    for _ in 0..<5 { #expect(table.take(address(1), allowance, now: start) == nil) }
    #expect(table.take(address(1), allowance, now: start) == .milliseconds(100))
    // Asking costs nothing.
    #expect(table.take(address(1), allowance, now: start + .milliseconds(40)) == .milliseconds(60))
    #expect(table.take(address(1), allowance, now: start + .milliseconds(99)) == .milliseconds(1))
    #expect(table.take(address(1), allowance, now: start + .milliseconds(100)) == nil)
    #expect(table.take(address(1), allowance, now: start + .milliseconds(100)) == .milliseconds(100))
  }

  @Test func waitingAsToldIsEnough() {
    var now = start
    for _ in 0..<5 { _ = table.take(address(1), allowance, now: now) }
    for _ in 0..<50 {
      guard let wait = table.take(address(1), allowance, now: now) else {
        Issue.record("a token too many")
        return
      }
      now = now + wait
      #expect(table.take(address(1), allowance, now: now) == nil)
    }
  }

  @Test func aPauseRefillsToTheBurstAndNoFurther() {
    for _ in 0..<5 { _ = table.take(address(1), allowance, now: start) }
    let later = start + .milliseconds(300)
    for _ in 0..<3 { #expect(table.take(address(1), allowance, now: later) == nil) }
    #expect(table.take(address(1), allowance, now: later) != nil)
    let muchLater = start + .seconds(3600)
    for _ in 0..<5 { #expect(table.take(address(1), allowance, now: muchLater) == nil) }
    #expect(table.take(address(1), allowance, now: muchLater) != nil)
  }

  @Test func overALongTimeTheRateHolds() {
    var taken = 0
    for step in 0..<10_000 where table.take(address(1), allowance, now: start + .milliseconds(step)) == nil {
      taken += 1
    }
    // Ten seconds at ten a second, and the burst at the start.
    #expect((104...105).contains(taken))
  }

  @Test func addressesAreApart() {
    for _ in 0..<5 { _ = table.take(address(1), allowance, now: start) }
    #expect(table.take(address(1), allowance, now: start) != nil)
    #expect(table.take(address(2), allowance, now: start) == nil)
    #expect(table.take(IPAddress(v6: 0, 1), allowance, now: start) == nil)
  }

  @Test func aBurstOfOne() {
    let single = RateTable.Allowance(count: 1, per: .seconds(60), burst: 1)
    #expect(table.take(address(1), single, now: start) == nil)
    #expect(table.take(address(1), single, now: start) == .seconds(60))
    #expect(table.take(address(1), single, now: start + .seconds(60)) == nil)
  }

  /// More addresses than there are places: nobody who asks for the first time is refused, and whoever has used
  /// everything up does not gain by the others' coming.
  @Test func aFloodOfAddresses() {
    for _ in 0..<5 { _ = table.take(address(1), allowance, now: start) }
    var refused = 0
    for number in 10..<200_010 where table.take(address(number), allowance, now: start) != nil {
      refused += 1
    }
    #expect(refused == 0)
    #expect(table.take(address(1), allowance, now: start) != nil)
    #expect(table.take(address(5), allowance, now: start) == nil)
    #expect(table.take(address(1), allowance, now: start + .milliseconds(100)) == nil)
  }

  @Test func threadsTakeNoTokenTwice() throws {
    let table = table
    let allowance = RateTable.Allowance(count: 1, per: .seconds(60), burst: 1000)
    let now = start
    let taken = Monitor(0)
    var threads: [JoinHandle] = []
    for _ in 0..<4 {
      threads.append(
        JoinHandle(
          try System.Thread(name: "take") {
            for _ in 0..<1000 where table.take(address(1), allowance, now: now) == nil {
              taken.withLock { count, _ in count += 1 }
            }
          }))
    }
    for thread in threads { thread.join() }
    #expect(taken.withLock { count, _ in count } == 1000)
  }
}

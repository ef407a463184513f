import Configuration
import Time
import Testing

@testable import Conversation

@Suite struct InputAllowanceTests {
  private func at(_ nanoseconds: UInt64) -> MonotonicTime {
    MonotonicTime(nanoseconds: 1_000_000_000 + nanoseconds)
  }

  /// How many of ten are taken at once.
  private func taken(by allowance: inout InputAllowance, at time: MonotonicTime) -> Int {
    var count = 0
    for _ in 0..<10 where allowance.take(now: time) { count += 1 }
    return count
  }

  @Test func aBurstThenOneAfterTheOther() {
    var allowance = InputAllowance(Rate(count: 20, per: .seconds(1), burst: 3))
    #expect(taken(by: &allowance, at: at(0)) == 3)
    #expect(allowance.next(now: at(0)) == at(50_000_000))
    #expect(taken(by: &allowance, at: at(49_999_999)) == 0)
    #expect(taken(by: &allowance, at: at(50_000_000)) == 1)
    // Silence fills it again, up to the burst.
    #expect(taken(by: &allowance, at: at(9_000_000_000)) == 3)
  }

  @Test(arguments: [(1, 1), (3, 1), (7, 4), (1_000_000, 10_000_000)])
  func asManyAsTheRate(count: Int, burst: Int) {
    var allowance = InputAllowance(Rate(count: count, per: .seconds(1), burst: burst))
    let interval = 1_000_000_000 / UInt64(count)
    var taken = 0
    for half in 0..<1000 where allowance.take(now: at(UInt64(half) * interval / 2)) { taken += 1 }
    #expect(taken == min(1000, 500 + burst - 1))
  }

  /// One allowance for each begun 4 KiB, of which one has to be there.
  @Test(arguments: [(0, 1), (1, 1), (4096, 1), (4097, 2), (8192, 2), (65_536, 16)])
  func aLargeMessageCostsSeveral(bytes: Int, cost: UInt64) {
    var allowance = InputAllowance(Rate(count: 20, per: .seconds(1), burst: 1))
    let isTaken = allowance.take(bytes: bytes, now: at(0))
    #expect(isTaken)
    #expect(allowance.next(now: at(0)) == at(cost * 50_000_000))
  }

  @Test func soManyTimesAsOften() {
    var allowance = InputAllowance(Rate(count: 2, per: .seconds(1), burst: 1), times: 3)
    #expect(taken(by: &allowance, at: at(0)) == 3)
    #expect(allowance.next(now: at(0)).nanoseconds == at(166_666_665).nanoseconds)
  }

  /// Nothing comes round from the end of time to its beginning.
  @Test func theEndOfTime() {
    var allowance = InputAllowance(Rate(count: 1, per: .seconds(3600), burst: 1))
    let last = MonotonicTime(nanoseconds: .max - 1)
    #expect(taken(by: &allowance, at: last) == 1)
    #expect(allowance.next(now: last) == .never)
  }
}

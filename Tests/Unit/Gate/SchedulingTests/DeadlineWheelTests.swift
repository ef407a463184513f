import Kit
import Time
import Testing

@testable import Scheduling

@Suite struct DeadlineWheelTests {
  private static let tick = Duration.nanoseconds(Int64(DeadlineWheel.tick))
  private static func time(_ milliseconds: UInt64) -> MonotonicTime {
    MonotonicTime(nanoseconds: milliseconds * 1_000_000)
  }
  private static func tokens(_ entries: [DeadlineWheel.Entry]) -> [UInt64] { entries.map(\.token) }

  @Test func neverEarlyAndAtMostATickLate() {
    for offset in 0..<60 as Range<UInt64> {
      let wheel = DeadlineWheel(now: Self.time(1000))
      let deadline = Self.time(1100 + offset)
      _ = wheel.insert(7, at: deadline)
      for now in 1000..<1300 as Range<UInt64> {
        let due = Self.tokens(wheel.expire(now: Self.time(now)))
        if due.isEmpty {
          #expect(Self.time(now) < deadline + Self.tick, "not handed out for \(deadline)")
        } else {
          #expect(due == [7])
          #expect(Self.time(now) >= deadline, "early")
          break
        }
      }
      #expect(wheel.next == nil)
    }
  }

  @Test func whatIsDueAlreadyComesWithTheNextTick() {
    let wheel = DeadlineWheel(now: Self.time(1000))
    _ = wheel.insert(1, at: Self.time(1000))
    _ = wheel.insert(2, at: Self.time(0))
    #expect(Self.tokens(wheel.expire(now: Self.time(1049))) == [])
    #expect(Self.tokens(wheel.expire(now: Self.time(1050))).sorted() == [1, 2])
  }

  @Test func aFarDeadlineComesUpAtTheEndOfTheRing() throws {
    let wheel = DeadlineWheel(now: Self.time(0))
    let tick = wheel.insert(1, at: Self.time(3_600_000))
    #expect(tick == 1023)
    #expect(wheel.next == Self.time(51_150))
    #expect(Self.tokens(wheel.expire(now: Self.time(51_149))) == [])
    let entry = try #require(wheel.expire(now: Self.time(51_150)).first)
    #expect(entry.tick == tick)
  }

  /// Never must not come round to now.
  @Test(arguments: [0, 1, DeadlineWheel.tick - 1, DeadlineWheel.tick, DeadlineWheel.tick + 1] as [UInt64])
  func theEndOfTimeIsFar(before: UInt64) {
    let wheel = DeadlineWheel(now: Self.time(0))
    #expect(wheel.insert(1, at: MonotonicTime(nanoseconds: .max - before)) == 1023)
  }

  @Test func aTickIsTheFirstAtWhichTheDeadlineHasPassed() {
    let tick = DeadlineWheel.tick
    #expect(DeadlineWheel.tick(of: MonotonicTime(nanoseconds: 0)) == 0)
    #expect(DeadlineWheel.tick(of: MonotonicTime(nanoseconds: 1)) == 1)
    #expect(DeadlineWheel.tick(of: MonotonicTime(nanoseconds: tick)) == 1)
    #expect(DeadlineWheel.tick(of: MonotonicTime(nanoseconds: tick + 1)) == 2)
    #expect(DeadlineWheel.tick(of: MonotonicTime(nanoseconds: .max)) == .max / tick + 1)
  }

  @Test func aJumpOfDaysHandsOutEverythingOnce() {
    let wheel = DeadlineWheel(now: Self.time(0))
    for token in 0..<500 as Range<UInt64> { _ = wheel.insert(token, at: Self.time(token * 100)) }
    #expect(Self.tokens(wheel.expire(now: Self.time(1_000_000_000))).sorted() == Array(0..<500))
    #expect(wheel.expire(now: Self.time(2_000_000_000)).isEmpty)
    #expect(wheel.next == nil)
  }

  @Test func aClockThatStandsStillOrGoesBackHandsOutNothing() {
    let wheel = DeadlineWheel(now: Self.time(1000))
    _ = wheel.insert(1, at: Self.time(1010))
    #expect(wheel.expire(now: Self.time(1000)).isEmpty)
    #expect(wheel.expire(now: Self.time(500)).isEmpty)
    #expect(Self.tokens(wheel.expire(now: Self.time(1050))) == [1])
  }

  /// Driven as connections drive it: what comes up too early is put in again.
  @Test(arguments: 0..<20 as Range<UInt64>) func agreesWithAList(seed: UInt64) {
    var random = SplitMix(seed: seed)
    var now = MonotonicTime(nanoseconds: random.next() % 10_000_000_000)
    let wheel = DeadlineWheel(now: now)
    var model: [UInt64: MonotonicTime] = [:]
    var nextToken: UInt64 = 0
    for step in 0..<800 {
      for _ in 0..<random.next(below: 4) {
        // Mostly near, some beyond the ring, some overdue.
        let far = [10, 100, 5000, 40_000, 120_000][random.next(below: 5)]
        let deadline = now + .microseconds(random.next(below: far * 1000))
        _ = wheel.insert(nextToken, at: deadline)
        model[nextToken] = deadline
        nextToken += 1
      }
      check(wheel, model, now)
      let jump = random.next(below: 40) == 0 ? 90_000_000 : random.next(below: 120_000)
      now = now + .microseconds(jump)
      for entry in wheel.expire(now: now) {
        guard let deadline = model[entry.token] else {
          Issue.record("step \(step): \(entry.token) came twice")
          continue
        }
        if deadline > now {
          _ = wheel.insert(entry.token, at: deadline)
        } else {
          model[entry.token] = nil
        }
      }
      let late = model.values.filter { $0 + Self.tick <= now }
      #expect(late.isEmpty, "step \(step)")
    }
    #expect(nextToken > 500)
  }

  /// Whoever sleeps until then is there within a tick of the first deadline.
  private func check(_ wheel: DeadlineWheel, _ model: [UInt64: MonotonicTime], _ now: MonotonicTime) {
    let next = wheel.next
    #expect((next == nil) == model.isEmpty)
    guard let next, let first = model.values.min() else { return }
    #expect(max(next, now) <= max(first, now) + Self.tick)
  }
}

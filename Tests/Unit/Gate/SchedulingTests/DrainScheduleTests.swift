import Time
import Testing

@testable import Scheduling

/// docs/running.md, "Stopping": 1001 goes to all sessions, spread over a while.
@Suite struct DrainScheduleTests {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)

  private static func tokens(_ count: Int) -> [Token] {
    (0..<count).map { Token(.session, slot: $0, generation: 1) }
  }

  @Test(arguments: [1, 2, 7, 1000]) func everyoneIsToldOnceInOrderWithinTheSpread(count: Int) {
    var schedule = DrainSchedule()
    let tokens = Self.tokens(count)
    schedule.begin(sessions: tokens, spread: .seconds(2), now: start)
    var told: [Token] = []
    for milliseconds in stride(from: 0, through: 2000, by: 10) {
      told += schedule.due(now: start + .milliseconds(milliseconds))
      // Evenly: never more than one off the straight line.
      let line = Double(count) * Double(milliseconds) / 2000
      #expect(abs(Double(told.count) - line) <= 1, "\(told.count) at \(milliseconds) ms")
    }
    #expect(told == tokens)
    #expect(schedule.due(now: start + .seconds(9)).isEmpty)
    #expect(schedule.next == nil)
  }

  @Test func saysWhenTheNextIsDue() {
    var schedule = DrainSchedule()
    #expect(schedule.next == nil)
    schedule.begin(sessions: Self.tokens(4), spread: .seconds(2), now: start)
    #expect(schedule.next == start)
    #expect(schedule.due(now: start).count == 1)
    #expect(schedule.next == start + .milliseconds(500))
    #expect(schedule.due(now: start + .milliseconds(499)).isEmpty)
    #expect(schedule.due(now: start + .milliseconds(500)).count == 1)
    #expect(schedule.due(now: start + .seconds(10)).count == 2)
  }

  @Test func noSpreadIsAtOnce() {
    var schedule = DrainSchedule()
    schedule.begin(sessions: Self.tokens(100), spread: .zero, now: start)
    #expect(schedule.due(now: start).count == 100)
  }

  @Test func nobodyToTell() {
    var schedule = DrainSchedule()
    schedule.begin(sessions: [], spread: .seconds(2), now: start)
    #expect(schedule.due(now: start + .seconds(3)).isEmpty)
    #expect(schedule.next == nil)
  }
}

/// Signs of life: at half the interval, after an answer, and never without one.
import Testing
import Time

@testable import System

@Suite struct WatchdogScheduleTests {
  private let start = MonotonicTime(nanoseconds: 7_000_000_000)

  @Test func asksTellsAndWaits() {
    var schedule = WatchdogSchedule(interval: .seconds(30), now: start)
    for round in 0..<5 {
      let now = start + .seconds(15 * round)
      #expect(schedule.next(now: now, isAnswered: round > 0) == .ask)
      #expect(schedule.next(now: now, isAnswered: false) == .wait(.milliseconds(20)))
      #expect(schedule.next(now: now + .milliseconds(20), isAnswered: true) == .tell)
      // An old answer counts for one sign alone.
      #expect(schedule.next(now: now + .milliseconds(20), isAnswered: true) == .wait(.milliseconds(14_980)))
      #expect(schedule.next(now: now + .milliseconds(14_999), isAnswered: true) == .wait(.milliseconds(1)))
    }
  }

  @Test func tellsNothingWithoutAnAnswer() {
    var schedule = WatchdogSchedule(interval: .seconds(2), now: start)
    #expect(schedule.next(now: start, isAnswered: false) == .ask)
    var complaints = 0
    for step in 1..<1000 {
      let now = start + .milliseconds(20 * step)
      switch schedule.next(now: now, isAnswered: false) {
      case .wait(let time): #expect(time == .milliseconds(20))
      case .complain:
        complaints += 1
        #expect(now - start == .seconds(1))
      case .ask, .tell: Issue.record("a sign of life, or a second question")
      }
    }
    #expect(complaints == 1)
  }

  @Test func aLateAnswerIsToldAtOnceAndTheNextQuestionFollows() {
    var schedule = WatchdogSchedule(interval: .seconds(2), now: start)
    #expect(schedule.next(now: start, isAnswered: false) == .ask)
    #expect(schedule.next(now: start + .milliseconds(1500), isAnswered: false) == .complain)
    #expect(schedule.next(now: start + .milliseconds(1600), isAnswered: true) == .tell)
    #expect(schedule.next(now: start + .milliseconds(1600), isAnswered: true) == .ask)
    #expect(schedule.next(now: start + .milliseconds(1600), isAnswered: false) == .wait(.milliseconds(20)))
  }

  @Test(arguments: [Duration.microseconds(1), .microseconds(1999), .microseconds(2000)])
  func neverFasterThanAMillisecond(interval: Duration) {
    #expect(WatchdogSchedule(interval: interval, now: start).period == .milliseconds(1))
  }
}

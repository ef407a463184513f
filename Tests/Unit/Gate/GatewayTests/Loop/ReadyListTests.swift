import Kit
import System
import Testing

@testable import Gateway
@testable import Scheduling

@Suite struct ReadyListTests {
  @Test func eachIsTakenOnceAndInOrder() {
    let list = ReadyList<Int>()
    #expect(list.isEmpty)
    for number in 0..<5 { list.append(number) }
    #expect(!list.isEmpty)
    var taken: [Int] = []
    list.takeEach { taken.append($0) }
    list.takeEach { taken.append($0) }
    #expect(taken == [0, 1, 2, 3, 4])
    #expect(list.isEmpty)
  }

  /// Else one that always has more to do would keep the loop in its turn.
  @Test func whoIsAppendedMeanwhileHasTheNextTurn() {
    let list = ReadyList<Int>()
    list.append(0)
    var taken: [Int] = []
    list.takeEach { number in
      taken.append(number)
      list.append(number + 1)
    }
    #expect(taken == [0])
    #expect(!list.isEmpty)
    list.takeEach { taken.append($0) }
    #expect(taken == [0, 1])
    #expect(list.isEmpty)
  }

  @Test func whatTheTimeDoesNotReachIsFirstNextTime() {
    let list = ReadyList<String>()
    for name in ["a", "b", "c", "d"] { list.append(name) }
    var taken: [String] = []
    list.takeEach(while: { taken.count < 2 }) { name in
      taken.append(name)
      list.append("\(name) again")
    }
    #expect(taken == ["a", "b"])
    list.takeEach { taken.append($0) }
    #expect(taken == ["a", "b", "c", "d", "a again", "b again"])
  }

  @Test func atLeastOneIsServedHoweverLate() {
    let list = ReadyList<Int>()
    for number in 0..<3 { list.append(number) }
    var taken: [Int] = []
    for _ in 0..<3 { list.takeEach(while: { false }) { taken.append($0) } }
    #expect(taken == [0, 1, 2])
    #expect(list.isEmpty)
  }

  @Test func holdsNobodyAfterTheEnd() {
    final class Guest {}
    let list = ReadyList<Guest>()
    weak var guest: Guest?
    do {
      let arrived = Guest()
      guest = arrived
      list.append(arrived)
    }
    #expect(guest != nil)
    list.forget()
    #expect(guest == nil)
    #expect(list.isEmpty)
  }
}

@Suite struct DateCacheTests {
  /// RFC 9110 §6.6.1: one second's precision.
  @Test func isMadeAnewAfterHalfASecond() {
    let clock = ManualClock()
    var cache = DateCache()
    #expect(cache.text(at: clock.monotonic(), clock: clock) == "Tue, 17 Feb 2026 00:00:00 GMT")
    clock.advance(.milliseconds(499))
    #expect(cache.text(at: clock.monotonic(), clock: clock) == "Tue, 17 Feb 2026 00:00:00 GMT")
    clock.advance(.milliseconds(501))
    #expect(cache.text(at: clock.monotonic(), clock: clock) == "Tue, 17 Feb 2026 00:00:01 GMT")
    // So soon the clock is not asked again.
    clock.advance(.milliseconds(200))
    let soon = clock.monotonic()
    clock.advance(.seconds(3600))
    #expect(cache.text(at: soon, clock: clock) == "Tue, 17 Feb 2026 00:00:01 GMT")
    #expect(cache.text(at: clock.monotonic(), clock: clock) == "Tue, 17 Feb 2026 01:00:01 GMT")
  }
}

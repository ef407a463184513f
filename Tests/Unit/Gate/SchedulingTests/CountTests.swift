import Testing

@testable import Scheduling

@Suite struct CountTests {
  @Test func entersUpToTheLimit() {
    let count = Count()
    #expect((0..<4).map { _ in count.enter(limit: 3) } == [true, true, true, false])
    #expect(count.value == 3)
    count.leave()
    #expect(count.enter(limit: 3))
    #expect(!count.enter(limit: 0))
    #expect(count.value == 3)
  }
}

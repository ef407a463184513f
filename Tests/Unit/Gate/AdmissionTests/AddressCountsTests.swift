import Kit
import Testing

@testable import Admission

@Suite struct AddressCountsTests {
  @Test func comesAndGoes() {
    let counts = AddressCounts()
    #expect(counts.enter(address(1)) == 1)
    #expect(counts.enter(address(1)) == 2)
    #expect(counts.enter(address(2)) == 1)
    counts.leave(address(1))
    #expect(counts.enter(address(1)) == 2)
    counts.leave(address(2))
    counts.leave(address(2))
    #expect(counts.enter(address(2)) == 1)
  }
}

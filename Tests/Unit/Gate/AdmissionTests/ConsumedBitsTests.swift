import Testing

@testable import Admission

@Suite struct ConsumedBitsTests {
  @Test func indexesCountUpWithinASecond() {
    var bits = ConsumedBits()
    #expect((0..<5).map { _ in bits.nextIndex(second: 7) } == [0, 1, 2, 3, 4])
    #expect(bits.nextIndex(second: 8) == 0)
    #expect(bits.nextIndex(second: 7) == 5)
  }

  @Test func onlyWhatWasIssuedIsConsumed() {
    var bits = ConsumedBits()
    #expect(bits.consume(second: 7, index: 0) == false)
    _ = bits.nextIndex(second: 7)
    #expect(bits.consume(second: 7, index: 1) == false)
    #expect(bits.consume(second: 7 + 128, index: 0) == false)
    #expect(bits.consume(second: 7, index: 0) == true)
    #expect(bits.consume(second: 7, index: 0) == false)
  }

  @Test func whatIsRestoredIsConsumedOnceMore() {
    var bits = ConsumedBits()
    for _ in 0..<70 { _ = bits.nextIndex(second: 7) }
    for index in [0, 69] as [UInt32] {
      #expect(bits.consume(second: 7, index: index) == true)
      bits.restore(second: 7, index: index)
      #expect(bits.consume(second: 7, index: index) == true)
      #expect(bits.consume(second: 7, index: index) == false)
    }
    // Of another second, or one that nobody has consumed, nothing changes.
    bits.restore(second: 7 + 128, index: 0)
    bits.restore(second: 7, index: 1000)
    #expect(bits.consume(second: 7, index: 0) == false)
    #expect(bits.consume(second: 7, index: 1) == true)
  }

  @Test func aSlotIsTakenOverWhenNoneOfItsOwnCountsAnyMore() {
    var bits = ConsumedBits()
    _ = bits.nextIndex(second: 7)
    #expect(bits.consume(second: 7, index: 0) == true)
    for second in 8..<135 as Range<UInt64> { _ = bits.nextIndex(second: second) }
    #expect(bits.consume(second: 7, index: 0) == false)
    #expect(bits.nextIndex(second: 135) == 0)
    #expect(bits.consume(second: 135, index: 0) == true)
    #expect(bits.consume(second: 7, index: 0) == false)
  }

  @Test func allPurposesAreOverBefore() {
    let longest = ChallengePurpose.allCases.map(\.lifetime).max() ?? .zero
    #expect(max(longest, ChallengeIssuer.lifetime) < .seconds(ConsumedBits.slots - 1))
  }

  @Test func theSecondsLimit() {
    var bits = ConsumedBits()
    for index in 0..<65_536 as Range<UInt32> { #expect(bits.nextIndex(second: 1) == index) }
    #expect(bits.nextIndex(second: 1) == nil)
    #expect(bits.nextIndex(second: 1) == nil)
    #expect(bits.nextIndex(second: 2) == 0)
  }

  /// The worst that can be consumed: the highest index in each of far more seconds than there are slots.
  @Test func memoryIsBounded() {
    var bits = ConsumedBits()
    for second in 0..<258 as Range<UInt64> {
      while bits.nextIndex(second: second) != nil {}
      #expect(bits.consume(second: second, index: 65_535) == true)
      #expect(bits.consume(second: second, index: 0) == true)
    }
    let words = Self.words(bits)
    #expect(words.count == ConsumedBits.slots)
    #expect(words.allSatisfy { $0 == 1024 })
  }

  /// How many 64-bit words each second's bits take.
  private static func words(_ bits: ConsumedBits) -> [Int] {
    let seconds = Mirror(reflecting: bits).children.first { $0.label == "seconds" }?.value
    guard let seconds else { return [] }
    return Mirror(reflecting: seconds).children.map { second in
      let consumed = Mirror(reflecting: second.value).children.first { $0.label == "consumed" }?.value
      return (consumed as? [UInt64])?.count ?? -1
    }
  }
}

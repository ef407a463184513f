import Testing

@testable import Metrics

@Suite struct HistogramBoundsTests {
  @Test func rises() {
    #expect(HistogramBounds.seconds.first == 0.001)
    #expect(HistogramBounds.seconds.last == 10)
    #expect(zip(HistogramBounds.seconds, HistogramBounds.seconds.dropFirst()).allSatisfy { $0 < $1 })
  }
}

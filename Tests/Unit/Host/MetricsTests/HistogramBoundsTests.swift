import Testing

@testable import Metrics

@Suite struct HistogramBoundsTests {
  @Test func areThoseOfTheDocuments() {
    #expect(
      HistogramBounds.seconds == [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
  }

  @Test func rises() {
    #expect(zip(HistogramBounds.seconds, HistogramBounds.seconds.dropFirst()).allSatisfy { $0 < $1 })
  }
}

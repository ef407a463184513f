/// How long evidence rests.
import Time
import Testing

@testable import Registry

@Suite struct EvidencePaceTests {
  private func rest(_ spent: Duration, hasWritten: Bool, interval: Duration = .milliseconds(20)) -> Duration {
    let began = MonotonicTime(nanoseconds: 7_000_000_000)
    var pace = EvidencePace(interval: interval)
    pace.rest(behind: began, spent: spent, hasWritten: hasWritten)
    return pace.from - began
  }

  @Test func theFirstIsServedAtOnce() {
    #expect(EvidencePace().from == MonotonicTime(nanoseconds: 0))
  }

  @Test func itTakesAQuarter() {
    #expect(rest(.milliseconds(8), hasWritten: true) == .milliseconds(32))
    #expect(rest(.milliseconds(8), hasWritten: false) == .milliseconds(32))
    #expect(rest(.microseconds(100), hasWritten: false) == .microseconds(400))
  }

  @Test func aSyncEach20Milliseconds() {
    #expect(rest(.zero, hasWritten: true) == .milliseconds(20))
    #expect(rest(.milliseconds(1), hasWritten: true) == .milliseconds(20))
    #expect(rest(.zero, hasWritten: false) == .zero)
  }

  /// A turn in which the registry tidied up keeps no phone waiting for long.
  @Test func neverForLong() {
    #expect(rest(.seconds(9), hasWritten: true) == .milliseconds(500))
    #expect(rest(.seconds(Int64.max / 1_000), hasWritten: false) == .milliseconds(500))
  }
}

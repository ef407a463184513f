import Testing

@testable import Admin

@Suite struct ReadinessTests {
  @Test(arguments: [
    ([Readiness.State.ok], Readiness.State.ok), ([.ok, .degraded], .degraded),
    ([.degraded, .failed, .ok], .failed), ([], .ok),
  ])
  func worst(states: [Readiness.State], expected: Readiness.State) {
    #expect(Readiness(checks: states.map { Readiness.Check("any", $0) }).state == expected)
  }
}

import Bench
import Dialing
import Identity
import JSON
import Time
import Testing

/// When turns are due, and what the report makes of the findings.
struct PaceTests {
  private let start = MonotonicTime(nanoseconds: 1_000_000_000)

  private func milliseconds(_ time: MonotonicTime) -> Int64 { (time - start).wholeMilliseconds }

  @Test func turnsAreEvenWhateverTheTime() {
    let pace = Pace(rate: 10, from: start)
    // The third caller is late: its turn was due when it was.
    let due = [0, 0, 950].map { milliseconds(pace.turn(now: start + .milliseconds($0))) }
    #expect(due == [0, 100, 200])
  }

  @Test func withoutARateItIsNow() {
    let pace = Pace(rate: 0, from: start)
    #expect([5, 7].map { milliseconds(pace.turn(now: start + .milliseconds($0))) } == [5, 7])
    pace.hold(until: start + .milliseconds(20))
    #expect([9, 30].map { milliseconds(pace.turn(now: start + .milliseconds($0))) } == [20, 30])
  }

  /// What could not go meanwhile does not come all at once afterwards; the later of two holds counts.
  @Test func aHoldMovesAllTurns() {
    let pace = Pace(rate: 10, from: start)
    pace.hold(until: start + .seconds(2))
    pace.hold(until: start + .seconds(1))
    #expect((0..<3).map { _ in milliseconds(pace.turn(now: start)) } == [2000, 2100, 2200])
  }
}

struct BenchReportTests {
  private static let plan = BenchPlan(
    url: .init(host: "localhost", port: 8443), trust: .system, appID: "T.b", environment: .development,
    devices: 2,
    sessions: 1, concurrency: 8, rate: 40, messageRate: 0, seconds: 1, messageBytes: 64, timeoutSeconds: 1)

  private static func result(echoes: Int = 1) -> BenchResult {
    var result = BenchResult()
    result.registration.latency.record(.milliseconds(2))
    result.registration.elapsed = .seconds(1)
    result.admission.latency.record(.microseconds(1500))
    result.admission.elapsed = .milliseconds(500)
    for _ in 0..<echoes { result.echo.latency.record(.microseconds(100)) }
    return result
  }

  @Test func noMoreThreadsThanDevices() {
    #expect(Self.plan.workers == 2)
  }

  @Test func passesOnlyWithoutFailureAndWithFindings() {
    #expect(!BenchReport(Self.plan, Self.result()).hasFailed)
    #expect(BenchReport(Self.plan, Self.result(echoes: 0)).hasFailed)
    #expect(BenchReport(Self.plan, BenchResult()).hasFailed)
    var failed = Self.result()
    failed.fail("nonce_invalid", "first")
    #expect(BenchReport(Self.plan, failed).hasFailed)
    var throttled = Self.result()
    throttled.throttled["rate_limited"] = 3
    #expect(!BenchReport(Self.plan, throttled).hasFailed)
  }

  @Test func failuresAreCountedByCodeWithTheFirstWording() {
    var left = BenchResult()
    left.fail("a", "first")
    left.fail("a", "second")
    var right = BenchResult()
    right.fail("a", "third")
    right.fail("b", "fourth")
    left.add(right)
    #expect(left.failures.mapValues(\.count) == ["a": 3, "b": 1])
    #expect(left.failures["a"]?.example == "first")
    #expect(left.failureCount == 4)
  }

  @Test func theObjectHasCountsRatesAndPercentiles() throws {
    let bytes = BenchReport(Self.plan, Self.result()).json.bytes
    let parsed = try JSONValue(parsing: bytes.span, depthLimit: 8)
    let object = try #require(parsed.object)
    let admissions = try #require(object["admissions"]?.object)
    #expect(admissions["count"]?.integer == 1)
    #expect(String(decoding: bytes, as: UTF8.self).contains("\"perSecond\":2.0"))
    #expect(admissions["admission"]?.object?["p99Microseconds"]?.integer == 1500)
    #expect(object["echo"]?.object?["roundTrip"]?.object?["maxMicroseconds"]?.integer == 100)
  }
}

/// A load test's findings in words and as one JSON object.
package import JSON
internal import System
internal import Time

package struct BenchReport: Sendable {
  private let plan: BenchPlan
  private let result: BenchResult

  package init(_ plan: BenchPlan, _ result: BenchResult) {
    self.plan = plan
    self.result = result
  }

  /// What must hold for the test to count as passed.
  package var hasFailed: Bool {
    result.failureCount > 0 || result.admission.latency.count == 0
      || plan.sessions > 0 && result.echo.latency.count == 0
  }

  // MARK: Words

  package var lines: [String] {
    var lines = [
      heading("registrations", result.registration, "\(plan.devices) devices"),
      row("register", result.registration.latency),
      heading("admissions", result.admission, rateText(plan.rate)),
      row("challenge", result.challenge), row("upgrade", result.upgrade),
      row("admission", result.admission.latency),
    ]
    if plan.sessions > 0 {
      let what = "\(result.sessionsOpened) of \(plan.sessions) sessions, \(plan.messageBytes) bytes, "
      lines += [
        heading("echo", result.echo, what + rateText(plan.messageRate)),
        row("round trip", result.echo.latency),
      ]
    }
    for (code, count) in sorted(result.throttled) {
      lines.append("waited         \(count) times: the gate said \(code) and when to come again")
    }
    if result.failures.isEmpty { lines.append("failures       none") }
    for (code, failure) in sorted(result.failures) {
      lines.append("failures       \(failure.count) \(code): \(failure.example)")
    }
    return lines
  }

  private func heading(_ name: String, _ part: BenchResult.Part, _ detail: String) -> String {
    "\(padded(name, to: 13))  \(part.latency.count) in \(Self.seconds(part.elapsed)) s, "
      + "\(Self.decimal(part.perSecond, places: 1)) a second (\(detail))"
  }

  private func row(_ name: String, _ latency: LatencyHistogram) -> String {
    guard let maximum = latency.percentile(100) else { return "  \(padded(name, to: 11))  none" }
    let columns = Self.percents.map { name, percent in
      "\(name) \(Self.milliseconds(latency.percentile(percent) ?? .zero))"
    }
    return
      "  \(padded(name, to: 11))  \(columns.joined(separator: "  "))  max \(Self.milliseconds(maximum)) ms"
  }

  private func rateText(_ rate: Int) -> String {
    rate > 0 ? "at most \(rate) a second" : "as fast as answers come"
  }

  private static let percents: [(String, Double)] = [("p50", 50), ("p90", 90), ("p99", 99)]

  // MARK: JSON

  package var json: JSONWriter {
    var writer = JSONWriter()
    writer.beginObject()
    write(result.registration, "registrations", &writer) { writer in
      writer.name("devices")
      writer.value(plan.devices)
      write(result.registration.latency, "register", &writer)
    }
    write(result.admission, "admissions", &writer) { writer in
      writer.name("rate")
      writer.value(plan.rate)
      write(result.challenge, "challenge", &writer)
      write(result.upgrade, "upgrade", &writer)
      write(result.admission.latency, "admission", &writer)
    }
    if plan.sessions > 0 {
      write(result.echo, "echo", &writer) { writer in
        writer.name("sessions")
        writer.value(result.sessionsOpened)
        writer.name("messageBytes")
        writer.value(plan.messageBytes)
        writer.name("rate")
        writer.value(plan.messageRate)
        write(result.echo.latency, "roundTrip", &writer)
      }
    }
    write(result.throttled, "throttled", &writer)
    write(result.failures.mapValues(\.count), "failures", &writer)
    writer.name("passed")
    writer.value(!hasFailed)
    writer.endObject()
    return writer
  }

  private func write(
    _ part: BenchResult.Part, _ name: String, _ writer: inout JSONWriter, _ rest: (inout JSONWriter) -> Void
  ) {
    writer.name(name)
    writer.beginObject()
    writer.name("count")
    writer.value(part.latency.count)
    writer.name("elapsedMilliseconds")
    writer.value(part.elapsed.wholeMilliseconds)
    writer.name("perSecond")
    writer.raw(Array(Self.decimal(part.perSecond, places: 1).utf8))
    rest(&writer)
    writer.endObject()
  }

  /// Microseconds; nothing was measured: null.
  private func write(_ latency: LatencyHistogram, _ name: String, _ writer: inout JSONWriter) {
    writer.name(name)
    guard latency.count > 0 else { return writer.null() }
    writer.beginObject()
    for (name, percent) in Self.percents + [("max", 100)] {
      writer.name("\(name)Microseconds")
      writer.value((latency.percentile(percent) ?? .zero).wholeNanoseconds / 1000)
    }
    writer.endObject()
  }

  private func write(_ counts: [String: Int], _ name: String, _ writer: inout JSONWriter) {
    writer.name(name)
    writer.beginObject()
    for (code, count) in sorted(counts) {
      writer.name(code)
      writer.value(count)
    }
    writer.endObject()
  }

  // MARK: Numbers

  private func sorted<Value>(_ counts: [String: Value]) -> [(String, Value)] {
    counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func seconds(_ duration: Duration) -> String { decimal(duration / .seconds(1), places: 1) }
  private static func milliseconds(_ duration: Duration) -> String {
    decimal(duration / .milliseconds(1), places: 2)
  }

  /// With a point, whatever the locale.
  static func decimal(_ value: Double, places: Int) -> String {
    let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
    let whole = Int((value * Double(scale)).rounded())
    let fraction = String(whole % scale)
    return "\(whole / scale).\(String(repeating: "0", count: places - fraction.count))\(fraction)"
  }
}

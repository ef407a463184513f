/// The gate's numbers over time, as Prometheus scrapes them (docs/metrics.md).
///
/// What `portcullis stats` shows as well has its value, and a family of its own its help, from `OperatorNumber`.
///
/// A scrape reads what loops, store and registry have counted, and asks none of them: it costs the same with one session and
/// with ten thousand.
internal import KeyStore
package import Metrics
internal import Registry
internal import Synchronization
package import System

package final class GateMetrics: Sendable {
  /// Whether one of the gate's own checks is content.
  package struct Check: Sendable {
    /// Of a fixed set.
    package let name: String
    package let isOK: Bool

    package init(name: String, isOK: Bool) {
      self.name = name
      self.isOK = isOK
    }
  }

  package static let contentType = MetricsText.contentType

  /// What all families of one scrape are read from.
  package struct Source {
    package let numbers: Numbers
    package let process: ProcessNumbers
    package let version: String
    package let checks: [Check]

    /// Over all loops.
    package func sum(_ counter: (Counters) -> Counter) -> Int { numbers.sum(counter) }

    /// What `portcullis stats` says.
    package func value(_ number: OperatorNumber) -> Int { number.read(numbers) }
  }

  /// One family with its series.
  package struct Row: Sendable {
    package let family: MetricFamily
    package let write: @Sendable (Source, inout MetricsText) -> Void
  }

  private let numbers: @Sendable () -> Numbers
  private let version: String
  /// Of the last text.
  private let size = Atomic<Int>(64 * 1024)

  /// - Parameter numbers: to be asked for at each scrape.
  package init(version: String, of numbers: @escaping @Sendable () -> Numbers) {
    self.numbers = numbers
    self.version = version
  }

  /// From any thread but a loop's.
  /// - Parameter checks: what readiness was made of last.
  package func text(checks: [Check]) -> [UInt8] {
    let source = Source(numbers: numbers(), process: .read(), version: version, checks: checks)
    var text = MetricsText(capacity: size.load(ordering: .relaxed) + 1024)
    for row in Self.rows {
      text.begin(row.family)
      row.write(source, &text)
    }
    size.store(text.bytes.count, ordering: .relaxed)
    return text.bytes
  }

  package static let rows: [Row] =
    processRows + doorRows + requestRows + sessionRows + throughRows + gameRows + storeRows + deviceRows
    + healthRows

  // MARK: Shapes

  package static func counter(
    _ name: String, _ help: String, _ write: @escaping @Sendable (Source, inout MetricsText) -> Void
  ) -> Row {
    Row(family: MetricFamily("portcullis_" + name, .counter, help), write: write)
  }

  /// A counter of the loops without labels.
  package static func counter(
    _ name: String, _ help: String, of counter: @escaping @Sendable (Counters) -> Counter
  ) -> Row {
    self.counter(name, help) { source, text in text.sample(value: source.sum(counter)) }
  }

  /// Counters, each with a value of the one label.
  package static func counters(
    _ name: String, _ help: String, by label: StaticString,
    _ series: (value: String, number: @Sendable (Source) -> Int)...
  ) -> Row {
    counter(name, help) { source, text in
      for (value, number) in series { text.sample(MetricLabel(label, value), value: number(source)) }
    }
  }

  package static func gauge(
    _ name: String, _ help: String, _ write: @escaping @Sendable (Source, inout MetricsText) -> Void
  ) -> Row {
    Row(family: MetricFamily("portcullis_" + name, .gauge, help), write: write)
  }

  package static func gauge(
    _ name: String, _ help: String, of number: @escaping @Sendable (Source) -> Int
  ) -> Row {
    gauge(name, help) { source, text in text.sample(value: number(source)) }
  }

  /// What `portcullis stats` shows as well, by the same words.
  package static func gauge(_ name: String, _ number: OperatorNumber) -> Row {
    gauge(name, number.sentence) { $0.value(number) }
  }

  package static func histogram(
    _ name: String, _ help: String, _ write: @escaping @Sendable (Source, inout MetricsText) -> Void
  ) -> Row {
    Row(family: MetricFamily("portcullis_" + name, .histogram, help), write: write)
  }
}

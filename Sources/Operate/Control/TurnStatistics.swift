/// One loop's turns in numbers, as `portcullis stats` shows them.
package import JSON

package struct TurnStatistics: Equatable, Sendable {
  package struct Bucket: Equatable, Sendable {
    /// The longest turn that counts here.
    package let microseconds: Int
    package let count: Int

    package init(microseconds: Int, count: Int) {
      self.microseconds = microseconds
      self.count = count
    }
  }

  /// Turns since the start.
  package let count: Int
  /// In microseconds, like the two below: what half of the turns did not exceed.
  package let median: Int
  package let percentile99: Int
  package let maximum: Int
  /// Those that hold any. Two answers' difference tells what was between them.
  package let buckets: [Bucket]

  package init(count: Int, median: Int, percentile99: Int, maximum: Int, buckets: [Bucket]) {
    self.count = count
    self.median = median
    self.percentile99 = percentile99
    self.maximum = maximum
    self.buckets = buckets
  }

  /// One row a number: its name as JSON and as text, and where it is.
  static let numbers: [(name: String, label: String, read: @Sendable (TurnStatistics) -> Int)] = [
    ("count", "turns", \.count),
    ("p50Microseconds", "turnMicroseconds.p50", \.median),
    ("p99Microseconds", "turnMicroseconds.p99", \.percentile99),
    ("maximumMicroseconds", "turnMicroseconds.maximum", \.maximum),
  ]

  init(_ object: JSONObject) throws(ControlAnswerError) {
    guard let pairs = object["buckets"]?.array else { throw .missing("buckets") }
    var buckets: [Bucket] = []
    for pair in pairs {
      guard let numbers = pair.array?.map(\.integer), numbers.count == 2,
        let microseconds = numbers[0].flatMap({ Int(exactly: $0) }),
        let count = numbers[1].flatMap({ Int(exactly: $0) })
      else { throw .missing("buckets") }
      buckets.append(Bucket(microseconds: microseconds, count: count))
    }
    self.init(
      count: try object.count("count"), median: try object.count("p50Microseconds"),
      percentile99: try object.count("p99Microseconds"), maximum: try object.count("maximumMicroseconds"),
      buckets: buckets)
  }

  /// With the buckets as pairs: microseconds, and how many turns.
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    for number in Self.numbers { writer.member(number.name, number.read(self)) }
    writer.name("buckets")
    writer.beginArray()
    for bucket in buckets {
      writer.beginArray()
      writer.value(bucket.microseconds)
      writer.value(bucket.count)
      writer.endArray()
    }
    writer.endArray()
    writer.endObject()
  }
}

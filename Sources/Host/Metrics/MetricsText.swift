/// Numbers as Prometheus reads them: its text format, version 0.0.4 (Prometheus, "Exposition formats").
///
/// One buffer, made as large as the last text was: nothing else grows with the number of series.
package import Time

package struct MetricsText {
  /// What an answer with it says it is.
  package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  package private(set) var bytes: [UInt8] = []
  private var family: [UInt8] = []

  package init(capacity: Int) {
    bytes.reserveCapacity(capacity)
  }

  /// Begins a family: all its series follow, up to the next one.
  package mutating func begin(_ family: MetricFamily) {
    self.family = Array(family.name.utf8)
    put("# HELP ")
    bytes += self.family
    put(" ")
    putEscaped(family.help, quote: false)
    put("\n# TYPE ")
    bytes += self.family
    put(" ")
    put(family.kind.rawValue)
    put("\n")
  }

  package mutating func sample(_ labels: MetricLabel..., value: Int) {
    putSeries("", labels, bound: nil)
    put(String(value))
    put("\n")
  }

  package mutating func sample(_ labels: MetricLabel..., value: Double) {
    putSeries("", labels, bound: nil)
    putNumber(value)
    put("\n")
  }

  /// A histogram of times: each bucket holds all that took no longer (Prometheus, "Histograms and summaries").
  package mutating func histogram(_ labels: MetricLabel..., reading: DurationReading) {
    var count = 0
    for index in reading.counts.indices {
      count += reading.counts[index]
      let isLast = index == HistogramBounds.seconds.count
      putSeries("_bucket", labels, bound: isLast ? "+Inf" : Self.bounds[index])
      put(String(count))
      put("\n")
    }
    putSeries("_sum", labels, bound: nil)
    putNumber(Double(reading.nanoseconds) / 1e9)
    put("\n")
    putSeries("_count", labels, bound: nil)
    put(String(count))
    put("\n")
  }

  private static let bounds = HistogramBounds.seconds.map { bound in
    // 1 and 1.0 are one number, and two labels: as Prometheus' own libraries write them.
    bound == bound.rounded() ? String(Int(bound)) : String(bound)
  }

  // MARK: Pieces

  private mutating func putSeries(_ suffix: String, _ labels: [MetricLabel], bound: String?) {
    bytes += family
    put(suffix)
    guard !labels.isEmpty || bound != nil else { return put(" ") }
    put("{")
    for (index, label) in labels.enumerated() {
      if index > 0 { put(",") }
      put(label.name.description)
      put("=\"")
      putEscaped(label.value, quote: true)
      put("\"")
    }
    if let bound {
      put(labels.isEmpty ? "le=\"" : ",le=\"")
      put(bound)
      put("\"")
    }
    put("} ")
  }

  private mutating func putNumber(_ value: Double) {
    switch value {
    case .infinity: put("+Inf")
    case -.infinity: put("-Inf")
    case _ where value.isNaN: put("NaN")
    default: put(value.description)
    }
  }

  private mutating func put(_ text: String) { bytes += text.utf8 }

  /// Backslash and line feed, and in a label the quote: all else stands as it is.
  private mutating func putEscaped(_ text: String, quote: Bool) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\\"): put("\\\\")
      case UInt8(ascii: "\n"): put("\\n")
      case UInt8(ascii: "\"") where quote: put("\\\"")
      default: bytes.append(byte)
      }
    }
  }
}

import Time
import Testing

@testable import Metrics

@Suite struct MetricsTextTests {
  private func text(_ body: (inout MetricsText) -> Void) -> String {
    var text = MetricsText(capacity: 64)
    body(&text)
    return String(decoding: text.bytes, as: UTF8.self)
  }

  @Test func familyAndSamples() {
    let found = text { text in
      text.begin(MetricFamily("portcullis_bytes_total", .counter, "Payload."))
      text.sample(MetricLabel("direction", "from_game"), value: 12)
      text.sample(MetricLabel("direction", "from_player"), MetricLabel("of", "x"), value: 0)
      text.begin(MetricFamily("portcullis_up", .gauge, "Up."))
      text.sample(value: 1.5)
    }
    #expect(
      found == """
        # HELP portcullis_bytes_total Payload.
        # TYPE portcullis_bytes_total counter
        portcullis_bytes_total{direction="from_game"} 12
        portcullis_bytes_total{direction="from_player",of="x"} 0
        # HELP portcullis_up Up.
        # TYPE portcullis_up gauge
        portcullis_up 1.5

        """)
  }

  /// What a peer might once get into a label ends neither it nor its line.
  @Test(arguments: [
    ("a\"} 1\nevil 2", #"a\"} 1\nevil 2"#), (#"back\slash"#, #"back\\slash"#), ("Zürich", "Zürich"), ("", ""),
  ])
  func labelsAreEscaped(_ value: String, _ written: String) {
    let found = text { text in
      text.begin(MetricFamily("m", .gauge, "M."))
      text.sample(MetricLabel("l", value), value: 1)
    }
    #expect(found == "# HELP m M.\n# TYPE m gauge\nm{l=\"\(written)\"} 1\n")
  }

  /// In a HELP line a quote is a quote.
  @Test func helpIsEscaped() {
    let found = text { $0.begin(MetricFamily("m", .gauge, "One\nline \\ of \"words\".")) }
    #expect(found == "# HELP m One\\nline \\\\ of \"words\".\n# TYPE m gauge\n")
  }

  @Test(arguments: [
    (Double.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"), (0, "0.0"), (1e-9, "1e-09"),
    (1.75e12, "1750000000000.0"),
  ])
  func numbers(_ value: Double, _ written: String) {
    let found = text { text in
      text.begin(MetricFamily("m", .gauge, "M."))
      text.sample(value: value)
    }
    #expect(found.hasSuffix("\nm \(written)\n"))
  }

  @Test func histogram() {
    var reading = DurationReading()
    for milliseconds in [0, 1, 2, 10, 10_000, 10_001] { reading.record(.milliseconds(milliseconds)) }
    let lines = text { text in
      text.begin(MetricFamily("h_seconds", .histogram, "H."))
      text.histogram(MetricLabel("loop", "0"), reading: reading)
    }.split(separator: "\n").dropFirst(2)
    let bounds = [
      "0.001", "0.0025", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10",
      "+Inf",
    ]
    let counts = [2, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 5, 6]
    let expected = zip(bounds, counts).map { "h_seconds_bucket{loop=\"0\",le=\"\($0)\"} \($1)" }
    #expect(
      Array(lines) == expected.map { Substring($0) } + [
        "h_seconds_sum{loop=\"0\"} 20.014", "h_seconds_count{loop=\"0\"} 6",
      ])
  }

  @Test func histogramWithoutLabels() {
    let found = text { text in
      text.begin(MetricFamily("h_seconds", .histogram, "H."))
      text.histogram(reading: DurationReading())
    }
    #expect(found.contains("h_seconds_bucket{le=\"0.001\"} 0\n"))
    #expect(found.hasSuffix("h_seconds_sum 0.0\nh_seconds_count 0\n"))
  }
}

/// The bounds that all histograms of times share (docs/metrics.md).
internal import Time

package enum HistogramBounds {
  /// In seconds, rising: what took no longer counts there.
  package static let seconds: [Double] = DurationReading.bounds.map { Double($0.wholeNanoseconds) / 1e9 }
}

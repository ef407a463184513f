/// The bounds that all histograms of times share (docs/metrics.md).
package enum HistogramBounds {
  /// In seconds, rising: what took no longer counts there. 1, 2.5 and 5 of each power of ten, from a millisecond to ten
  /// seconds.
  package static let seconds: [Double] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
}

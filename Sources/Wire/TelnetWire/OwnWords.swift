/// What an app itself has said about itself by GMCP, and what it wants reported by MSDP: kept while it is short, since a
/// game that replaces itself forgets it.

struct OwnWords: Equatable, Sendable {
  /// JSON.
  var hello: [UInt8]?
  /// JSON.
  var supports: [UInt8]?
  /// Bodies of MSDP, in the order in which they were said last.
  private(set) var reports: [[UInt8]] = []

  /// The oldest go when there is no room. What is said twice is kept once: the later one decides.
  mutating func keep(report: [UInt8]) {
    guard report.count <= Self.limit else { return }
    reports.removeAll { $0 == report }
    reports.append(report)
    while reports.reduce(0, { $0 + $1.count }) > Self.limit { reports.removeFirst() }
  }

  /// In bytes, of each kind.
  static let limit = 512
}

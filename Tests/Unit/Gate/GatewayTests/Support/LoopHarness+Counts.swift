import System
import Testing

@testable import Admission
@testable import Gateway
@testable import Scheduling
@testable import Telemetry

extension LoopHarness {
  /// All counts are those of a gate that nobody uses.
  func expectNothingLeft(_ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation) {
    let numbers = [
      "sessions": shared.sessions.value, "away": shared.away.value, "buffers": shared.buffers.value,
      "occupancy": shared.occupancy.value, "pending": shared.pending.value,
      "lingering": shared.lingering.value,
      "parting": shared.parting.value, "keys": shared.register.keyCount, "ids": shared.directory.count,
      "addresses": shared.addressCounts.count, "away by address": shared.detachedByAddress.count,
      "attached by address": shared.detachedByAddress.attachedCount,
      "sessions in tables": loops.reduce(0) { $0 + $1.sessions.count },
      "connections in tables": loops.reduce(0) { $0 + $1.connections.count },
    ]
    #expect(numbers.filter { $0.value != 0 } == [:], comment, sourceLocation: sourceLocation)
    let gauges = metrics.filter { series, _ in Self.gaugesOfUse.contains { series.hasPrefix($0) } }
    #expect(gauges.filter { $0.value != 0 } == [:], comment, sourceLocation: sourceLocation)
  }

  private static let gaugesOfUse = [
    "portcullis_connections{", "portcullis_sessions{", "portcullis_detached_sessions",
    "portcullis_queued_bytes",
    "portcullis_buffered_bytes",
  ]

  /// What a scrape would say now, by series.
  var metrics: [String: Double] {
    let text = GateMetrics(shared, version: "0").text(checks: [])
    var found: [String: Double] = [:]
    for line in String(decoding: text, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
      guard let space = line.lastIndex(of: " "), let value = Double(line[line.index(after: space)...]) else {
        continue
      }
      found[String(line[..<space])] = value
    }
    return found
  }

  func metric(_ series: String) -> Double? { metrics["portcullis_" + series] }

  /// Until connections that are over are forgotten.
  func settle() {
    for _ in 0..<6 { pass(.seconds(1)) }
  }
}

/// `portcullis stats`: the running gate in numbers (SPEC §8).
import ArgumentParser
import Control
import JSON

struct Stats: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show connections, sessions, refusals by code, loops and the store of the running gate.",
    discussion: """
      Asks the running gate over CONTROL_SOCKET. Counts are since its start, over all event loops. A loop's turn \
      serves whatever came since the last one: turnMicroseconds says how long that took, which is how long others \
      had to wait. With --json each loop has its buckets too, as pairs of microseconds and turns: the difference \
      of two readings is what was between them.
      """
  )

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let answer = try ControlAccess.ask(.statistics, try settings.values())
    guard case .statistics(let statistics) = answer else { throw ControlAccess.unexpected(answer) }
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      statistics.write(to: &writer)
      writer.endObject()
      try output.line(json: writer)
    } else {
      for line in columns(rows(statistics)) { try output.line(line) }
    }
    try output.flush()
  }

  private func rows(_ statistics: GateStatistics) -> [(String, String)] {
    let health = statistics.health
    var rows = [
      ("status", health.status.rawValue), ("version", health.version), ("pid", "\(health.process)"),
      ("uptimeSeconds", "\(health.uptimeSeconds)"),
    ]
    rows += (statistics.gauges + statistics.counters).map { ($0.name, "\($0.count)") }
    rows += statistics.refusals.map { ("refused.\($0.name)", "\($0.count)") }
    for (index, loop) in statistics.turns.enumerated() {
      rows += [
        ("loop.\(index).turns", "\(loop.count)"),
        ("loop.\(index).turnMicroseconds.p50", "\(loop.median)"),
        ("loop.\(index).turnMicroseconds.p99", "\(loop.percentile99)"),
        ("loop.\(index).turnMicroseconds.maximum", "\(loop.maximum)"),
      ]
    }
    rows.append(("store.service", statistics.store.service))
    if let reason = statistics.store.reason { rows.append(("store.reason", reason)) }
    rows += statistics.store.counts.map { ("store.\($0.name)", "\($0.count)") }
    if let time = statistics.store.lastSnapshotAt { rows.append(("store.lastSnapshotAt", time)) }
    return rows
  }
}

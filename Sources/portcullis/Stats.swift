/// `portcullis stats`: the running gate in numbers (SPEC §8).
import ArgumentParser
import Control
import JSON

struct Stats: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show connections, sessions, refusals by code and the store of the running gate.",
    discussion: "Asks the running gate over CONTROL_SOCKET. Counts are since its start, over all event loops."
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
    rows.append(("store.service", statistics.store.service))
    if let reason = statistics.store.reason { rows.append(("store.reason", reason)) }
    rows += statistics.store.counts.map { ("store.\($0.name)", "\($0.count)") }
    if let time = statistics.store.lastSnapshotAt { rows.append(("store.lastSnapshotAt", time)) }
    return rows
  }
}

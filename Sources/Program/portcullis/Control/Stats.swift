/// `portcullis stats`: the running gate in numbers (docs/running.md, "Control socket").
import ArgumentParser
import Control
import JSON
import Prompt
import System
import Time

struct Stats: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Show connections, sessions, refusals by code, loops and the store of the running gate.",
    discussion: """
      Asks the running gate over CONTROL_SOCKET. Counts are since its start, over all event loops. A loop's turn \
      serves whatever came since the last one: turnMicroseconds says how long that took, which is how long others \
      had to wait. With --json each loop has its buckets too, as pairs of microseconds and turns: the difference \
      of two readings is what was between them. At a terminal they are in groups, with units and what they count.
      """
  )

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object.")
  var json = false

  @Flag(help: "Keys by state, environment and app, out of the store's files, for which no gate need run.")
  var keys = false

  func run() throws {
    if keys { return try KeyCounts.show(try settings.values(), json: json) }
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
      let lines =
        Output.isTerminal
        ? statistics.lines(now: SystemClock().wall(), in: WindowSize(of: 1)?.columns, .standardOutput)
        : columns(statistics.rows)
      for line in lines { try output.line(line) }
    }
    try output.flush()
  }
}

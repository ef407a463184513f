/// `portcullis drain`: how all sessions of the running gate end for good (docs/operating.md, "What a restart keeps").
import ArgumentParser
import Control
import JSON

struct Drain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "End all sessions of the running gate for good.",
    discussion: """
      A restart keeps sessions of portcullis.v1 where the service manager keeps descriptors for the gate. With --end all \
      of them end, nothing is kept any more, and new players are refused until the gate is started again. Returns when \
      nobody is left.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "End all sessions.")
  var end = false

  @Flag(help: "One JSON object.")
  var json = false

  func validate() throws {
    if !end { throw ValidationError("say --end: sessions end for good") }
  }

  func run() throws {
    let answer = try ControlAccess.ask(.drainEnd, try settings.values())
    guard case .drained(let ended) = answer else { throw ControlAccess.unexpected(answer) }
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("sessionsEnded")
      writer.value(ended)
      writer.endObject()
      try output.line(json: writer)
    } else {
      try output.line("sessions ended: \(ended)")
    }
    try output.flush()
  }
}

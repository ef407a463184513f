/// `portcullis drain` and `undrain`: how players are led away from the running gate, and back (docs/running.md,
/// "Draining").
import ArgumentParser
import Configuration
import Control
import JSON
import Prompt
import System
import Time

struct Drain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Stop accepting new players, or end all sessions for good.",
    discussion: """
      From then on /healthz and new players are answered 503; whoever plays plays on, and may come back to the session that \
      is here. undrain takes it back, and so does a restart. With --wait it returns when nobody plays any more (0), or when \
      the time is over or somebody has taken it back (75); the gate then still drains. With --end all sessions end at \
      once, including sessions that a restart would keep, and new players are refused until the gate is started again.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "Wait until nobody plays, at most for so long: a number with s, m, h or d, such as 30m.")
  var wait: Age?

  @Flag(help: "End all sessions.")
  var end = false

  @Flag(help: "One JSON object.")
  var json = false

  func validate() throws {
    if end, wait != nil { throw ValidationError("--end waits for nobody: give it or --wait") }
  }

  func run() throws {
    let configuration = try settings.values()
    if end { return try endAll(configuration) }
    let answer = try ControlAccess.ask(.drain, configuration)
    guard case .draining(let sessions, let detached) = answer else { throw ControlAccess.unexpected(answer) }
    guard let wait else { return try tell(Players(attached: sessions, detached: detached)) }
    let (players, isOver) = try awaitNobody(
      configuration, from: Players(attached: sessions, detached: detached),
      until: SystemClock().monotonic() + .seconds(min(wait.seconds, Self.longestWait)))
    try tell(players)
    if !isOver { throw ExitStatus.temporaryFailure }
  }

  // MARK: Waiting

  private struct Players {
    let attached: Int
    let detached: Int

    var isNobody: Bool { attached == 0 && detached == 0 }
  }

  /// Asks again and again, without ordering anything: who has taken the drain back meanwhile is not overruled.
  /// - Returns: who is left, and whether nobody can come.
  private func awaitNobody(
    _ configuration: GateConfiguration, from first: Players, until deadline: MonotonicTime
  ) throws -> (Players, isOver: Bool) {
    var players = first
    // Whoever loses a connection, or moves between loops, is counted nowhere for a moment: nobody, twice.
    var wasNobody = false
    while !(players.isNobody && wasNobody) {
      wasNobody = players.isNobody
      guard SystemClock().monotonic() < deadline else {
        if players.isNobody { return (players, true) }
        complain("\(players.attached + players.detached) sessions are left, and the time is over")
        return (players, false)
      }
      Signal().wait(until: min(deadline, SystemClock().monotonic() + Self.pause))
      let answer = try ControlAccess.ask(.statistics, configuration)
      guard case .statistics(let statistics) = answer else { throw ControlAccess.unexpected(answer) }
      players = Players(
        attached: statistics.gauge("sessions"),
        detached: statistics.gauge("detached") - statistics.gauge("concluded"))
      guard statistics.health.status == .draining else {
        complain("the gate takes players in again: somebody has taken the drain back")
        return (players, false)
      }
    }
    return (players, true)
  }

  private static let pause: Duration = .milliseconds(500)
  /// A year, so that no sum of times overflows.
  private static let longestWait: Int64 = 366 * 86_400

  private func tell(_ players: Players) throws {
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("sessions")
      writer.value(players.attached)
      writer.name("detached")
      writer.value(players.detached)
      writer.endObject()
      try output.line(json: writer)
    } else {
      try output.line(
        "draining  sessions: \(players.attached)  without a connection: \(players.detached)")
    }
    try output.flush()
  }

  // MARK: Ending

  private func endAll(_ configuration: GateConfiguration) throws {
    let answer = try ControlAccess.ask(.drainEnd, configuration)
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

struct Undrain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Let players in again after drain.",
    discussion: """
      What drain --end has ended, and a gate that stops, are not taken back: then it ends with status 65, and the gate has \
      to be started again.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let answer = try ControlAccess.ask(.undrain, try settings.values())
    guard case .undrained(let wasDraining) = answer else { throw ControlAccess.unexpected(answer) }
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("wasDraining")
      writer.value(wasDraining)
      writer.endObject()
      try output.line(json: writer)
    } else {
      try output.line(wasDraining ? "players are let in again" : "the gate was not draining")
    }
    try output.flush()
  }
}

extension GateStatistics {
  fileprivate func gauge(_ name: String) -> Int { gauges.first { $0.name == name }?.count ?? 0 }
}

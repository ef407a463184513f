/// `portcullis drain`: how players are led away from the running gate, and back (docs/running.md,
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
    abstract: "Stop accepting new players, or accept them again.",
    discussion: """
      From then on /healthz and new players are answered 503. Players who are in keep playing, and reconnect to the session \
      that is here. A restart ends the drain, and so does --off. With --wait it returns when the last player has left (0), \
      or when the time is over or the drain was taken back (75); the gate then still drains. What sessions end has ended, \
      and a gate that stops, are not taken back: --off then ends with status 65, and the gate has to be started again.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(
    help: "Wait until the last player has left, at most for so long: a number with s, m, h or d, such as 30m."
  )
  var wait: Age?

  @Flag(help: "Accept new players again.")
  var off = false

  @Flag(help: ArgumentHelp("Now: sessions end --all.", visibility: .hidden))
  var end = false

  @Flag(help: "One JSON object.")
  var json = false

  func validate() throws {
    if [end, off, wait != nil].count(where: { $0 }) > 1 {
      throw ValidationError("--off and --wait exclude each other, and so does --end")
    }
  }

  func run() throws {
    let configuration = try settings.values()
    if end {
      complain("drain --end is now: portcullis sessions end --all")
      return try SessionsEnd.endAll(configuration, json: json)
    }
    if off { return try takeBack(configuration) }
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

  // MARK: Taking it back

  private func takeBack(_ configuration: GateConfiguration) throws {
    let answer = try ControlAccess.ask(.undrain, configuration)
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

/// `portcullis sessions`: who plays at this moment, and how to end that (docs/running.md, "Control socket").
import ArgumentParser
import Bytes
import Configuration
import Control
import JSON
import Prompt

struct Sessions: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List, close or end sessions of the running gate.",
    subcommands: [SessionsList.self, SessionsClose.self, SessionsEnd.self])
}

struct SessionsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the sessions, the longest first.",
    discussion: """
      One line a session: its number, whether a connection carries it and for how many seconds it has been so, \
      the connection, source, seconds in the game, bytes from the player, bytes from the game, bytes that wait for \
      the app, whether the session outlives a restart of the gate (kept), credential, and the key id or the subject of the client certificate. At a terminal keys are short, and times and \
      sizes are rounded. Asks the running gate over CONTROL_SOCKET.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object a line.")
  var json = false

  func run() throws {
    let answer = try ControlAccess.ask(.sessionsList, try settings.values())
    guard case .sessions(let sessions) = answer else { throw ControlAccess.unexpected(answer) }
    var output = Output()
    if !json, Output.isTerminal { return try show(sessions) }
    for session in sessions {
      if json {
        var writer = JSONWriter()
        session.write(to: &writer)
        try output.line(json: writer)
      } else {
        try output.line(text(session))
      }
    }
    try output.flush()
  }

  private func show(_ sessions: [SessionEntry]) throws {
    var table = TextTable([
      .init("SESSION", isNumber: true), .init("STATE"), .init("FOR", isNumber: true), .init("SOURCE"),
      .init("PLAYED", isNumber: true), .init("SENT", isNumber: true), .init("RECEIVED", isNumber: true),
      .init("KEPT"), .init("WHO", canBeCut: true),
    ])
    var output = Output()
    for session in sessions {
      let who = session.keyID.map { Wording.beginning(ofKey: $0) } ?? Self.subject(session)
      let row: [TextTable.Cell] = [
        .init("\(session.session)"),
        .init(session.state, session.state == "attached" ? .good : .doubtful),
        .init(Wording.duration(seconds: Int64(session.since))), .init(session.source),
        .init(Wording.duration(seconds: Int64(session.seconds))),
        .init(Wording.bytes(session.bytesFromPlayer)), .init(Wording.bytes(session.bytesFromGame)),
        .init(session.isKept ? "kept" : "-"), .init(who),
      ]
      try output.row(row, of: &table)
    }
    try output.rows(of: &table)
    try output.flush()
  }

  private static func subject(_ session: SessionEntry) -> String {
    session.subject.map { PrintableText.field($0, limit: 128) } ?? "-"
  }

  private func text(_ session: SessionEntry) -> String {
    let who = session.keyID ?? Self.subject(session)
    return [
      "\(session.session)", session.state, "\(session.since)", session.connection ?? "-", session.source,
      "\(session.seconds)", "\(session.bytesFromPlayer)", "\(session.bytesFromGame)", "\(session.buffered)",
      session.isKept ? "kept" : "-", session.credential, who,
    ].joined(separator: "  ")
  }
}

struct SessionsClose: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "close", abstract: "Close one session, or all sessions of a key.",
    discussion: """
      The player is told close code 1008, or under portcullis.v1 that the operator has closed it. Returns when the sessions have ended. The key stays registered and \
      may come back: to keep it out, use keys revoke. Ends with status 65 when there is no such session.
      """)

  @OptionGroup var settings: SettingsFile

  @Argument(help: "A number or a connection as sessions list has them, or a key id (base64 or base64url).")
  var session: String

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let selection: ControlRequest.SessionSelection =
      UInt64(session).map { .session($0) } ?? KeyIdentifier(base64: session).map { .key($0) }
      ?? .connection(session)
    let answer = try ControlAccess.ask(.sessionsClose(selection), try settings.values())
    guard case .sessionsClosed(let ended, let left) = answer else { throw ControlAccess.unexpected(answer) }
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("sessionsEnded")
      writer.value(ended)
      writer.name("sessionsLeft")
      writer.value(left)
      writer.endObject()
      try output.line(json: writer)
    } else {
      try output.line("sessions ended: \(ended)")
    }
    try output.flush()
    guard left == 0 else {
      complain("\(left) sessions have been told to end and had not yet")
      throw ExitStatus.temporaryFailure
    }
  }
}

struct SessionsEnd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "end", abstract: "End all sessions for good, before a stop.",
    discussion: """
      All sessions end at once, including sessions that a restart would keep. New players are refused until the gate is \
      started again. To end one session, use sessions close.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "Needed, as it cannot be taken back.")
  var all = false

  @Flag(help: "One JSON object.")
  var json = false

  func validate() throws {
    guard all else { throw ValidationError("this ends all sessions for good: say so by --all") }
  }

  func run() throws { try Self.endAll(try settings.values(), json: json) }

  static func endAll(_ configuration: GateConfiguration, json: Bool) throws {
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

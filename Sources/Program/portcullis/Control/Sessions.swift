/// `portcullis sessions`: who plays at this moment, and how to end that (docs/running.md, "Control socket").
import ArgumentParser
import Bytes
import Control
import JSON
import Prompt

struct Sessions: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List or close sessions of the running gate.",
    subcommands: [SessionsList.self, SessionsClose.self])
}

struct SessionsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the sessions, the longest first.",
    discussion: """
      One line a session: its number, whether a connection carries it and for how many seconds it has been so, \
      the connection, source, seconds in the game, bytes from the player, bytes from the game, bytes that wait for \
      the app, whether the session outlives a restart of the gate (kept), credential, and the key id or the subject of the client certificate. Asks the running gate over \
      CONTROL_SOCKET.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object a line.")
  var json = false

  func run() throws {
    let answer = try ControlAccess.ask(.sessionsList, try settings.values())
    guard case .sessions(let sessions) = answer else { throw ControlAccess.unexpected(answer) }
    var output = Output()
    if !json, Output.isTerminal {
      try output.line(
        "SESSION  STATE  SINCE  CONNECTION  SOURCE  SECONDS  FROM-PLAYER  FROM-GAME  BUFFERED  KEPT  CREDENTIAL  WHO"
      )
    }
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

  private func text(_ session: SessionEntry) -> String {
    let who = session.keyID ?? session.subject.map { PrintableText.field($0, limit: 128) } ?? "-"
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

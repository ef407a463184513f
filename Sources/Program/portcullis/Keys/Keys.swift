/// `portcullis keys`: the attested keys, read beside a running gate (docs/key-store.md, docs/running.md, "Commands").
import ArgumentParser
import Assembly
import Bytes
import Configuration
import Identity
import JSON
import KeyStore
import Prompt
import System
import Time

struct Keys: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "List, show, find, revoke, prune, import and export attested keys.",
    discussion: """
      list, show, find and export read the snapshot and the journal and do not disturb a running gate. revoke, \
      prune and import ask the running gate over CONTROL_SOCKET, or edit the store under its lock when none is running.
      """,
    subcommands: [
      KeysList.self, KeysShow.self, KeysFind.self, KeysRevoke.self, KeysPrune.self,
      KeysImport.self, KeysExport.self,
    ])
}

struct KeysList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List all keys.",
    discussion: """
      One line a key: key id, registered, last used, counter, environment, app id, and "revoked" with its \
      time and reason. With --json one object a line, with the members of the key file, keyId before them, and behind them \
      the pseudonym, where the key of DEVICE_PSEUDONYM_KEY_PATH can be read. At a terminal keys are short and times are \
      relative.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object a line.")
  var json = false

  @Flag(help: "Only revoked keys.")
  var revoked = false

  func run() throws {
    let configuration = try settings.values()
    let contents = try StoreAccess.read(configuration)
    let key = KeyText.pseudonymKey(configuration)
    var output = Output()
    var table = KeyText.table
    let now = SystemClock().wall()
    try contents.forEach { identifier, record throws in
      if revoked, record.revokedAt == nil { return }
      if !json, Output.isTerminal {
        try output.row(KeyText.cells(identifier, record, now: now), of: &table)
      } else if json {
        try output.line(json: KeyText.json(identifier, record, key?.pseudonym(ofKey: identifier)))
      } else {
        try output.line(KeyText.line(identifier, record))
      }
    }
    if !json, Output.isTerminal { try output.rows(of: &table) }
    try output.flush()
  }
}

struct KeysShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one key.",
    discussion: "Ends with status 65 when there is no such key.")

  @OptionGroup var settings: SettingsFile

  @Argument(help: KeySelection.help)
  var key: KeySelection

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let configuration = try settings.values()
    let contents = try StoreAccess.read(configuration)
    let identifier = try key.identifier(in: contents)
    guard let record = contents.find(identifier) else { throw KeySelection.unknown(identifier) }
    let pseudonym = KeyText.pseudonymKey(configuration)?.pseudonym(ofKey: identifier)
    var output = Output()
    if json {
      try output.line(json: KeyText.json(identifier, record, pseudonym))
    } else {
      for line in columns(KeyText.rows(identifier, record, pseudonym)) { try output.line(line) }
    }
    try output.flush()
  }
}

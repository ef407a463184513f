/// `portcullis audit`: the chain of what was done about devices and approvals (docs/running.md, "Commands").
import ArgumentParser
import Bytes
import Configuration
import JSON
import Prompt
import Registry
import Time

struct Audit: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Read, export, verify and shorten the audit.",
    discussion: "They ask the running gate over CONTROL_SOCKET.",
    subcommands: [AuditList.self, AuditExport.self, AuditVerify.self, AuditPrune.self])
}

struct AuditList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List what was done, the oldest first.",
    discussion: """
      One line a row: its number, the time, what happened, and the names it was about. A row whose text was erased \
      has its number and time alone. With --json one array.
      """)

  @OptionGroup var settings: SettingsFile
  @Option(help: "Only rows behind this number.") var after: Int64 = 0
  @Option(help: "At most so many rows.") var limit: Int64 = 1000
  @Flag(help: "One JSON array.") var json = false

  func run() throws {
    let pages = RegistryPages(
      verb: .auditList, arguments: [], cursor: "seq", configuration: try settings.values())
    let after = JSONValue.number(JSONNumber(after))
    if json {
      return try RegistryText.list(.array(try pages.all(after: after, limit: limit)), [], json: true)
    }
    var output = Output()
    if Output.isTerminal { try output.line("SEQ  AT  EVENT") }
    try pages.each(after: after, limit: limit) { rows throws in
      for row in rows { try output.line(text(row.object)) }
    }
    try output.flush()
  }

  private func text(_ row: JSONObject?) -> String {
    guard let row else { return "-" }
    let first = ["seq", "at", "event"]
    let named = row.members.filter { !(first + ["gate", "hash", "salt", "text"]).contains($0.name) }
    let fields = first.map { RegistryText.text(row[$0], of: $0) }
    let others = named.map { "\($0.name)=\(RegistryText.text($0.value, of: $0.name))" }
    return (fields + others).joined(separator: "  ")
  }
}

struct AuditExport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the audit with its hashes, one JSON object a line.",
    discussion: """
      Members are gate, seq, at, text, salt (hex) and hash (hex), or digest (hex) where a text was erased: enough to follow \
      the chain without the gate, as audit verify --export does. With --after, an export goes on where an earlier one \
      ended.
      """)

  @OptionGroup var settings: SettingsFile
  @Option(help: "Only rows behind this number.") var after: Int64 = 0

  func run() throws {
    var output = Output()
    let pages = RegistryPages(
      verb: .auditExport, arguments: [], cursor: "seq", configuration: try settings.values())
    try pages.each(after: .number(JSONNumber(after))) { rows throws in
      for row in rows {
        var writer = JSONWriter()
        writer.value(row)
        try output.line(json: writer)
      }
    }
    try output.flush()
  }
}

struct AuditPrune: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Throw away rows of before a day.",
    discussion: "The chain begins anew with the first that is left; that it was shortened stands in it.")

  @OptionGroup var settings: SettingsFile
  @Option(help: "The day (2027-01-31, UTC) from which on rows stay, a timestamp, or an age such as 730d.")
  var before: Moment
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let seconds = before.seconds(before: SystemClock().wall())
    let result = try RegistryAccess.order(
      .auditPrune, [("before", .number(JSONNumber(seconds)))], try settings.values())
    let rows = result.object?["rows"]?.integer.map { "  rows: \($0)" } ?? ""
    try RegistryText.say(
      "pruned before \(UnixTime(milliseconds: seconds * 1000).timestamp)\(rows)", result, json: json)
  }
}

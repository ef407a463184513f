/// `portcullis keys prune`: by the running gate, or by hand when there is none (docs/running.md, "Commands").
import ArgumentParser
import Assembly
import Configuration
import Control
import Gateway
import JSON
import KeyStore
import Prompt
internal import Scheduling
import System
import Time

struct KeysPrune: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Remove keys that have not been used for a long time.",
    discussion: """
      A removed key is unknown: its app registers again. Revoked keys stay, and so do keys with sessions. \
      Asks the running gate over CONTROL_SOCKET; when none is running, edits the store under its lock.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "Keys neither registered nor used for so long: a number with s, m, h or d, such as 180d.")
  var unused: Age

  @Flag(help: "Only count them; those with sessions count too.")
  var dryRun = false

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let configuration = try settings.values()
    let cutoff = UnixTime(milliseconds: SystemClock().wall().milliseconds - unused.seconds * 1000)
    if dryRun {
      try tell(try count(configuration, before: cutoff), by: nil)
    } else if let answer = try ControlAccess.askIfRunning(
      .keysPrune(unusedSeconds: unused.seconds), configuration)
    {
      guard case .pruned(let keys) = answer else { throw ControlAccess.unexpected(answer) }
      try tell(keys, by: .gate)
    } else {
      let keys = try StoreAccess.edit(configuration) { store, wait in
        store.prune(unusedSince: cutoff) { wait.complete($0) }
      }
      try tell(keys, by: .store)
    }
  }

  private func count(_ configuration: GateConfiguration, before cutoff: UnixTime) throws -> Int {
    var count = 0
    try StoreAccess.read(configuration).forEach { _, record in
      let lastUse = max(record.lastUsedAt ?? record.registeredAt, record.registeredAt)
      if record.revokedAt == nil, lastUse < cutoff { count += 1 }
    }
    return count
  }

  /// - Parameter editor: nil when nothing was changed.
  private func tell(_ keys: Int, by editor: StoreEditor?) throws {
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name(editor == nil ? "wouldRemove" : "removed")
      writer.value(keys)
      if let editor {
        writer.name("by")
        writer.value(editor.rawValue)
      }
      writer.endObject()
      try output.line(json: writer)
    } else if let editor {
      try output.line("keys removed: \(keys)  \(editor.text)")
    } else {
      try output.line("keys that would be removed: \(keys)")
    }
    try output.flush()
  }
}

/// A length of time on the command line, in whole seconds.
struct Age: ExpressibleByArgument {
  let seconds: Int64

  init(days: Int64) {
    seconds = days * 86_400
  }

  var defaultValueDescription: String { seconds % 86_400 == 0 ? "\(seconds / 86_400)d" : "\(seconds)s" }

  init?(argument: String) {
    let digits = argument.utf8.prefix { (0x30...0x39).contains($0) }
    guard (1...9).contains(digits.count), let number = Int64(String(Substring(digits))) else { return nil }
    switch String(argument.dropFirst(digits.count)) {
    case "s": seconds = number
    case "m": seconds = number * 60
    case "h": seconds = number * 3600
    case "d": seconds = number * 86_400
    default: return nil
    }
    // A thousand years; the control socket takes no more either.
    if seconds > 1000 * 366 * 86_400 { return nil }
  }
}

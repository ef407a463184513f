/// `portcullis keys revoke` and `keys prune`: by the running gate, or by hand when there is none (SPEC §8).
import ArgumentParser
import Bytes
import Configuration
import Control
import Gateway
import KeyStore
import System

struct KeysRevoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Refuse a key from now on and end its sessions.",
    discussion: """
      Returns when the revocation is durable and the key's sessions have ended (close code 1008). Asks the running \
      gate over CONTROL_SOCKET; when none is running, edits the store under its lock. A revocation cannot be undone: \
      the app makes a new key by registering again after it was deleted from the device. Ends with status 65 when \
      there is no such key.
      """)

  @OptionGroup var settings: SettingsFile

  @Argument(help: KeySelection.help)
  var key: KeySelection

  func run() throws {
    let configuration = try settings.values()
    let identifier = try key.identifier(in: try StoreAccess.read(configuration))
    var output = Output()
    guard let answer = try ControlAccess.askIfRunning(.keysRevoke(identifier), configuration) else {
      let since = try revokeByHand(identifier, configuration)
      try output.line("revoked \(identifier.base64)  since \(since.timestamp)  by editing the store; no gate is running")
      try output.flush()
      return
    }
    guard case .revoked(let revocation) = answer else { throw ControlAccess.unexpected(answer) }
    try output.line(
      "revoked \(identifier.base64)  since \(revocation.revokedAt)  by the running gate; sessions ended: "
        + "\(revocation.sessionsEnded)")
    try output.flush()
    guard revocation.sessionsLeft == 0 else {
      complain("\(revocation.sessionsLeft) sessions have been told to end and had not yet")
      throw ExitStatus.temporaryFailure.code
    }
  }

  private func revokeByHand(_ identifier: KeyIdentifier, _ configuration: GateConfiguration) throws -> UnixTime {
    try StoreAccess.edit(configuration) { store, wait in
      switch store.revoke(identifier, now: SystemClock().wall(), completion: { wait.complete($0) }) {
      case .revoked(let since, _): return since
      case .unknownKey: throw KeySelection.unknown(identifier)
      case .unavailable: throw ExitStatus.temporaryFailure.code
      }
    }
  }
}

struct KeysPrune: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Remove keys that have not been used for a long time.",
    discussion: """
      A removed key is unknown: its app registers again. Revoked keys stay, and so do keys with sessions. Asks the \
      running gate over CONTROL_SOCKET; when none is running, edits the store under its lock.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "Keys neither registered nor used for so long: a number with s, m, h or d, such as 180d.")
  var unused: Age

  @Flag(help: "Only count them.")
  var dryRun = false

  func run() throws {
    let configuration = try settings.values()
    let cutoff = UnixTime(milliseconds: SystemClock().wall().milliseconds - unused.seconds * 1000)
    var output = Output()
    if dryRun {
      var count = 0
      try StoreAccess.read(configuration).forEach { _, record in
        if record.revokedAt == nil, max(record.lastUsedAt ?? record.registeredAt, record.registeredAt) < cutoff {
          count += 1
        }
      }
      try output.line("would remove \(count) keys, less those with sessions")
    } else if let answer = try ControlAccess.askIfRunning(.keysPrune(unusedSeconds: unused.seconds), configuration) {
      guard case .pruned(let keys) = answer else { throw ControlAccess.unexpected(answer) }
      try output.line("removed \(keys) keys  by the running gate")
    } else {
      let keys = try StoreAccess.edit(configuration) { store, wait in
        store.prune(unusedSince: cutoff) { wait.complete($0) }
      }
      try output.line("removed \(keys) keys  by editing the store; no gate is running")
    }
    try output.flush()
  }
}

/// A length of time on the command line, in whole seconds.
struct Age: ExpressibleByArgument {
  let seconds: Int64

  init?(argument: String) {
    let digits = argument.utf8.prefix { (0x30...0x39).contains($0) }
    guard (1...9).contains(digits.count), let number = Int64(String(Substring(digits))) else { return nil }
    switch String(argument.dropFirst(digits.count)) {
    case "", "s": seconds = number
    case "m": seconds = number * 60
    case "h": seconds = number * 3600
    case "d": seconds = number * 86_400
    default: return nil
    }
    // A thousand years; the control socket takes no more either.
    if seconds > 1000 * 366 * 86_400 { return nil }
  }
}

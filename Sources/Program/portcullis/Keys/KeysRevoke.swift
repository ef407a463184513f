/// `portcullis keys revoke`: by the running gate, or by hand when there is none (docs/running.md, "Commands").
import ArgumentParser
import Assembly
import Bytes
import Configuration
import Control
import Gateway
import JSON
import KeyStore
import PortcullisProtocol
import Prompt
import Registry
internal import Scheduling
import System
import Time

struct KeysRevoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Refuse a key from now on and end its sessions.",
    discussion: """
      Returns when the revocation is durable and the key's sessions have ended (close code 1008). Asks the \
      running gate over CONTROL_SOCKET; when none is running, edits the store under its lock. A revocation \
      cannot be undone, and the reason that was given first stays. It holds for the key and not for the device: the app can make and register a new \
      one. Ends with status 65 when there is no such key.
      """)

  @OptionGroup var settings: SettingsFile

  @Argument(help: KeySelection.help)
  var key: KeySelection

  @Option(help: "Why, for operators who look at the key later: at most 256 printable characters.")
  var reason: RevocationReason?

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let configuration = try settings.values()
    let identifier = try key.identifier(in: try StoreAccess.read(configuration))
    guard
      let answer = try ControlAccess.askIfRunning(
        .keysRevoke(identifier, reason: reason), configuration)
    else {
      let since = try revokeByHand(identifier, configuration)
      return try tell(
        identifier, Revocation(revokedAt: since.timestamp, sessionsEnded: 0, sessionsLeft: 0), by: .store)
    }
    guard case .revoked(let revocation) = answer else { throw ControlAccess.unexpected(answer) }
    try tell(identifier, revocation, by: .gate)
    guard revocation.sessionsLeft == 0 else {
      complain("\(revocation.sessionsLeft) sessions have been told to end and had not yet")
      throw ExitStatus.temporaryFailure
    }
  }

  private func revokeByHand(_ identifier: KeyIdentifier, _ configuration: GateConfiguration) throws
    -> UnixTime
  {
    try StoreAccess.edit(configuration) { store, wait in
      let verdict = store.revoke(
        identifier, reason: reason, now: SystemClock().wall(), completion: { wait.complete($0) })
      switch verdict {
      case .revoked(let since): return since
      case .unknownKey: throw KeySelection.unknown(identifier)
      case .unavailable: throw ExitStatus.temporaryFailure
      }
    } next: {
      // What it vouched for ends as well.
      if case .refused(let refusal)? = try RegistryByHand.ask(EndAttestedKeys([identifier]), configuration) {
        complain("the key is revoked, but not what it vouched for: \(refusal.code.sentence)")
        throw ExitStatus.ioError
      }
    }
  }

  private func tell(_ identifier: KeyIdentifier, _ revocation: Revocation, by editor: StoreEditor) throws {
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("keyId")
      writer.value(identifier.base64)
      writer.name("revokedAt")
      writer.value(revocation.revokedAt)
      writer.name("sessionsEnded")
      writer.value(revocation.sessionsEnded)
      writer.name("sessionsLeft")
      writer.value(revocation.sessionsLeft)
      writer.name("by")
      writer.value(editor.rawValue)
      writer.endObject()
      try output.line(json: writer)
    } else {
      try output.line(
        "revoked \(identifier.base64)  since \(revocation.revokedAt)  \(editor.text)  sessions ended: "
          + "\(revocation.sessionsEnded)")
    }
    try output.flush()
  }
}

extension RevocationReason: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

/// Which way a change went.
enum StoreEditor: String {
  case gate
  case store

  var text: String {
    switch self {
    case .gate: "by the running gate"
    case .store: "by editing the store, as no gate is running"
    }
  }
}

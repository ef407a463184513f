/// `portcullis keys import`: keys that another gate had registered, good for a while (docs/backup.md, "From another gate").
internal import Admission
import ArgumentParser
import Assembly
import Bytes
import Configuration
import Control
import Crypto
import Gateway
import Identity
import JSON
import KeyStore
import Prompt
internal import Scheduling
import System
import Time

struct KeysImport: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import", abstract: "Take keys that another gate has registered, for a while.",
    discussion: """
      FILE is the key file of that gate: goldfinch is mud-web-proxy 4. Keys come in by their assertions until the date, at \
      most 90 days on, since that gate has not checked all that this one does; then they are unknown, and their apps \
      register anew. Counters are kept. A key that is here already stays as it is, so doing it again changes nothing. What \
      cannot be a key of App Attest is left out and told; a file that is wrong in itself is refused as a whole (65), \
      with the place. Asks the running gate over CONTROL_SOCKET; when none is running, edits the store under its lock.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "Whose file it is: goldfinch.")
  var from: KeySource

  @Option(help: "Until when they are good: a day (UTC), a timestamp, or a length of time such as 60d.")
  var until: Moment

  @Option(help: "The app that they belong to; without it the first good assertion says so.")
  var appId: String?

  @Flag(help: "Only say what would be done.")
  var dryRun = false

  @Flag(help: "One JSON object.")
  var json = false

  @Argument(help: "The key file.", completion: .file())
  var file: String

  func run() throws {
    let configuration = try settings.values()
    let imported = try term(configuration)
    let parser = try read(configuration)
    for key in parser.leftOut.prefix(Self.mostSaid) {
      complain(
        "\(file):\(key.line): \(PrintableText.field(key.name, limit: 64)) is left out: \(key.reason.rawValue)"
      )
    }
    if parser.leftOutCount > Self.mostSaid {
      complain("\(parser.leftOutCount - Self.mostSaid) more are left out")
    }
    var done = ImportVerdict()
    if dryRun {
      let contents = try StoreAccess.read(configuration)
      for key in parser.keys {
        if contents.find(key.identifier) == nil { done.taken += 1 } else { done.known += 1 }
      }
      return try tell(done, parser.leftOutCount, imported, by: nil)
    }
    let editor = try take(parser.keys, imported, configuration, &done)
    try tell(done, parser.leftOutCount, imported, by: editor)
    if done.isFull {
      complain("the store is full: set KEYSTORE_MAX_KEYS higher, and import again")
      throw ExitStatus.configuration
    }
  }

  // MARK: What is asked for

  private func term(_ configuration: GateConfiguration) throws -> KeyImport {
    if let appId, !configuration.attest.appIDs.contains(where: { $0.description == appId }) {
      throw ValidationError("--app-id names none of the apps that the settings have")
    }
    let now = SystemClock().wall()
    do throws(KeysImportOrder.Unfit) {
      return try KeysImportOrder.term(
        from, until: UnixTime(milliseconds: until.seconds(after: now) * 1000), now: now)
    } catch {
      throw ValidationError("--until: \(error.description)")
    }
  }

  private func read(_ configuration: GateConfiguration) throws -> GoldfinchParser {
    let verifier = P256Verifier()
    var parser = GoldfinchParser(
      limit: configuration.store.maximumKeys, isOnCurve: { verifier.isOnCurve($0) },
      fingerprint: { SHA256.hash($0.x963.span) })
    do throws(GoldfinchFileError) {
      try GoldfinchFile.read(file, by: &parser)
    } catch {
      switch error {
      case .failed(let error):
        complain("\(file): \(error)")
        throw ExitStatus.ioError
      case .unfit(let error):
        complain("\(file), \(error); nothing is imported")
        throw ExitStatus.dataError
      }
    }
    return parser
  }

  // MARK: Taking

  private func take(
    _ keys: [ForeignKey], _ imported: KeyImport, _ configuration: GateConfiguration,
    _ done: inout ImportVerdict
  ) throws -> StoreEditor {
    var rest = keys[...]
    var isFirst = true
    // Also without a key: whether it could be done is worth an answer.
    while isFirst || !rest.isEmpty && !done.isFull {
      let some = Array(rest.prefix(ForeignKeys.most))
      let request = ControlRequest.keysImport(ForeignKeys(some, imported, appID: appId))
      let answer =
        isFirst
        ? try ControlAccess.askIfRunning(request, configuration)
        : try ControlAccess.ask(request, configuration)
      guard let answer else {
        try StoreAccess.requireStoreOrSettings(configuration)
        try StoreAccess.locked(configuration) { store in try takeByHand(keys, imported, store, &done) }
        return .store
      }
      guard case .imported(let taken, let known, let isFull) = answer else {
        if done.taken > 0 { complain("\(done.taken) keys are imported; import again for the rest") }
        throw ControlAccess.unexpected(answer)
      }
      done.taken += taken
      done.known += known
      done.isFull = isFull
      rest = rest.dropFirst(some.count)
      isFirst = false
    }
    return .gate
  }

  private func takeByHand(
    _ keys: [ForeignKey], _ imported: KeyImport, _ store: KeyStore, _ done: inout ImportVerdict
  ) throws {
    var rest = keys[...]
    while !rest.isEmpty, !done.isFull {
      let some = Array(rest.prefix(ForeignKeys.most))
      rest = rest.dropFirst(some.count)
      let wait = CommitWait()
      let verdict = store.adopt(some, imported, appID: appId) { wait.complete($0) }
      guard wait.wait(within: CommitResult.deadline) == .committed else {
        complain("the store cannot be written: \(done.taken) keys are imported; import again for the rest")
        throw ExitStatus.ioError
      }
      done.taken += verdict.taken
      done.known += verdict.known
      done.isFull = verdict.isFull
    }
  }

  // MARK: Telling

  private static let mostSaid = 20

  /// - Parameter editor: nil when nothing was changed.
  private func tell(_ done: ImportVerdict, _ leftOut: Int, _ imported: KeyImport, by editor: StoreEditor?)
    throws
  {
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      for (name, count) in [
        (editor == nil ? "wouldImport" : "imported", done.taken), ("known", done.known), ("leftOut", leftOut),
      ] {
        writer.name(name)
        writer.value(count)
      }
      writer.name("goodUntil")
      writer.value(imported.goodUntil.timestamp)
      if let editor {
        writer.name("by")
        writer.value(editor.rawValue)
      }
      writer.endObject()
      try output.line(json: writer)
    } else {
      let word = editor == nil ? "would be imported" : "imported"
      try output.line(
        "\(word): \(done.taken)  here already: \(done.known)  left out: \(leftOut)  good until "
          + imported.goodUntil.timestamp + (editor.map { "  \($0.text)" } ?? ""))
    }
    try output.flush()
  }
}

extension KeySource: ExpressibleByArgument {}

extension ForeignKeys {
  fileprivate init(_ keys: [ForeignKey], _ imported: KeyImport, appID: String?) {
    self.init(
      source: imported.source.rawValue, goodUntil: imported.goodUntil.milliseconds, appID: appID,
      keys: keys.map {
        Key(
          identifier: $0.identifier, publicKey: $0.publicKey, signCount: $0.signCount,
          registeredAt: $0.registeredAt.milliseconds, lastUsedAt: $0.lastUsedAt?.milliseconds)
      })
  }
}

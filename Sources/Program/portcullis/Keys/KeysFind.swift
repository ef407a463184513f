/// `portcullis keys find`: from what the game knows a device by back to its key (docs/game.md,
/// "Banning a phone").
import ArgumentParser
import Assembly
import Bytes
import Configuration
import Identity
import KeyStore
import Prompt

struct KeysFind: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find", abstract: "Find the key behind a pseudonym.",
    discussion: """
      The pseudonym is what the game was told of a device: PORTCULLIS_DEVICE, or the value of type 0xE1 of a \
      PROXY header, in base64url. One line as keys list has it; with --json one object. Looks at all keys, with \
      the key of DEVICE_PSEUDONYM_KEY_PATH, and does not disturb a running gate. Ends with status 65 when no \
      key has the pseudonym: it was removed, or is another gate's, or a client certificate's, which no store keeps.
      """)

  @OptionGroup var settings: SettingsFile

  // One in 64 begins with a hyphen.
  @Option(parsing: .unconditional, help: "22 characters of base64url.")
  var pseudonym: DevicePseudonym

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let configuration = try settings.values()
    let contents = try StoreAccess.read(configuration)
    let key = try key(of: configuration, contents)
    var output = Output()
    var isFound = false
    try contents.forEach { identifier, record throws in
      guard key.pseudonym(ofKey: identifier) == pseudonym else { return }
      isFound = true
      if json {
        try output.line(json: KeyText.json(identifier, record, pseudonym))
      } else {
        try output.line(KeyText.line(identifier, record))
      }
    }
    try output.flush()
    if !isFound {
      complain("no key has the pseudonym \(pseudonym)")
      throw ExitStatus.dataError
    }
  }

  private func key(of configuration: GateConfiguration, _ contents: KeyStoreReader.Contents) throws
    -> PseudonymKey
  {
    let file = PseudonymKeyFile(path: configuration.store.pseudonymKeyPath)
    do throws(PseudonymKeyFile.Problem) {
      if let key = try file.read() { return key }
      if let since = contents.pseudonymKeyMadeAt { throw .lost(file.path, since: since) }
    } catch {
      complain(error.description)
      throw error.status
    }
    complain("\(PrintableText.field(file.path)) does not exist: a gate makes it at its first start")
    throw ExitStatus.dataError
  }
}

extension DevicePseudonym: ExpressibleByArgument {
  public init?(argument: String) { self.init(argument) }
}

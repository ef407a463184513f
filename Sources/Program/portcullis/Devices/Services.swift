/// `portcullis services`: the programs that may ask for approvals and pairings, and their tokens (docs/running.md,
/// "Commands").
import ArgumentParser
import Bytes
import JSON
import Prompt
import Registry

struct Services: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Add, list, rotate and revoke services.",
    discussion: "They ask the running gate over CONTROL_SOCKET.",
    subcommands: [ServicesAdd.self, ServicesList.self, ServicesRotate.self, ServicesRevoke.self])
}

struct ServicesAdd: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add", abstract: "Add a service, and print its token.",
    discussion: """
      The token alone goes to standard output, this once, or with --token-file into a new file: the gate keeps only its \
      hash. Scopes say what it may do: \
      approvals, codes, presence, pairings, devices.read.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "What it is called in audit and approvals.") var name: String
  @Option(help: "What it may do, with commas between.") var scopes: String
  @Option(help: "Where it stands, for what is set by site.") var site: String?
  @Option(help: "The subjects it may name; * stands for any run of letters. All, when left out.")
  var subjects: String?
  @Option(help: "A new file for the token (mode 0600), in the place of standard output.", completion: .file())
  var tokenFile: String?
  @Flag(help: "One JSON object; the token is in it without --token-file.") var json = false

  func run() throws {
    let configuration = try settings.values()
    let file = try tokenFile.map { try TokenFile($0, replacing: false) }
    let scopes = scopes.split(separator: ",", omittingEmptySubsequences: false).map {
      JSONValue.string(String($0))
    }
    let result = try RegistryAccess.order(
      .servicesAdd,
      [
        ("name", .string(name)), ("scopes", .array(scopes)), ("site", site.map(JSONValue.string)),
        ("subjects", subjects.map(JSONValue.string)),
      ], configuration)
    try ServiceToken.tell(result, "added \(PrintableText.field(name, limit: 128))", file, json: json)
    let words = scopes.compactMap(\.string)
    if words.contains("approvals"), words.contains("pairings") {
      complain(
        "\(PrintableText.field(name, limit: 128)) may pair phones and ask them: where a policy has \"level\": \"bare\", it "
          + "can approve what it asks; ask for app_attested there, or give pairings to a service of its own")
    }
  }
}

struct ServicesList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List services.",
    discussion: """
      One line a service: its name, state, scopes, subjects, site, and how many subjects have barred it. \
      With --json one array.
      """)

  @OptionGroup var settings: SettingsFile
  @Flag(help: "One JSON array.") var json = false

  func run() throws {
    let result = try RegistryAccess.order(.servicesList, [], try settings.values())
    try RegistryText.list(result, ["name", "state", "scopes", "subjects", "site", "barred_for"], json: json)
  }
}

struct ServicesRotate: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rotate", abstract: "Give a service a new token, and print it.",
    discussion: """
      The old token ends at once. The new one alone goes to standard output, or with --token-file into that file, in the \
      place of the old one, when the gate has given it.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The service's name.") var name: String
  @Option(help: "A file for the token (mode 0600); one that is there is replaced.", completion: .file())
  var tokenFile: String?
  @Flag(help: "One JSON object; the token is in it without --token-file.") var json = false

  func run() throws {
    let configuration = try settings.values()
    let file = try tokenFile.map { try TokenFile($0, replacing: true) }
    let result = try RegistryAccess.order(.servicesRotate, [("name", .string(name))], configuration)
    try ServiceToken.tell(result, "rotated \(PrintableText.field(name, limit: 128))", file, json: json)
  }
}

struct ServicesRevoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "Refuse a service from now on.",
    discussion: "Its token and its leases end at once. Ends with status 65 when there is no such service.")

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The service's name.") var name: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let result = try RegistryAccess.order(.servicesRevoke, [("name", .string(name))], try settings.values())
    try RegistryText.say("revoked \(PrintableText.field(name, limit: 128))", result, json: json)
  }
}

private enum ServiceToken {
  /// - Parameter words: what is said where the token is in a file.
  static func tell(_ result: JSONValue, _ words: String, _ file: TokenFile?, json: Bool) throws {
    guard let object = result.object, let token = object["token"]?.string else {
      complain("the running gate gave no token; is it of this version?")
      throw ExitStatus.software
    }
    guard try TokenFile.keep(token, in: file) else {
      return try RegistryText.say(PrintableText.field(token, limit: 256), result, json: json)
    }
    let rest = object.members.filter { $0.name != "token" }.map { (name: $0.name, value: $0.value) }
    try RegistryText.say(words, .object(JSONObject(rest)), json: json)
  }
}

/// `portcullis admin token` and `revoke`: by the running gate, or by hand when there is none (docs/console.md,
/// "Tokens").
import Admin
import ArgumentParser
import Assembly
import Bytes
import Configuration
import Control
import JSON
import Prompt
import System
import Time

struct AdminTokenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "token", abstract: "Make a token for a program.",
    discussion: """
      The token is printed this once. The program sends it as Authorization: Bearer. metrics opens /metrics, read all \
      that can be looked at, write changes as well.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "Who it is, in the audit: letters, digits, _, - and .")
  var name: String

  @Option(help: "How long it is good for: a number with s, m, h or d, at most 366d.")
  var expires = Age(days: 90)

  @Option(help: "metrics, read or write; several with commas.")
  var scopes: Scopes

  @Option(help: "A new file for the token (mode 0600), in the place of standard output.", completion: .file())
  var tokenFile: String?

  @Flag(help: "One JSON object; the token is in it without --token-file.")
  var json = false

  struct Scopes: ExpressibleByArgument {
    let words: [String]

    init?(argument: String) {
      words = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      guard AdminResult.scopes(words) != nil else { return nil }
    }
  }

  func run() throws {
    let configuration = try settings.values()
    let file = try tokenFile.map { try TokenFile($0, replacing: false) }
    let order = AdminOrder.token(name: name, scopes: scopes.words, seconds: expires.seconds)
    let result: JSONValue
    if let answer = try ControlAccess.askIfRunning(.admin(order), configuration) {
      guard case .admin(let made) = answer else { throw ControlAccess.unexpected(answer) }
      result = made
    } else {
      result = try makeByHand(configuration)
    }
    try tell(result, file)
  }

  private func tell(_ result: JSONValue, _ file: TokenFile?) throws {
    let token = result.object?["token"]?.string ?? ""
    let isKept = try TokenFile.keep(token, in: file)
    var output = Output()
    if json {
      let members = (result.object?.members ?? []).filter { !isKept || $0.name != "token" }
      var writer = JSONWriter()
      writer.value(.object(JSONObject(members.map { (name: $0.name, value: $0.value) })))
      try output.line(json: writer)
    } else {
      try output.line(isKept ? "made \(PrintableText.field(name, limit: 128))" : token)
    }
    try output.flush()
  }

  private func makeByHand(_ configuration: GateConfiguration) throws -> JSONValue {
    let now = SystemClock().wall()
    let secret = AccessSecret(KernelEntropy())
    let token = AdminToken(
      named: name, secret, scopes: AdminResult.scopes(scopes.words) ?? [], life: .seconds(expires.seconds),
      now: now)
    try AdminTokensByHand(configuration).edit { tokens in
      do throws(AdminTokens.Problem) {
        if configuration.admin.operators.contains(name) || name == "root" { throw .nameTaken }
        try tokens.add(token, now: now)
      } catch {
        complain(error.description)
        throw error.isOfState ? ExitStatus.dataError : .usage
      }
    }
    return AdminResult.token(token, secret: AdminToken.prefix + secret.text)
  }
}

struct AdminRevoke: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "revoke", abstract: "End what opens the console.",
    discussion: """
      A name ends the token of that name, or all that this user is signed in with and his links. At once, also in the \
      middle of a download. Ends with status 65 when there is nothing of the kind.
      """)

  @OptionGroup var settings: SettingsFile

  @Argument(help: "A token or a user, as admin list has them.")
  var name: String?

  @Option(help: "One session, by its number in admin list.")
  var session: UInt64?

  @Flag(help: "All tokens, sessions and links.")
  var all = false

  @Flag(help: "One JSON object.")
  var json = false

  func validate() throws {
    guard [name != nil, session != nil, all].count(where: \.self) == 1 else {
      throw ValidationError("name a token or a user, a session by --session, or all of them by --all")
    }
  }

  func run() throws {
    let configuration = try settings.values()
    let selection: AdminOrder.Selection =
      name.map { .name($0) } ?? session.map { .session($0) } ?? .all
    let result: JSONValue
    if let answer = try ControlAccess.askIfRunning(.admin(.revoke(selection)), configuration) {
      guard case .admin(let revoked) = answer else { throw ControlAccess.unexpected(answer) }
      result = revoked
    } else {
      result = try revokeByHand(selection, configuration)
    }
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.value(result)
      try output.line(json: writer)
    } else {
      let counts = ["tokens", "sessions", "links"].map { name in
        "\(name) \(result.object?[name]?.integer ?? 0)"
      }
      try output.line("revoked: \(counts.joined(separator: ", "))")
    }
    try output.flush()
  }

  /// Of what is on the disk, which is tokens: no gate runs that anybody could be signed in to.
  private func revokeByHand(
    _ selection: AdminOrder.Selection, _ configuration: GateConfiguration
  ) throws -> JSONValue {
    var revoked = AdminAccess.Revoked()
    try AdminTokensByHand(configuration).edit { tokens in
      revoked.tokens = tokens.remove { selection == .all || selection == .name($0) }
      guard !revoked.isNothing || selection == .all else { throw ControlAccess.refusal(AdminResult.unknown) }
    }
    return AdminResult.revoked(revoked)
  }
}

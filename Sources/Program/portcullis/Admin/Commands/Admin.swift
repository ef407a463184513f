/// `portcullis admin`: who may see the console (docs/console.md, "Signing in").
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

struct AdminCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "admin",
    abstract: "Sign in to the console, and make, list and revoke what opens it.",
    discussion: """
      link asks the running gate, as a user in ADMIN_OPERATORS, root or the gate's own user. The others are for root and \
      the gate's own user; when no gate is running they read and edit ADMIN_TOKENS_PATH.
      """,
    subcommands: [AdminLink.self, AdminTokenCommand.self, AdminList.self, AdminRevoke.self])
}

struct AdminLink: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link", abstract: "Print an address to sign in to the console by.",
    discussion: """
      Good for a minute, and for one browser. You are signed in as the user whom the kernel names, so sudo makes you root.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(
    name: .customLong("at"),
    help: """
      How your browser gets there, such as https://console.example.org behind a proxy or http://localhost:9000 through \
      a tunnel.
      """)
  var base: Base?

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let answer = try ControlAccess.ask(.admin(.link), try settings.values())
    guard case .admin(let result) = answer, let link = result.object, let path = link["path"]?.string,
      let stated = link["base"]?.string
    else { throw ControlAccess.unexpected(answer) }
    let address = (base?.text ?? stated) + path
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginObject()
      writer.name("address")
      writer.value(address)
      for name in ["user", "seconds"] {
        writer.name(name)
        writer.value(link[name] ?? .null)
      }
      writer.endObject()
      try output.line(json: writer)
    } else {
      try output.line(address)
    }
    try output.flush()
  }

  /// An origin: nothing that stands behind the port.
  struct Base: ExpressibleByArgument {
    let text: String

    init?(argument: String) {
      let text = argument.hasSuffix("/") ? String(argument.dropLast()) : argument
      guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return nil }
      let rest = text.dropFirst(scheme.count).utf8
      guard !rest.isEmpty, rest.allSatisfy({ (0x21...0x7E).contains($0) && !"/?#@\"\\<>".utf8.contains($0) })
      else {
        return nil
      }
      self.text = text
    }
  }
}

struct AdminList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List who is signed in, links that wait, and tokens.",
    discussion: """
      One line each: what it is, the name, and times. Never what opens anything: that is shown once, when it is made.
      """)

  @OptionGroup var settings: SettingsFile

  @Flag(help: "One JSON object.")
  var json = false

  func run() throws {
    let configuration = try settings.values()
    let result = try listing(configuration)
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.value(result)
      try output.line(json: writer)
    } else {
      for line in lines(result) { try output.line(line) }
    }
    try output.flush()
  }

  private func listing(_ configuration: GateConfiguration) throws -> JSONValue {
    guard let answer = try ControlAccess.askIfRunning(.admin(.list), configuration) else {
      let tokens = try AdminTokensByHand(configuration).read()
      return AdminResult.listing(tokens, now: SystemClock().wall())
    }
    guard case .admin(let result) = answer else { throw ControlAccess.unexpected(answer) }
    return result
  }

  private func lines(_ result: JSONValue) -> [String] {
    func rows(_ name: String) -> [JSONObject] {
      (result.object?[name]?.array ?? []).compactMap(\.object)
    }
    func text(_ row: JSONObject, _ name: String) -> String {
      switch row[name] {
      case .string(let text): PrintableText.field(text, limit: 128)
      case .number(let number): number.text
      case .array(let words): words.compactMap(\.string).joined(separator: ",")
      default: "-"
      }
    }
    return rows("sessions").map { row in
      "session \(text(row, "session"))  \(text(row, "user"))  since \(text(row, "startedAt"))  last used "
        + text(row, "lastUsedAt")
    }
      + rows("links").map { row in
        "link  \(text(row, "user"))  made \(text(row, "madeAt"))  \(text(row, "secondsLeft"))s left"
      }
      + rows("tokens").map { row in
        "token  \(text(row, "name"))  \(text(row, "scopes"))  made \(text(row, "createdAt"))  "
          + "\(row["expired"]?.boolean == true ? "expired" : "until") \(text(row, "expiresAt"))"
      }
  }
}

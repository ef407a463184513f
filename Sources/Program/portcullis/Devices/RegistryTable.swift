/// The registry's answers at a terminal: tables with relative times, and requests as a person reads them.
import Bytes
import JSON
import Prompt
import System
import Time

struct RegistryTable {
  /// What names a thing in other commands, or is a word of the gate's.
  private static let whole: Set = [
    "device_id", "id", "name", "state", "status", "level", "uv", "platform", "barred_for",
  ]

  private let members: [String]
  private let now = SystemClock().wall()
  private var table: TextTable

  /// - Parameter members: of the objects that are shown; `except.until` goes one deeper.
  init(_ members: [String], headings: [String: String] = [:]) {
    self.members = members
    table = TextTable(
      members.map { name in
        let heading = headings[name] ?? name.uppercased().replacing("_", with: " ")
        return .init(heading, isNumber: name == "barred_for", canBeCut: !Self.whole.contains(name))
      })
  }

  mutating func add(_ element: JSONValue, to output: inout Output) throws {
    let cells = members.map { name in
      var value: JSONValue? = element
      for part in name.split(separator: ".") { value = value?.object?[String(part)] }
      let text = RegistryText.text(value, of: String(name.split(separator: ".").last ?? ""), at: now)
      return TextTable.Cell(text, Self.colour(name, text))
    }
    try output.row(cells, of: &table)
  }

  mutating func finish(_ output: inout Output) throws {
    try output.rows(of: &table)
    try output.flush()
  }

  static func colour(_ member: String, _ text: String) -> Paint.Colour? {
    guard member == "state" || member == "status" else { return nil }
    return switch text {
    case "active", "approved": .good
    case "pending": .doubtful
    case "revoked", "denied", "reported": .bad
    default: .dim
    }
  }
}

/// A request in a list: what is asked, in lines of its own.
enum RequestText {
  static func lines(_ request: JSONObject, at now: UnixTime, _ paint: Paint) -> [String] {
    func text(_ name: String) -> String { RegistryText.text(request[name], of: name, at: now) }
    let state = paint(text("state"), RegistryTable.colour("state", text("state")))
    let isPending = request["state"]?.string == "pending"
    let end = isPending ? "  ends \(text("expires_at"))" : ""
    let target = (request["target"]?.object?.members ?? []).map { member in
      "  \(PrintableText.field(member.name, limit: 128))=\(RegistryText.text(member.value, of: member.name))"
    }
    let people = [("requester", "asked by"), ("service", "through"), ("subject", "for")].compactMap {
      name, words in
      request[name].map { _ in
        "\(words) \(name == "requester" && request["requester_name"] != nil ? text("requester_name") : text(name))"
      }
    }
    return [
      "\(paint(text("id"), .bold))  \(state)\(end)", "  \(text("operation"))\(target.joined())",
    ] + (request["text"].map { _ in ["  \(text("text"))"] } ?? []) + ["  \(people.joined(separator: ", "))"]
  }
}

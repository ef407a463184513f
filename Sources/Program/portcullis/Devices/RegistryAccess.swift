/// How commands order something of the running gate's registry, and what they print of its answers (docs/running.md,
/// "Commands").
import ArgumentParser
import Bytes
import Configuration
import Control
import JSON
import Prompt
import Registry
import System
import Time

enum RegistryAccess {
  /// The answer, or the reason on standard error and an exit status. Arguments without a value are left out.
  static func order(
    _ verb: OperatorVerb, _ arguments: [(name: String, value: JSONValue?)], _ configuration: GateConfiguration
  ) throws -> JSONValue {
    let answer = try ControlAccess.ask(.registry(made(verb, arguments)), configuration)
    guard case .registry(let result) = answer else { throw ControlAccess.unexpected(answer) }
    return result
  }

  /// Over `APPROVALS_SOCKET`, where the kernel says who asks. Without one, the gate's own user and root may look at
  /// approvals and take them back over `CONTROL_SOCKET`.
  static func orderOfUser(
    _ verb: OperatorVerb, _ arguments: [(name: String, value: JSONValue?)],
    _ configuration: GateConfiguration,
    needsSocket: Bool = false
  ) throws -> JSONValue {
    guard let path = configuration.devices.approvalsSocket.path else {
      guard needsSocket else { return try order(verb, arguments, configuration) }
      complain(
        "APPROVALS_SOCKET is not set: without it the gate does not know who asks; set it, and restart the gate"
      )
      throw ExitStatus.configuration
    }
    let answer = try ControlAccess.ask(
      .registry(made(verb, arguments)), at: path, setting: "APPROVALS_SOCKET")
    guard case .registry(let result) = answer else { throw ControlAccess.unexpected(answer) }
    return result
  }

  private static func made(_ verb: OperatorVerb, _ arguments: [(name: String, value: JSONValue?)])
    -> RegistryOrder
  {
    RegistryOrder(verb, arguments.compactMap { name, value in value.map { (name, $0) } })
  }
}

/// Rows that come a page at a time, so that no order holds the registry up for long.
struct RegistryPages {
  static let rows: Int64 = 500

  let verb: OperatorVerb
  let arguments: [(name: String, value: JSONValue?)]
  /// The member of a row behind which the next page begins.
  let cursor: String
  let configuration: GateConfiguration

  /// At most `limit` rows from behind `after` on.
  func each(after: JSONValue? = nil, limit: Int64 = .max, _ take: ([JSONValue]) throws -> Void) throws {
    var (after, left) = (after, limit)
    while left > 0 {
      let wanted = min(left, Self.rows)
      let result = try RegistryAccess.order(
        verb, arguments + [("after", after), ("limit", .number(JSONNumber(wanted)))], configuration)
      let rows = result.array ?? []
      try take(rows)
      guard let last = rows.last?.object?[cursor], last != after, rows.count >= wanted else { return }
      after = last
      left -= Int64(rows.count)
    }
  }

  func all(after: JSONValue? = nil, limit: Int64 = .max) throws -> [JSONValue] {
    var all: [JSONValue] = []
    try each(after: after, limit: limit) { all += $0 }
    return all
  }
}

/// What the registry's answers look like to an operator.
enum RegistryText {
  /// One line an element with these members, or with `--json` the array as it is.
  static func list(_ result: JSONValue, _ members: [String], json: Bool) throws {
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.value(result)
      try output.line(json: writer)
    } else {
      if Output.isTerminal {
        var table = RegistryTable(members)
        for element in result.array ?? [] { try table.add(element, to: &output) }
        return try table.finish(&output)
      }
      for element in result.array ?? [] { try output.line(line(element, members)) }
    }
    try output.flush()
  }

  static func line(_ element: JSONValue, _ members: [String]) -> String {
    members.map { text(element.object?[$0], of: $0) }.joined(separator: "  ")
  }

  /// Names and values below each other, or with `--json` the object.
  static func show(_ result: JSONValue, json: Bool) throws {
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.value(result)
      try output.line(json: writer)
    } else {
      for line in columns(rows(of: result, under: "")) { try output.line(line) }
    }
    try output.flush()
  }

  /// A line of words, or with `--json` the object.
  static func say(_ words: String, _ result: JSONValue, json: Bool) throws {
    guard !json else { return try show(result, json: true) }
    var output = Output()
    try output.line(words)
    try output.flush()
  }

  private static func rows(of value: JSONValue, under path: String) -> [(String, String)] {
    switch value {
    case .object(let object):
      object.members.flatMap { member in
        rows(of: member.value, under: path.isEmpty ? member.name : "\(path).\(member.name)")
      }
    case .array(let elements) where elements.contains { $0.object != nil }:
      elements.enumerated().flatMap { index, element in rows(of: element, under: "\(path).\(index + 1)") }
    default: [(PrintableText.field(path, limit: 128), text(value, of: lastName(of: path)))]
    }
  }

  private static func lastName(of path: String) -> String {
    path.split(separator: ".").last.map(String.init) ?? path
  }

  /// Times are Unix seconds there, and dates here.
  /// - Parameter now: where given, times are relative to it.
  static func text(_ value: JSONValue?, of name: String, at now: UnixTime? = nil) -> String {
    switch value {
    case nil, .null: "-"
    case .boolean(let boolean): boolean ? "true" : "false"
    case .number(let number):
      if let seconds = number.integer, isTime(name), (0...253_402_300_799).contains(seconds) {
        time(UnixTime(milliseconds: seconds * 1000), at: now)
      } else {
        number.text
      }
    case .string(let string): PrintableText.field(string, limit: 8192)
    case .array(let elements):
      elements.isEmpty ? "-" : elements.map { text($0, of: name) }.joined(separator: ",")
    case .object(let object):
      object.members.isEmpty
        ? "-"
        : object.members.map { "\(PrintableText.field($0.name, limit: 128))=\(text($0.value, of: $0.name))" }
          .joined(separator: ",")
    }
  }

  private static func time(_ time: UnixTime, at now: UnixTime?) -> String {
    now.map { Wording.relative(time, to: $0) } ?? time.timestamp
  }

  private static func isTime(_ name: String) -> Bool {
    name.hasSuffix("_at") || ["at", "until"].contains(name)
  }
}

/// A moment on the command line: a day (UTC), a timestamp, or a length of time.
struct Moment: ExpressibleByArgument {
  private enum Kind {
    case at(UnixTime)
    /// From its first second on.
    case day(UnixTime)
    case length(Age)
  }

  private let kind: Kind

  init?(argument: String) {
    if let age = Age(argument: argument) {
      kind = .length(age)
    } else if let time = UnixTime(timestamp: argument) {
      kind = .at(time)
    } else if let start = UnixTime(timestamp: "\(argument)T00:00:00Z") {
      kind = .day(start)
    } else {
      return nil
    }
  }

  /// In whole Unix seconds, so far ahead of `now`; a day counts to its end.
  func seconds(after now: UnixTime) -> Int64 {
    switch kind {
    case .at(let time): time.seconds
    case .day(let start): start.seconds + 86_400
    case .length(let age): now.seconds + age.seconds
    }
  }

  /// In whole Unix seconds, so long before `now`; a day counts from its beginning.
  func seconds(before now: UnixTime) -> Int64 {
    switch kind {
    case .at(let time), .day(let time): time.seconds
    case .length(let age): now.seconds - age.seconds
    }
  }
}

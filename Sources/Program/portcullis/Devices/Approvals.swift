/// `portcullis approvals`: asking for approvals, and what operators do about them (docs/running.md, "Approvals socket").
import ArgumentParser
import Bytes
import Control
import JSON
import Prompt
import Registry
import System
import Time

struct Approvals: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Ask for approvals; list, approve, deny and cancel them.",
    discussion: """
      They use APPROVALS_SOCKET, where the kernel tells the gate who asks; list, show and cancel use CONTROL_SOCKET \
      where there is none. What operators may confirm is said by APPROVAL_POLICY and APPROVAL_OPERATORS.
      """,
    subcommands: [
      ApprovalsRequest.self, ApprovalsList.self, ApprovalsShow.self, ApprovalsApprove.self,
      ApprovalsDeny.self,
      ApprovalsCancel.self, ApprovalsUnbar.self,
    ])
}

struct ApprovalsRequest: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "request", abstract: "Ask for an approval.",
    discussion: """
      The id alone goes to standard output, and to standard error the code that the approver has to enter, where \
      there is one: it is meant for the person who asks.
      """)

  @OptionGroup var settings: SettingsFile
  @Option(help: "What is to be done, as the policy names it.") var operation: String
  @Option(help: "What it is done to, as name=value; may be given several times.") var target: [TargetMember] =
    []
  @Option(help: "What the approver is told, beside operation and target.") var text: String
  @Option(help: "On whose behalf.") var subject: String?
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    guard Set(target.map { Array($0.name.utf8) }).count == target.count else {
      complain("--target names a member twice")
      throw ExitStatus.usage
    }
    let members = target.map { (name: $0.name, value: JSONValue.string($0.value)) }
    let result = try RegistryAccess.orderOfUser(
      .approvalsRequest,
      [
        ("operation", .string(operation)), ("target", .object(JSONObject(members))), ("text", .string(text)),
        ("subject", subject.map(JSONValue.string)),
      ], try settings.values(), needsSocket: true)
    guard let id = result.object?["id"]?.string else {
      complain("the running gate gave no id; is it of this version?")
      throw ExitStatus.software
    }
    if !json, let code = result.object?["match_code"]?.string {
      complain("the approver has to enter \(PrintableText.field(code, limit: 16))")
    }
    try RegistryText.say(PrintableText.field(id, limit: 64), result, json: json)
  }
}

/// `name=value`; the value may be empty and may hold further equals signs.
struct TargetMember: ExpressibleByArgument {
  let name: String
  let value: String

  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "="), equals > argument.startIndex else { return nil }
    name = String(argument[..<equals])
    value = String(argument[argument.index(after: equals)...])
  }
}

struct ApprovalsList: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List approvals.",
    discussion: """
      One line an approval: its id, state, operation, service, requester, subject, when it expires, target and text. \
      At a terminal \
      each has some lines, and times are relative. With --json one array.

      With --barred, requesters and services that a person has reported: service, requester, subject, and since when. \
      Without a requester it is the service that was reported three times.
      """)

  @OptionGroup var settings: SettingsFile
  @Option(help: "Only those in this state: pending, approved, denied, reported, expired or cancelled.")
  var state: ApprovalState?
  @Flag(help: "Requesters and services that a person has reported.") var barred = false
  @Flag(help: "One JSON array.") var json = false

  func validate() throws {
    if barred, state != nil { throw ValidationError("--barred shows no approvals: leave out --state") }
  }

  func run() throws {
    if barred {
      let result = try RegistryAccess.orderOfUser(.barsList, [], try settings.values())
      return try RegistryText.list(result, ["service", "requester", "subject", "at"], json: json)
    }
    let result = try RegistryAccess.orderOfUser(
      .approvalsList, [("state", state.map { .string($0.rawValue) })], try settings.values())
    if !json, Output.isTerminal { return try show(result.array ?? []) }
    try RegistryText.list(
      result,
      ["id", "state", "operation", "service", "requester", "subject", "expires_at", "target", "text"],
      json: json)
  }

  private func show(_ requests: [JSONValue]) throws {
    var output = Output()
    let now = SystemClock().wall()
    for (index, request) in requests.compactMap(\.object).enumerated() {
      if index > 0 { try output.line("") }
      for line in RequestText.lines(request, at: now, .standardOutput) { try output.line(line) }
    }
    if requests.isEmpty { try output.line("no requests") }
    try output.flush()
  }
}

extension ApprovalState: ExpressibleByArgument {}

struct ApprovalsShow: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Show one approval.",
    discussion: """
      What is to be done, for whom, and what the policy asks for. With --json as verify reads it. Ends with \
      status 65 when there is no such approval.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The approval's id.") var approval: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let configuration = try settings.values()
    let id = JSONValue.string(approval)
    if json {
      let result = try RegistryAccess.orderOfUser(.approvalsShow, [("id", id)], configuration)
      return try RegistryText.show(result, json: true)
    }
    let result = try RegistryAccess.orderOfUser(.approvalsLook, [("id", id)], configuration)
    var output = Output()
    for line in ApprovalFacts.lines(result) { try output.line(line) }
    try output.flush()
  }
}

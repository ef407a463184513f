/// `portcullis approvals approve`, `deny` and `cancel` (docs/running.md, "Approvals socket").
import ArgumentParser
import Bytes
import JSON
import Prompt
import Registry

struct ApprovalsApprove: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "approve", abstract: "Approve as an operator.",
    discussion: """
      Counts as the factor operator, where the policy asks for it, of a user of APPROVAL_OPERATORS who is not the \
      requester. Shows the request first, as approvals show does; at a terminal it asks then, and ends with status 1 \
      unless the answer is yes.
      """)

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The approval's id.") var approval: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let configuration = try settings.values()
    let arguments = [(name: "id", value: JSONValue?.some(.string(approval)))]
    let found = try RegistryAccess.orderOfUser(.approvalsLook, arguments, configuration, needsSocket: true)
    try show(found)
    // Where his word does not count, the refusal says why.
    if Question.canBeAsked, found.object?["own_word"]?.string == "awaited" {
      try Question.ask("approve this request?")
    }
    let result = try RegistryAccess.orderOfUser(
      .approvalsApprove, arguments, configuration, needsSocket: true)
    try ApprovalText.say(approval, result, json: json)
  }

  /// Before a JSON object on standard output only where somebody reads along.
  private func show(_ found: JSONValue) throws {
    let lines = ApprovalFacts.lines(found)
    guard !json else {
      if Question.canBeAsked { for line in lines { tell(line + "\n") } }
      return
    }
    var output = Output()
    for line in lines { try output.line(line) }
    try output.flush()
  }
}

struct ApprovalsDeny: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deny", abstract: "Deny as an operator; one denial is enough.")

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The approval's id.") var approval: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let result = try RegistryAccess.orderOfUser(
      .approvalsDeny, [("id", .string(approval))], try settings.values(), needsSocket: true)
    try ApprovalText.say(approval, result, json: json)
  }
}

struct ApprovalsCancel: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel", abstract: "Take a request for an approval back.")

  @OptionGroup var settings: SettingsFile
  @Argument(help: "The approval's id.") var approval: String
  @Flag(help: "One JSON object.") var json = false

  func run() throws {
    let result = try RegistryAccess.orderOfUser(
      .approvalsCancel, [("id", .string(approval))], try settings.values())
    try ApprovalText.say(approval, result, json: json)
  }
}

private enum ApprovalText {
  static func say(_ approval: String, _ result: JSONValue, json: Bool) throws {
    let state = result.object?["state"]?.string ?? "done"
    var words = "\(approval)  \(PrintableText.field(state, limit: 32))"
    if let needed = result.object?["votes_needed"]?.integer, needed > 0 {
      words += "  votes needed: \(needed)"
    }
    try RegistryText.say(words, result, json: json)
  }
}

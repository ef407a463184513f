/// `portcullis explain`: what the files of policies make of a request, without a gate (docs/policies.md).
import ApprovalPolicy
import ArgumentParser
import Bytes
import Configuration
import Inspection
import Prompt

struct Explain: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Explain what an approval requires, or why a phone gets no one-time code.",
    subcommands: [ExplainApproval.self, ExplainRisk.self])
}

struct ExplainApproval: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "approval", abstract: "Say what the approval of an operation takes, and which rules say so.",
    discussion: """
      One block a rule: whether it holds and why not, and what it demands; then the result, each part with the rules \
      that it comes from. Ends with status 65 when the policy refuses the request.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "What is to be done, as a service would name it.")
  var operation: String

  @Option(help: ArgumentHelp("A member of the target; may come several times.", valueName: "name=value"))
  var target: [String] = []

  @Option(help: "A file to go by instead of APPROVAL_POLICY.", completion: .file())
  var policy: String?

  func run() throws {
    let request = ApprovalQuestion(operation: operation, target: try members())
    let explanation = try PolicyText.approvals(try path()).explain(request)
    var output = Output()
    for line in explanation.lines { try output.line(line) }
    try output.flush()
    if explanation.isRefused { throw ExitStatus.dataError }
  }

  private func members() throws -> [(String, String)] {
    var members: [(String, String)] = []
    for text in target {
      let parts = text.utf8.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(decoding: parts[0], as: UTF8.self)
      guard parts.count == 2, !members.contains(where: { $0.0.utf8.elementsEqual(name.utf8) }) else {
        complain("--target \(PrintableText.field(text)): write name=value, and each name once")
        throw ExitStatus.usage
      }
      members.append((name, String(decoding: parts[1], as: UTF8.self)))
    }
    return members
  }

  private func path() throws -> String {
    if let policy { return policy }
    if let path = try settings.values().devices.approvalPolicyPath { return path }
    complain("APPROVAL_POLICY is not set: name a file with --policy")
    throw ExitStatus.configuration
  }
}

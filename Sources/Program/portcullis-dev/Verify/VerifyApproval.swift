/// `portcullis verify approval`: the result of a request, checked with nothing but the file (docs/approvals.md, "One curl
/// for an approval").
import ArgumentParser
import Bytes
import Configuration
import Crypto
import DeviceWire
import Prompt
import Registry

struct VerifyApproval: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "approval", abstract: "Check the result of a request for an approval.",
    discussion: """
      FILE is what GET /approvals/{id} has answered, or approvals show --json. Says who has signed what, and \
      ends with status 1 when a rule is broken. That it was approved is said by its state, and by the status of \
      --approved. Whose the keys are, and that an operator has agreed, is the gate's word.
      """)

  @Flag(help: "Also end with status 1 when the state is another than approved.")
  var approved = false

  @Argument(help: "The file to check.", completion: .file())
  var file: String

  func run() throws {
    let contents: [UInt8]
    do {
      contents = try SystemFiles().contents(of: file, limit: Self.largestFile)
    } catch {
      complain("\(file): \(error)")
      throw ExitStatus.dataError
    }
    guard contents.count <= Self.largestFile else {
      complain("\(file): larger than \(Self.largestFile >> 20) MiB")
      throw ExitStatus.dataError
    }
    var output = Output()
    let proof: ApprovalProof
    do throws(ApprovalProof.Step) {
      proof = try ApprovalProof(checking: contents.span, by: P256Verifier())
    } catch {
      try output.line("reject  \(PrintableText.field(file))  \(error.rawValue)  not so: \(error.rule)")
      try output.flush()
      throw ExitCode(1)
    }
    try output.line("accept  \(PrintableText.field(file))  \(proof.id)  \(proof.state)")
    for line in columns(Self.facts(proof)) { try output.line("  \(line)") }
    try output.flush()
    if approved, proof.state != "approved" { throw ExitCode(1) }
  }

  private static let largestFile = 1 << 20

  private static func facts(_ proof: ApprovalProof) -> [(String, String)] {
    let summary = proof.summary
    var facts = [("service", summary.service), ("requester", summary.requester.id)]
    if let subject = summary.subject { facts.append(("subject", subject)) }
    facts.append(("operation", summary.operation))
    facts += summary.target.members.map { ("target \(PrintableText.field($0.name))", $0.value) }
    facts.append(("text", summary.text))
    facts += proof.votes.map { vote in
      ("vote \(vote.vote.decision.rawValue)", "\(vote.device)  key \(vote.keyHash.hex)")
    }
    return facts.map { ($0.0, PrintableText.field($0.1, limit: 4096)) }
  }
}

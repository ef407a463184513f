/// The result of a request, checked with nothing but the file (docs/approvals.md, "One curl for an approval").
import ArgumentParser
import Bytes
import Configuration
import Crypto
import DeviceWire
import Prompt
import Registry

struct ApprovalCheck {
  /// Another state than approved is a failure as well.
  let approved: Bool
  let file: String

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

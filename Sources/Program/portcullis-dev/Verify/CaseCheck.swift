/// Recorded attestations, assertions, messages of devices and summaries, judged offline, as the gate would
/// (docs/app-attest.md; docs/devices.md; docs/running.md, "Commands").
import AndroidKey
import AppAttest
import ArgumentParser
import Bytes
import Configuration
import Crypto
import DeviceWire
import JSON
import PlayIntegrity
import Prompt
import System
import Time
import Vectors

struct CaseCheck {
  /// A file holds one JSON object a line.
  let jsonl: Bool
  let files: [String]

  func run() throws {
    var output = Output()
    var result = Tally()
    for path in files {
      var judge = FileJudge(path: path)
      let contents: [UInt8]
      do {
        contents = try SystemFiles().contents(of: path, limit: Self.largestFile)
      } catch {
        complain("\(path): \(error)")
        throw ExitStatus.dataError
      }
      guard contents.count <= Self.largestFile else {
        complain("\(path): larger than \(Self.largestFile >> 20) MiB")
        throw ExitStatus.dataError
      }
      if jsonl {
        try verifyLines(contents, &judge, &result, &output)
      } else {
        try explain(contents, &judge, &result, &output)
      }
    }
    try output.flush()
    if result.isMalformed { throw ExitStatus.dataError }
    if result.differs { throw ExitCode(1) }
  }

  private struct Tally {
    var isMalformed = false
    var differs = false
  }

  private static let largestFile = 1 << 30

  // MARK: One line a case

  private func verifyLines(
    _ contents: [UInt8], _ judge: inout FileJudge, _ tally: inout Tally, _ output: inout Output
  ) throws {
    var number = 0
    for line in contents.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
      number += 1
      if line.allSatisfy({ $0 == 0x20 || $0 == 0x0D || $0 == 0x09 }) { continue }
      let judged: FileJudge.Judged
      do throws(VectorError) {
        judged = try judge.judge(Array(line))
      } catch {
        tally.isMalformed = true
        complain("\(judge.path):\(number): \(error)")
        continue
      }
      try output.line(json: Self.verdictLine(judged))
      if judged.differs {
        tally.differs = true
        complain("\(judge.path):\(number): \(PrintableText.field(judged.name)) differs from its expect")
      }
    }
  }

  private static func verdictLine(_ judged: FileJudge.Judged) -> JSONWriter {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("name")
    writer.value(judged.name)
    writer.name("result")
    switch judged.verdict {
    case nil: writer.value("unsupported")
    case .accept:
      writer.value("accept")
      judged.risk?.write(to: &writer)
    case .reject(let check, _):
      writer.value("reject")
      writer.name("check")
      writer.value(check)
    }
    writer.endObject()
    return writer
  }

  // MARK: For people

  private func explain(
    _ contents: [UInt8], _ judge: inout FileJudge, _ tally: inout Tally, _ output: inout Output
  ) throws {
    let judged: FileJudge.Judged
    do throws(VectorError) {
      judged = try judge.judge(contents)
    } catch {
      complain("\(judge.path): \(error)")
      tally.isMalformed = true
      return
    }
    guard let verdict = judged.verdict else {
      complain("\(judge.path): of no kind that can be judged")
      tally.isMalformed = true
      return
    }
    let title = "\(judge.path)  \(PrintableText.field(judged.name))"
    switch verdict {
    case .accept(let facts):
      try output.line("accept  \(title)")
      for line in columns(judged.steps) { try output.line("  ok  \(line)") }
      for line in columns(facts.map { ($0.name, $0.value) }) { try output.line("  \(line)") }
    case .reject(let check, let reason):
      try output.line("reject  \(title)")
      let rule = judged.steps.first { $0.0 == check }?.1 ?? "the input can be read"
      let why = reason == rule ? "" : "  (\(PrintableText.field(reason, limit: 200)))"
      try output.line("  fails  \(check)  not so: \(rule)\(why)")
    }
    if judged.differs {
      tally.differs = true
    } else if judged.expectation == nil, case .reject = verdict {
      tally.differs = true
    }
  }
}

/// Judges the objects of one file, with the roots that lie beside it.
struct FileJudge {
  let path: String
  private var verifiers: [String: AttestationVerifier] = [:]
  private let signatures = P256Verifier()

  struct Judged {
    let name: String
    /// Nil when the object is of a kind that cannot be judged.
    var verdict: VectorVerdict?
    var expectation: Expectation?
    /// All steps of such a verification in order: word and rule.
    var steps: [(String, String)] = []
    /// What a recorded request for a code is answered with.
    var risk: RiskAnswer?
    /// Whether that is other than it was expected to be.
    var hasOtherRisk = false

    var differs: Bool {
      guard let expectation else { return false }
      return hasOtherRisk || verdict?.differs(from: expectation) == true
    }
  }

  init(path: String) {
    self.path = path
  }

  mutating func judge(_ text: [UInt8]) throws(VectorError) -> Judged {
    switch try VectorLine(parsing: text.span) {
    case .unsupported(let name): return Judged(name: name)
    case .verifiable(let vector): return try judge(vector)
    case .message(let message):
      return Judged(
        name: message.name, verdict: message.judge(by: signatures), expectation: message.expectation,
        steps: MessageStep.allCases.map { ($0.rawValue, $0.rule) })
    case .summary(let summary):
      return Judged(
        name: summary.name, verdict: summary.judge(), expectation: summary.expectation,
        steps: CanonicalJSONError.allCases.map { ($0.rawValue, $0.rule) })
    case .play(let play):
      return Judged(
        name: play.name, verdict: play.judge(by: signatures), expectation: play.expectation,
        steps: PlayRejection.allCases.map { ($0.rawValue, $0.rule) })
    case .risk(let risk):
      return Judged(
        name: risk.name, verdict: risk.judge(), expectation: risk.expectation,
        steps: [(MessageStep.signals.rawValue, MessageStep.signals.rule)], risk: risk.answer,
        hasOtherRisk: risk.differs)
    case .androidKey(let attestation):
      return Judged(
        name: attestation.name, verdict: attestation.judge(), expectation: attestation.expectation,
        steps: AndroidKeyRejection.allCases.map { ($0.rawValue, $0.rule) })
    case .sweep(let sweep):
      return Judged(
        name: sweep.name, verdict: try sweep.judge(by: signatures), expectation: sweep.expectation)
    }
  }

  private mutating func judge(_ vector: VectorCase) throws(VectorError) -> Judged {
    let verdict: VectorVerdict
    let steps: [(String, String)]
    switch vector.subject {
    case .attestation(let attestation):
      verdict = VectorJudge.judge(
        vector, attestation: attestation, by: try verifier(root: attestation.root), now: SystemClock().wall())
      steps = AttestationStep.allCases.map { ($0.rawValue, $0.rule) }
    case .assertion(let assertion):
      verdict = VectorJudge.judge(vector, assertion: assertion)
      steps = AssertionStep.allCases.map { ($0.rawValue, $0.rule) }
    }
    return Judged(name: vector.name, verdict: verdict, expectation: vector.expectation, steps: steps)
  }

  private mutating func verifier(root name: String) throws(VectorError) -> AttestationVerifier {
    if let known = verifiers[name] { return known }
    let root: AttestationRoot
    if name == "apple" {
      root = .apple()
    } else {
      root = try self.root(name)
    }
    let verifier = AttestationVerifier(root: root)
    verifiers[name] = verifier
    return verifier
  }

  private func root(_ name: String) throws(VectorError) -> AttestationRoot {
    let shown = PrintableText.field(name, limit: 128)
    guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")) else {
      throw VectorError("root \(shown) is no file beside the vectors")
    }
    let directory = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    let pem: [UInt8]
    do throws(SystemError) {
      pem = try SystemFiles().contents(of: directory + name, limit: 1 << 20)
    } catch {
      throw VectorError("root \(shown): \(error)")
    }
    do throws(AttestationRootError) {
      return try AttestationRoot(pem: pem.span)
    } catch {
      throw VectorError("root \(shown): \(error)")
    }
  }
}

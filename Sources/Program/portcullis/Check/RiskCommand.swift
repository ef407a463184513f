/// `portcullis risk`: what a file of RISK_POLICY says, and what it makes of a recorded request, without a gate
/// (docs/risk.md).
import ApprovalPolicy
import ArgumentParser
import Bytes
import Configuration
import DeviceWire
import JSON
import Risk
import System
import Vectors

struct RiskCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "risk", abstract: "Check and explain when a phone gets no one-time code.",
    subcommands: [RiskCheck.self, RiskExplain.self])
}

struct RiskCheck: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check", abstract: "Look for anything wrong in a file of RISK_POLICY.",
    discussion: """
      Tells every problem with its member, what stands there and what to write instead, and then ends with status 78.
      """)

  @Argument(help: "The file to look at.", completion: .file())
  var file: String

  func run() throws {
    let policy = try PolicyText.risk(file)
    var output = Output()
    try output.line("ok  \(PrintableText.field(file))  \(Self.summary(policy))")
    try output.flush()
  }

  private static func summary(_ policy: RiskPolicy) -> String {
    let bands = [("presence", policy.presenceBand), ("denied", policy.denyBand)].compactMap { word, band in
      band.map { "\(word) from \($0) on" }
    }
    let shown = bands.isEmpty ? "no bands" : bands.joined(separator: ", ")
    return "\(shown), \(policy.isEnforced ? "enforced" : "only logged")"
  }
}

struct RiskExplain: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Say what speaks against a recorded request, and what a policy makes of it.",
    discussion: """
      FILE holds a request as docs/risk.md describes it, or one a line: the phone's signals, what the gate knew, and \
      the record before. Each reason is listed with what it counts, and so is what is not known; then the sum and its \
      band. Ends with status 65 when FILE is not what it should be.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "A file to go by instead of RISK_POLICY.", completion: .file())
  var policy: String?

  @Flag(help: "One JSON array, an object for each request.")
  var json = false

  @Argument(help: "The recorded request.", completion: .file())
  var file: String

  func run() throws {
    let requests = try requests()
    let policy = try chosenPolicy()
    var output = Output()
    if json {
      var writer = JSONWriter()
      writer.beginArray()
      for request in requests { Explanation(request, policy).write(to: &writer) }
      writer.endArray()
      try output.line(json: writer)
    } else {
      for request in requests {
        for line in Explanation(request, policy).lines { try output.line(line) }
      }
    }
    try output.flush()
  }

  private func chosenPolicy() throws -> RiskPolicy {
    guard let path = try policy ?? settings.values().devices.riskPolicyPath else { return .default }
    return try PolicyText.risk(path)
  }

  private func requests() throws -> [RiskCase] {
    let shown = PrintableText.field(file)
    let bytes: [UInt8]
    do {
      bytes = try SystemFiles().contents(of: file, limit: 1 << 24)
    } catch {
      complain("\(shown) cannot be read: \(error); name a file with recorded requests that can be")
      throw ExitStatus.dataError.code
    }
    do throws(VectorError) {
      let requests = try Self.requests(in: bytes)
      guard requests.allSatisfy({ $0.question != nil }) else { throw VectorError("signals are malformed") }
      return requests
    } catch {
      complain("\(shown): \(error)")
      throw ExitStatus.dataError.code
    }
  }

  /// The whole as one object, or one a line.
  private static func requests(in bytes: [UInt8]) throws(VectorError) -> [RiskCase] {
    if let whole = try? request(bytes) { return [whole] }
    var requests: [RiskCase] = []
    for line in bytes.split(separator: UInt8(ascii: "\n"))
    where !line.allSatisfy({ $0 == 0x20 || $0 == 0x0D }) {
      requests.append(try request(Array(line)))
    }
    guard !requests.isEmpty else { throw VectorError("holds no request") }
    return requests
  }

  private static func request(_ text: [UInt8]) throws(VectorError) -> RiskCase {
    guard case .risk(let request) = try VectorLine(parsing: text.span) else {
      throw VectorError(#"is no recorded request: "kind" is to be "risk""#)
    }
    return request
  }
}

/// One request, and what a policy makes of it.
private struct Explanation {
  let name: String
  let answer: RiskAnswer
  let parts: [RiskPart]
  let verdict: RiskVerdict

  init(_ request: RiskCase, _ policy: RiskPolicy) {
    name = request.name
    var question = request.question
    // The request's own, where it names one.
    if question?.minimumPatch == nil { question?.minimumPatch = policy.minimumPatch }
    let findings = question.map { RiskJudge.findings($0) } ?? RiskFindings()
    let time = UnixTime(milliseconds: (question?.current.at.value ?? 0) * 1000)
    answer = RiskAnswer(findings)
    parts = policy.parts(findings, at: time)
    verdict = policy.judge(findings, at: time)
  }

  var lines: [String] {
    let rows = parts.map { ("+\($0.weight)", Self.text($0.source)) }
    let distances = answer.distances.map { ("", "\($0.name) \($0.value)") }
    let sum = ("=\(verdict.score)", "\(verdict.band.rawValue)\(verdict.isEnforced ? "" : ", only logged")")
    return [PrintableText.field(name)] + columns(rows + distances + [sum]).map { "  \($0)" }
  }

  private static func text(_ source: RiskPart.Source) -> String {
    switch source {
    case .reason(let reason): reason.rawValue
    case .unknown(let reason): "\(reason.rawValue) unknown"
    case .hours(let hours): "hours \(hours)"
    }
  }

  func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("name")
    writer.value(name)
    answer.write(to: &writer)
    writer.name("parts")
    writer.beginArray()
    for part in parts {
      writer.beginObject()
      switch part.source {
      case .reason(let reason):
        writer.name("reason")
        writer.value(reason.rawValue)
      case .unknown(let reason):
        writer.name("unknown")
        writer.value(reason.rawValue)
      case .hours(let hours):
        writer.name("hours")
        writer.value("\(hours)")
      }
      writer.name("weight")
      writer.value(part.weight)
      writer.endObject()
    }
    writer.endArray()
    writer.name("score")
    writer.value(verdict.score)
    writer.name("band")
    writer.value(verdict.band.rawValue)
    writer.name("enforced")
    writer.value(verdict.isEnforced)
    writer.endObject()
  }
}

extension PolicyText {
  static func risk(_ path: String) throws -> RiskPolicy {
    try read(path) { (bytes) throws(PolicyFailure) in try RiskPolicy(parsing: bytes) }
  }
}

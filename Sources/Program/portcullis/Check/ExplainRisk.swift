/// `portcullis explain risk`: what a file of RISK_POLICY makes of a recorded request, without a gate (docs/risk.md).
import ApprovalPolicy
import ArgumentParser
import Bytes
import Configuration
import DeviceWire
import Inspection
import JSON
import Prompt
import Risk
import System
import Time
import Vectors

struct ExplainRisk: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "risk",
    abstract: "Say what speaks against a recorded request, and what a policy makes of it.",
    discussion: """
      FILE holds a request as docs/risk.md describes it, or one a line: the phone's signals, what the gate knew, and \
      the record before. Each reason is listed with what it counts, and so is what is not known; then the sum and its \
      band. A line that holds none is named, and the others are explained; the command ends with status 65 then.
      """)

  @OptionGroup var settings: SettingsFile

  @Option(help: "A file to go by instead of RISK_POLICY.", completion: .file())
  var policy: String?

  @Flag(help: "One JSON array, an object for each request.")
  var json = false

  @Argument(help: "The recorded request.", completion: .file())
  var file: String

  func run() throws {
    let found = try read()
    for problem in found.problems { complain(problem) }
    if !found.requests.isEmpty { try explain(found.requests, chosenPolicy()) }
    if !found.problems.isEmpty { throw ExitStatus.dataError }
  }

  private func explain(_ requests: [RiskCase], _ policy: RiskPolicy) throws {
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

  // MARK: What the file holds

  private struct Reading {
    var requests: [RiskCase] = []
    /// Each with its line, and its name where it has one.
    var problems: [String] = []

    mutating func take(_ text: [UInt8], at place: String) {
      var name = ""
      do throws(VectorError) {
        if let text = ExplainRisk.object(text)?["name"]?.string {
          name = "\(PrintableText.field(text)): "
        }
        guard case .risk(let request) = try VectorLine(parsing: text.span) else {
          throw VectorError(#"is no recorded request: "kind" is to be "risk""#)
        }
        guard request.question != nil else { throw VectorError("signals are malformed") }
        requests.append(request)
      } catch {
        problems.append("\(place): \(name)\(error)")
      }
    }
  }

  private func read() throws -> Reading {
    let shown = PrintableText.field(file)
    let bytes: [UInt8]
    do {
      bytes = try SystemFiles().contents(of: file, limit: 1 << 24)
    } catch {
      complain("\(shown) cannot be read: \(error); name a file with recorded requests that can be")
      throw ExitStatus.dataError
    }
    var reading = Reading()
    let lines = Self.lines(of: bytes)
    // One object over several lines, or what was to be one.
    if Self.object(bytes) != nil || !lines.contains(where: { Self.object($0.text) != nil }) {
      reading.take(bytes, at: shown)
    } else {
      for line in lines { reading.take(line.text, at: "\(shown):\(line.number)") }
    }
    return reading
  }

  private static func object(_ text: [UInt8]) -> JSONObject? {
    (try? JSONValue(parsing: text.span, depthLimit: 63))?.object
  }

  /// Those that are not blank, counted from 1.
  private static func lines(of bytes: [UInt8]) -> [(number: Int, text: [UInt8])] {
    bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated().compactMap {
      let isBlank = $1.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
      return isBlank ? nil : (number: $0 + 1, text: Array($1))
    }
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
    let time = UnixTime(milliseconds: (question?.time.value ?? 0) * 1000)
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

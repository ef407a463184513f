/// What `portcullis doctor` has found: of each finding what it is, why it matters, and what mends it.
import ArgumentParser
import JSON
import Prompt

struct DoctorReport {
  enum Grade: String, CaseIterable {
    case ok
    case warning
    case problem
  }

  struct Finding {
    let grade: Grade
    /// What was looked at.
    let check: String
    let found: String
    var why: String?
    var mend: String?
  }

  private(set) var findings: [Finding] = []

  mutating func ok(_ check: String, _ found: String) {
    findings.append(Finding(grade: .ok, check: check, found: found))
  }

  mutating func warning(_ check: String, _ found: String, why: String, mend: String) {
    findings.append(Finding(grade: .warning, check: check, found: found, why: why, mend: mend))
  }

  mutating func problem(_ check: String, _ found: String, why: String, mend: String) {
    findings.append(Finding(grade: .problem, check: check, found: found, why: why, mend: mend))
  }

  func count(_ grade: Grade) -> Int { findings.count { $0.grade == grade } }

  func print(asJSON: Bool) throws {
    var output = Output()
    if asJSON {
      try output.line(json: json)
    } else {
      for finding in findings {
        try output.line("\(finding.grade.rawValue)  \(finding.check)  \(finding.found)")
        if let why = finding.why { try output.line("  why   \(why)") }
        if let mend = finding.mend { try output.line("  mend  \(mend)") }
      }
    }
    try output.flush()
  }

  private var json: JSONWriter {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("findings")
    writer.beginArray()
    for finding in findings {
      writer.beginObject()
      let members = [
        ("grade", finding.grade.rawValue), ("check", finding.check), ("found", finding.found),
        ("why", finding.why), ("mend", finding.mend),
      ]
      for case (let name, let text?) in members {
        writer.name(name)
        writer.value(text)
      }
      writer.endObject()
    }
    writer.endArray()
    for (name, grade) in [("problems", Grade.problem), ("warnings", .warning)] {
      writer.name(name)
      writer.value(count(grade))
    }
    writer.endObject()
    return writer
  }
}

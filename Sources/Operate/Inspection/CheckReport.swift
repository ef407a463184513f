/// What `check` has found: lines in the order in which they were made, and the status that follows from the gravest.
package import Prompt

package struct CheckReport {
  /// The gravest last.
  package enum Grade: String, CaseIterable {
    case ok
    case warning
    case problem

    fileprivate var colour: Paint.Colour {
      switch self {
      case .ok: .good
      case .warning: .doubtful
      case .problem: .bad
      }
    }
  }

  package private(set) var findings: [(grade: Grade, name: String, detail: String)] = []
  /// Of the gravest problem; nil without one.
  package private(set) var status: ExitStatus?

  package init() {}

  package mutating func ok(_ name: String, _ detail: String) { add(.ok, name, detail) }
  package mutating func warning(_ name: String, _ detail: String) { add(.warning, name, detail) }

  package mutating func problem(_ name: String, _ detail: String, _ status: ExitStatus) {
    add(.problem, name, detail)
    let grave: [ExitStatus] = [.unavailable, .ioError, .configuration]
    let old = self.status.flatMap { grave.firstIndex(of: $0) } ?? -1
    if grave.firstIndex(of: status) ?? 0 >= old { self.status = status }
  }

  private mutating func add(_ grade: Grade, _ name: String, _ detail: String) {
    findings.append((grade, name, detail))
  }

  package func print() throws {
    var output = Output()
    for line in Output.isTerminal ? lines(.standardOutput) : lines { try output.line(line) }
    try output.flush()
  }

  private var lines: [String] { findings.map { "\($0.grade.rawValue)  \($0.name)  \($0.detail)" } }

  /// For a person at a terminal: what matters comes last, and then whether the gate can start.
  package func lines(_ paint: Paint) -> [String] {
    var table = TextTable([.init("RESULT"), .init("CHECK"), .init("FOUND")])
    for grade in Grade.allCases {
      for finding in findings where finding.grade == grade {
        table.add([.init(grade.rawValue, grade.colour), .init(finding.name), .init(finding.detail)])
      }
    }
    return table.take(in: nil, paint) + ["", closing(paint)]
  }

  private func closing(_ paint: Paint) -> String {
    func count(_ grade: Grade, _ one: StaticString, _ many: StaticString) -> String? {
      let count = findings.count { $0.grade == grade }
      return count > 0 ? Wording.count(count, one, many) : nil
    }
    let counts = [count(.problem, "problem", "problems"), count(.warning, "warning", "warnings")]
      .compactMap { $0 }.joined(separator: ", ")
    guard status != nil else {
      return paint("ready", .good) + (counts.isEmpty ? ": no problem, no warning" : ": no problem, \(counts)")
    }
    return paint("not ready", .bad) + ": \(counts); fix the problems, then check again"
  }
}
